"""Finds verbatim snippets for research questions."""
