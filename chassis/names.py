"""Which texts can be names: of documents, projects and whatever else lists and logs show on one line."""

from __future__ import annotations

import re
import unicodedata

_STEERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Bidirectional controls (Unicode Standard Annex 9): what stands behind one is shown in another order."""


def is_one_line(text: str) -> bool:
    """Whether a text is one line, whoever reads it, and is shown in the order in which it is written.

    No control characters, no line or paragraph separators (U+2028 and U+2029 end a line for Python and
    JavaScript, U+0085 for some terminals), no halves of surrogate pairs, no bidirectional controls.
    """
    if _STEERING.search(text):
        return False
    return not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)
