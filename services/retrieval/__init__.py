"""retrieval: finds chunks, definitions and documents; owner of the index and of what a vector means.

Read on in `servicers` (what it offers), `search` (how candidates are found) and `wiring`.
"""
