"""Takes out of a text the characters that nobody sees, so that what is quoted reads as it is stored.

Bidirectional controls turn round what is read, zero-width characters hide words from searches and checks, tag
characters and variation selectors carry whole messages to a model. None of them is a word of a contract.
What stays: soft hyphens, which quotes forgive and which some converters write for hyphens, and joiners in
scripts that are spelt with them.
"""

from __future__ import annotations

import re

from corpus.invisible import IGNORABLE, JOINERS, WITHOUT_WIDTH

_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u0e80-\u0fff\u1000-\u109f\u1780-\u18af\u2600-\u27bf\U0001f000-\U0001faff"
)
"""Arabic, the scripts of India and its neighbours, Mongolian, emoji: a joiner behind one is spelling."""
_UNSEEN = re.compile(f"[{IGNORABLE}]|(?<![{_JOINED}])[{JOINERS}]")
_SPACING = re.compile("[\x0b\x1c-\x1f\x85]")
_CONTROL = re.compile(f"[\x00-\x08\x0e-\x1b\x7f-\x9f{WITHOUT_WIDTH}]")
"""Control characters, and white space without a width: of 259 contracts 5 hold some, left by converters."""
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(f"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff{JOINERS}{IGNORABLE}]")
"""Whatever is looked at: nearly all texts hold none of it, and one search says so."""


def readable(text: str) -> tuple[str, int]:
    """The text without characters that nobody sees, and how many those were.

    Control characters and white space without a width go too, uncounted (many PDFs hold some for glyphs that
    have no character): those that separate words become a space, tab, line feed, form feed and carriage
    return stay. Halves of surrogate pairs become U+FFFD.
    """
    if (text.isascii() and text.isprintable()) or not _SUSPECT.search(text):
        return text, 0
    text = _CONTROL.sub("", _SPACING.sub(" ", _HALF_PAIR.sub("\ufffd", text)))
    return _UNSEEN.subn("", text)


def is_readable(text: str) -> bool:
    """Whether `readable` would leave the text as it is."""
    return readable(text) == (text, 0)
