"""What of a chunk a claim is held to: sentences with what governs them, neighbours, and values of table rows.

A row of a table says several things at once: which value is that of `External, USD` only its header tells.
So a value is read with its own header, with the cells that say what the row is about, and with values that
cannot be taken for it: a date beside a fee.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.parts import reading_of
from services.answer.sentences import CELL_SEPARATOR, Sentence, is_row, sentences_of, table_header_of
from services.answer.verification.lint.reading import Text

_VALUE = re.compile(r"(?:[A-Z]{3}\s?)?[^\w\s]?\s?\d")
"""What a cell begins with that is a value: a number, an amount, a time."""

_DEPENDS = re.compile(r":|\([a-z]{1,3}\)|\b(?:provided|except|unless|if|however|but|subject|only)\b")
_GOES_ON = re.compile(r"(?:\d[\d.]*\s)?(?:It|They|This|These|Those|Such|He|She)\b")
"""How a sentence begins that goes on about what the one before speaks of."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Something that a chunk says."""

    chunk: Chunk
    sentences: tuple[Sentence, ...]
    """Where it says it."""
    readings: tuple[str, ...]
    """What it says to a reader."""
    around: str
    """What stands around it and lends a claim names and words: headings, titles, the text above a table."""

    @property
    def text(self) -> str:
        """All of its words."""
        return "\n".join((*self.readings, self.around))

    @property
    def span(self) -> Span:
        """From its first sentence to its last."""
        return Span(self.sentences[0].span.start, self.sentences[-1].span.end)


def passages_of(chunk: Chunk) -> list[Passage]:
    """Everything that a chunk says by itself, in order: its sentences, and the values of its rows."""
    sentences = list(sentences_of(chunk))
    above: list[str] = []
    found: list[Passage] = []
    for sentence in sentences:
        around = _headings(chunk, sentence.span)
        if is_row(sentence):
            beside = "\n".join((around, *above[-2:]))
            found += [Passage(chunk, (sentence,), (said,), beside) for said in _row_says(sentence)]
        else:
            above.append(sentence.text)
            said = reading_of(chunk, sentence.span)
            found.append(Passage(chunk, (sentence,), (said,), around))
            # `The fee is £1,800; no fee is charged for renewal` says its first part by itself.
            first, _, rest = said.partition("; ")
            if rest and not _DEPENDS.search(said):
                found.append(Passage(chunk, (sentence,), (first,), around))
    return found


def with_neighbours(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Each two neighbouring sentences of a chunk as one passage; `passages` are all of the chunk."""
    for first, second in pairwise(passages):
        if _GOES_ON.match(second.sentences[0].text) and not is_row(first.sentences[0]):
            sentences = first.sentences + second.sentences
            around = "\n".join(dict.fromkeys((first.around, second.around)))
            yield Passage(first.chunk, sentences, first.readings + second.readings, around)


def _headings(chunk: Chunk, span: Span) -> str:
    return "\n".join(
        dict.fromkeys((chunk.title, chunk.source, *chunk.heading_chain, chunk.section_at(span.start)))
    )


def _row_says(row: Sentence) -> Iterable[str]:
    """What a row says: all of it, or, where it has several values, each of them under its own header."""
    cells = row.text.split(CELL_SEPARATOR)
    header = table_header_of(row)
    headers = (header.text if header else row.chunk.table_header).split(CELL_SEPARATOR)
    # A row is named by its first cell, a number or not.
    values = [i for i, cell in enumerate(cells) if i and _VALUE.match(cell)]
    if len(headers) != len(cells):
        # Which of several values means what is unknown.
        return (
            row.text if len(values) < 2 else "; ".join(c for i, c in enumerate(cells) if i not in values),
        )
    read = [f"{head} {cell}".strip() for head, cell in zip(headers, cells, strict=True)]
    kinds = {i: _kind_of(cells[i]) for i in values}
    rivals = {i: {other for other in values if other != i and kinds[other] == kinds[i]} for i in values}
    told = [value for value in values if rivals[value]]
    if not told:
        return ("; ".join(read),)
    return ["; ".join(said for i, said in enumerate(read) if i not in rivals[value]) for value in told]


def _kind_of(value: str) -> str:
    """What two values of a row have in common that may be taken for each other."""
    read = Text()
    read.add(value)
    units = (amount.unit.name for amount in read.amounts if amount.unit)
    return "date" if read.dates else next(units, "")
