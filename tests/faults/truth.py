"""What a load has written, and what any answer may therefore say: documents, their versions, and when each
may have been live.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "dor", "fen", "gal", "hir", "jun"]
ITEMS = [
    "ledger",
    "terminal",
    "feed",
    "screen",
    "notice",
    "report",
    "schedule",
    "licence",
    "device",
    "invoice",
]
PARTIES = ("the Licensee", "the Subscriber", "the Distributor", "the Provider")
FEE = re.compile(r"USD (\d+) ")
UNWRITTEN = "How many parking spaces does the cafeteria of the {name} headquarters have?"


@dataclass
class Spell:
    """A time within which a version may have been live; without a text, the document was not there."""

    text: str | None
    since: float
    """When its writing began."""
    until: float = math.inf
    """When a later one was acknowledged."""


@dataclass
class Document:
    """One document of the load. Its one writer repeats each change until it is acknowledged."""

    source: str
    path: str
    name: str
    """A word that no other document has."""
    spells: list[Spell] = field(default_factory=lambda: [Spell(None, -math.inf)])
    chunks: int = 0
    """Of the version that was acknowledged."""

    @property
    def document_id(self) -> str:
        return f"{self.source}/{self.path}"

    @property
    def question(self) -> str:
        return f"What is the reference fee of the {self.name} agreement?"

    @property
    def acknowledged(self) -> str | None:
        """The text of the version that has to be there; None when the document must not be."""
        return self.spells[-1].text

    def begin(self, text: str | None) -> None:
        """A change is sent. It may be there from now on, whether it is acknowledged or not."""
        self.spells.append(Spell(text, time.monotonic()))

    def settle(self) -> None:
        """The last change is acknowledged: nothing before it may be seen by a call that begins now."""
        now = time.monotonic()
        for spell in self.spells[:-1]:
            spell.until = min(spell.until, now)

    def possible(self, since: float, until: float) -> list[str | None]:
        """Every state that a call between these times may have met."""
        return [spell.text for spell in self.spells if spell.since <= until and spell.until >= since]


def _history(document: Document, now: float) -> str:
    """Its last states, in seconds before `now`."""
    shown = (
        f"{'absent' if spell.text is None else 'a version'} from {now - spell.since:.2f}"
        f"{'' if spell.until == math.inf else f' to {now - spell.until:.2f}'} s ago"
        for spell in document.spells[-3:]
    )
    return ", ".join(shown)


class Library:
    """All documents of a load."""

    def __init__(self, seed: int, size: int) -> None:
        self._chance = random.Random(seed)
        names = self._names()
        self.documents = [
            Document(f"source-{number % 4}", f"agreement-{number}.txt", next(names)) for number in range(size)
        ]
        self._by_id = {document.document_id: document for document in self.documents}

    def _names(self) -> Iterator[str]:
        used: set[str] = set()
        while True:
            name = "".join(self._chance.choices(SYLLABLES, k=4)).capitalize()
            if name not in used:
                used.add(name)
                yield name

    def version(self, document: Document) -> str:
        """A text of some sections; its fee is that of no other version."""
        chance = self._chance
        fee = chance.randrange(10**6, 10**7)
        sections = [
            f"The reference fee of the {document.name} agreement is USD {fee} for each calendar month."
        ]
        sections += [
            " ".join(self._sentence() for _ in range(chance.randrange(2, 9)))
            for _ in range(chance.randrange(1, 9))
        ]
        chance.shuffle(sections)
        body = "\n\n".join(f"Section {n}. Matter {n}\n\n{text}" for n, text in enumerate(sections, 1))
        return f"{document.name} agreement\n\n{body}\n"

    def _sentence(self) -> str:
        giver, taker = self._chance.sample(PARTIES, 2)
        item, days = self._chance.choice(ITEMS), self._chance.randrange(2, 90)
        return (
            f"{giver.capitalize()} shall deliver each {item} to {taker} within {days} days after its request."
        )

    def judge_answer(
        self, quotes: Iterable[tuple[str, str]], asked: Document | None, since: float, until: float
    ) -> Iterator[str]:
        """What is wrong with an answer: `quotes` are the ids of its documents and their words."""
        pairs = list(quotes)
        for document_id, quote in pairs:
            document = self._by_id.get(document_id)
            texts = document.possible(since, until) if document else []
            if not any(text and quote in text for text in texts):
                yield f"quoted of {document_id} what was in none of {len(texts)} versions: {quote[:200]!r}"
        if asked is None:
            return
        said = {fee for _, quote in pairs if asked.name in quote for fee in FEE.findall(quote)}
        written = {fee for text in asked.possible(since, until) if text for fee in FEE.findall(text)}
        if not said or not said <= written:
            yield f"{asked.document_id}: the fee is {said or 'not said'}, and was one of {written}"

    def judge_absence(self, asked: Document, since: float, until: float) -> Iterator[str]:
        """What is wrong with saying that a document, or what it says, is not there."""
        if None not in asked.possible(since, until):
            yield f"{asked.document_id} is there, and was said not to be ({_history(asked, until)})"
