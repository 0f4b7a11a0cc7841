"""Checks what callers send: texts written elsewhere, and citations."""
