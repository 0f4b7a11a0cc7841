"""Compiles articles from documents, for people to read."""
