"""Holds words to the documents: quotes, claims, citations and their signatures."""
