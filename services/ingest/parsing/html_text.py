"""What of an HTML element is text, once its hidden words are out (`html_hidden`)."""

from __future__ import annotations

from lxml import etree

from services.ingest.parsing.html_drawn import BLOCKS

SKIPPED = frozenset(
    """
    script style noscript noframes noembed template nav head iframe object canvas audio video datalist
    """.split()  # noqa: SIM905 - a list would take a screen
)
"""Elements whose words are no part of the text: scripts, navigation, what stands for a film."""


def is_skipped(element: etree._Element) -> bool:
    """Whether an element's words are no part of the text."""
    return element.tag in SKIPPED


def visible_text(element: etree._Element) -> str:
    """The visible words inside an element, one space between them."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        if event == "end":
            if inner is not element:
                pieces.append(_separated(inner, inner.tail))
        elif is_skipped(inner):
            walk.skip_subtree()
        else:
            pieces.append(_separated(inner, inner.text))
    return squeeze("".join(pieces))


def _separated(element: etree._Element, text: str | None) -> str:
    """Text, apart from what stands before it where the element begins or ends a line."""
    return " " + (text or "") if element.tag in BLOCKS or element.tag == "br" else (text or "")


def squeeze(text: str) -> str:
    """The words of a text, one space between them."""
    return " ".join(text.split())
