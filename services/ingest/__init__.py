"""ingest: turns the bytes of a file into chunks and definitions, and keeps the originals.

Read on in `servicer` (what it offers), `pipeline` (how a file becomes a receipt) and `wiring`.
"""
