"""Slack's blocks, made so that no text of documents or people can become anything but text.

All of it goes out as `rich_text`, whose texts Slack shows as they are: unlike its `mrkdwn` they have no
markup, so there is nothing to escape and nothing that could be missed: no mention, link, emoji or formatting.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

MAX_BLOCKS = 50
"""Most blocks of one message, by Slack's reference."""
MAX_ITEM_CHARACTERS = 3_000
"""Most characters of one block, by Slack's reference for sections."""
MAX_CHARACTERS = 11_500
"""Of one message. Slack documents no such limit and refuses messages of 13,203 (slackapi/bolt-js#2509)."""
OVERHEAD = (2, 100)
"""Blocks and characters of a section beside its items: its title, and the line that says what is left out."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one style."""

    text: str
    bold: bool = False
    italic: bool = False

    def block(self) -> Json:
        """The block in the form that Slack takes."""
        style = {name: True for name in ("bold", "italic") if getattr(self, name)}
        return {"type": "text", "text": self.text, **({"style": style} if style else {})}


@dataclass(frozen=True, slots=True)
class Item:
    """One block: a line, and below it words of a document, if any."""

    line: tuple[Run, ...]
    quote: tuple[Run, ...] = ()

    @property
    def characters(self) -> int:
        """In units of UTF-16."""
        return sum(units(run.text) for run in (*self.line, *self.quote))

    def block(self) -> Json:
        """The block in the form that Slack takes."""
        parts = [("rich_text_section", self.line), ("rich_text_quote", self.quote)]
        return {
            "type": "rich_text",
            "elements": [
                {"type": kind, "elements": [run.block() for run in runs]} for kind, runs in parts if runs
            ],
        }


@dataclass(frozen=True, slots=True)
class Section:
    """Items under a title of ours; without a title they stand alone."""

    title: str
    items: tuple[Item, ...]
    priority: int
    """When not all fit, those with the lowest number stay."""

    def fitted(self, room: Room) -> Iterator[Json]:
        """The blocks that there is room for, beside what `OVERHEAD` keeps; what is left out is said."""
        shown = list(takewhile(lambda item: room.take(1, item.characters), self.items))
        if self.title:
            yield {"type": "header", "text": {"type": "plain_text", "text": self.title, "emoji": False}}
        yield from (item.block() for item in shown)
        if left := len(self.items) - len(shown):
            yield Item((Run(f"… and {left} more that do not fit into a message here.", italic=True),)).block()


class Room:
    """What is left of one message."""

    def __init__(self) -> None:
        self._blocks = MAX_BLOCKS
        self._characters = MAX_CHARACTERS

    def take(self, blocks: int, characters: int) -> bool:
        """Take it if it is there."""
        if blocks > self._blocks or characters > self._characters:
            return False
        self._blocks -= blocks
        self._characters -= characters
        return True


def fitted(sections: Iterable[Section]) -> list[Json]:
    """The blocks of one message: sections in their order, the empty ones left out, room by priority."""
    room, shown = Room(), [section for section in sections if section.items]
    for _ in shown:
        room.take(*OVERHEAD)
    by_priority = sorted(range(len(shown)), key=lambda place: shown[place].priority)
    blocks = {place: list(shown[place].fitted(room)) for place in by_priority}
    return [block for place in range(len(shown)) for block in blocks[place]]


def foreign(text: str, limit: int, *, bold: bool = False, italic: bool = False) -> tuple[Run, ...]:
    """Somebody else's text: what nobody sees in it is named, and a cut is said.

    What is shown of it has at most `limit` units of UTF-16.
    """
    pieces, left = [], limit
    for piece in map(_visible, text):
        left -= units(piece)
        if left < 0:
            break
        pieces.append(piece)
    shown = Run("".join(pieces) or " ", bold, italic)
    if len(pieces) == len(text):
        return (shown,)
    return shown, Run(f" … [cut: {len(pieces):,} of {len(text):,} characters]", italic=True)


def units(text: str) -> int:
    """Its length in units of UTF-16, in which Slack's limits may be meant."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _visible(character: str) -> str:
    """A control or format character named, as `‹U+202E›`; anything else, line breaks and tabs too, itself.

    Some of them turn round what is read, others split or hide words.
    """
    if character in "\n\t" or unicodedata.category(character) not in _UNSEEN:
        return character
    return f"‹U+{ord(character):04X}›"


def line(*parts: str | Iterable[Run], quote: Iterable[Run] = ()) -> Item:
    """One item, from words of ours and runs; empty ones are left out, since Slack refuses them."""
    runs = ((Run(part),) if isinstance(part, str) else tuple(part) for part in parts)
    return Item(tuple(run for group in runs for run in group if run.text), tuple(quote))
