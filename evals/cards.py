"""Cards of documents against cards made by hand: who, what and when, of 60 contracts.

It needs no running product: each contract is parsed, and its card made, as ingest does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.profiles import DocumentProfile
from evals.metrics import mean
from evals.reports import Report
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.text import parse_text
from services.ingest.profile import profile_of

CARDS = Path(__file__).parent / "cards.json"


@dataclass(frozen=True, slots=True)
class Card:
    """One entry of `cards.json`, made by reading the contract."""

    file: str
    part: str
    """`development`, looked at while the rules were written, or `held out`."""
    title: tuple[str, ...]
    """Any of these is right."""
    parties: tuple[tuple[str, ...], ...]
    """For each party its names as written, any of which is right."""
    dated: str | None
    effective: str | None
    """ISO 8601, as precise as the contract states it."""


def cards(file: Path = CARDS) -> list[Card]:
    """The cards, in the order of the file."""
    return [_card(entry) for entry in json.loads(file.read_text(encoding="utf-8"))["cards"]]


def measure(corpus: Path) -> Iterator[Report]:
    """What the rules find of the cards of each part; `corpus` is the folder of the contracts."""
    by_hand = cards()
    for part in dict.fromkeys(card.part for card in by_hand):
        chosen = [card for card in by_hand if card.part == part]
        made = [_made(corpus / card.file) for card in chosen]
        yield Report(
            name=f"cards, {part}",
            title=f"Cards, {part}",
            questions=len(chosen),
            figures=figures(chosen, made),
            marks=(),
            of="contracts",
        )


def figures(by_hand: Sequence[Card], made: Sequence[DocumentProfile]) -> dict[str, float]:
    """Shares of what is right; recall and precision of parties are over all contracts together."""
    pairs = list(zip(by_hand, made, strict=True))
    right = sum(_right_parties(card, profile) for card, profile in pairs)
    expected = sum(len(card.parties) for card in by_hand)
    found = sum(len(profile.parties) for profile in made)
    return {
        "party recall": right / expected if expected else float("nan"),
        "party precision": right / found if found else float("nan"),
        "title": mean(_same_title(card, profile) for card, profile in pairs),
        "dated": mean(card.dated == (p.dated.iso if p.dated else None) for card, p in pairs),
        "effective": mean(card.effective == (p.effective.iso if p.effective else None) for card, p in pairs),
    }


def _made(file: Path) -> DocumentProfile:
    return profile_of(parse_text(file, ParsingLimits()), file.name)


def _right_parties(card: Card, profile: DocumentProfile) -> int:
    """How many parties of the card are found under one of their names."""
    found = {_folded(party.name) for party in profile.parties}
    return sum(any(_folded(name) in found for name in names) for names in card.parties)


def _same_title(card: Card, profile: DocumentProfile) -> bool:
    return profile.title is not None and _folded(profile.title.text) in map(_folded, card.title)


def _folded(words: str) -> str:
    """Letters and digits, for comparing without case, marks and a leading `the`."""
    return "".join(filter(str.isalnum, words.casefold().removeprefix("the ")))


def _card(entry: dict[str, Any]) -> Card:
    return Card(
        file=entry["file"],
        part=entry["part"],
        title=tuple(entry["title"]),
        parties=tuple(map(tuple, entry["parties"])),
        dated=entry["dated"],
        effective=entry["effective"],
    )
