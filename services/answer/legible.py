"""Text that reads as it is written: without characters that nobody sees.

Some of them turn round what is read (bidirectional controls), others hide words or links from checks.
"""

from __future__ import annotations

import unicodedata


def legible(text: str, keeping: str = "") -> str:
    """The text without format characters (Unicode's category Cf) but those that `keeping` holds."""
    return "".join(c for c in text if c in keeping or unicodedata.category(c) != "Cf")
