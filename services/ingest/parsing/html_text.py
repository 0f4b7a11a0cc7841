"""What of an HTML element a reader sees."""

from __future__ import annotations

import re

from lxml import etree

_SKIPPED = frozenset(
    """
    script style noscript template nav head svg math iframe object embed canvas audio video button select
    input textarea datalist
    """.split()  # noqa: SIM905 - a list would take a screen
)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def is_hidden(element: etree._Element) -> bool:
    """Whether a browser shows nothing of the element, or only what is no part of the text."""
    if element.tag in _SKIPPED or element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    return _HIDING.search(element.get("style", "")) is not None


def hidden_characters(root: etree._Element) -> int:
    """Characters besides white space of words that the page holds and styles away."""
    count = 0
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if is_hidden(element):
            walk.skip_subtree()
            if element.tag not in _SKIPPED and element.get("aria-hidden") != "true":
                count += sum(len("".join(text.split())) for text in element.itertext())
    return count


def visible_text(element: etree._Element) -> str:
    """The visible words inside an element, one space between them."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        if event == "end":
            if inner is not element:
                pieces.append(_separated(inner, inner.tail))
        elif is_hidden(inner):
            walk.skip_subtree()
        else:
            pieces.append(_separated(inner, inner.text))
    return squeeze("".join(pieces))


_INLINE = frozenset(
    "a abbr b bdi bdo cite code em font i ins mark q s small span strong sub sup tt u var".split()  # noqa: SIM905
)


def _separated(element: etree._Element, text: str | None) -> str:
    """Text, apart from what stands before it unless the element is part of a line."""
    return (text or "") if element.tag in _INLINE else " " + (text or "")


def squeeze(text: str) -> str:
    """The words of a text, one space between them."""
    return " ".join(text.split())
