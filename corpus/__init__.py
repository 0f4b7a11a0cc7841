"""What all services speak of: spans, chunks, documents, cards, definitions and citations, each noun once.

A leaf: it knows no service, no store and no channel. The classes are plain values whose fields are named like
those of their messages in `clausegate.corpus.v1`; `codec` turns one into the other.
"""
