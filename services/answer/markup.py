"""Markdown that links, loads or runs something: the way out that a document may talk a model into taking.

A picture's address can carry words of the documents to whoever wrote one of them, as soon as somebody looks
at the text. So no markup of a model's leaves as markup. Bare addresses are the lint's matter.
"""

from __future__ import annotations

import re

from services.answer.legible import legible

_ACTIVE = re.compile(r"\](?=[(:])|<(?=[A-Za-z/!?]|[^\s>]{0,320}@)")
"""Where links and images, their definitions, HTML and autolinks begin (CommonMark 0.31, sections 4.6 to 6.6).

A shortcut like `[this]` links only where there is a definition. An address has at most 320 characters."""
_CONSTRUCT = re.compile(r"\]\([^)\n]*|\]:\s*\S*|<[A-Za-z/!?][^>\n]*")


def is_plain(text: str) -> bool:
    """Whether Markdown has nothing in it that links, loads or runs, wherever it may be shown."""
    return not _ACTIVE.search(legible(text))


def neutralised(text: str) -> str:
    """Markdown with every such thing spelled so that it is shown as text; the rest stays as it is.

    What nobody sees goes. Within code the mark that is added is seen. Doing it twice changes nothing more.
    """
    return _ACTIVE.sub(lambda match: "&lt;" if match.group() == "<" else "]\\", legible(text))


def added_markup(text: str, original: str) -> tuple[str, ...]:
    """Links, images and HTML of a text that its original does not have, as they are spelled."""
    found = dict.fromkeys(match.group() for match in _CONSTRUCT.finditer(legible(text)))
    return tuple(construct for construct in found if construct not in legible(original))
