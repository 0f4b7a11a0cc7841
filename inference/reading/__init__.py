"""The reader: a small model that says how well a passage answers a question, and which of its sentences do.

`passages` says what it reads, `graph` builds it, and `reader` runs it in this process.
"""
