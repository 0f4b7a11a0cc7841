"""What a parser may spend on one file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """Beyond any of these a file is refused with `DocumentTooLarge`."""

    max_pages: int = 5_000
    """Pages of a PDF."""
    max_characters: int = 20_000_000
    """Code points of extracted text."""
    max_unpacked_bytes: int = 300_000_000
    """Bytes of all parts of a DOCX once unpacked."""
