"""The reader: a small model that says how well a passage answers a question, and which of its sentences do.

`model` says what one does, and `reader` is the one that runs here: `rows` makes tokens, `graph` the network.
"""
