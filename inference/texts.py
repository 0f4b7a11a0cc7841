"""Text that can be sent."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot spell (unpaired surrogates) replaced, one code point for another."""
    return text.encode("utf-8", "replace").decode("utf-8")
