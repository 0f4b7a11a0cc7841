"""Writes groups as rows: questions and passages become tokens, evidence becomes bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.reading.model import Passage
from inference.reading.rows import Rows as TokenRows
from training.examples import Example, Group
from training.rows import MAX_SENTENCES, Rows

NOTHING = Passage("", ())


def build(groups: Iterable[Group], tokenizer: Tokenizer) -> Rows:
    """The rows of the groups, in order. A row whose evidence lies beyond what is read is left out."""
    table = _Table(tokenizer)
    for group in groups:
        table.add(group)
    return table.rows()


class _Table:
    """Collects rows; questions and passages that were seen before are not repeated."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._read = TokenRows(tokenizer)
        self._questions: dict[str, int] = {}
        self._passages: dict[Passage, int] = {}
        self._question_tokens: list[Sequence[int]] = []
        self._passage_tokens: list[Sequence[int]] = []
        self._sentences: list[Sequence[int]] = []
        self._rows: list[tuple[int, int, int, int]] = []
        self._group_starts = [0]
        self._group_sources: list[str] = []

    def add(self, group: Group) -> None:
        rows = [row for example in group.examples if (row := self._row(group.question, example))]
        if rows:
            self._rows += rows
            self._group_starts.append(len(self._rows))
            self._group_sources.append(group.source)

    def _row(self, question: str, example: Example) -> tuple[int, int, int, int] | None:
        passage = self._passage(example.passage)
        readable = frozenset(self._sentences[passage])
        evidence = frozenset(min(index, MAX_SENTENCES) for index in example.evidence) & readable
        if not readable or (example.evidence and not evidence):
            return None
        omitted = frozenset(min(index, MAX_SENTENCES) for index in example.omitted)
        return self._question(question), passage, _bits(evidence), _bits(omitted)

    def _question(self, text: str) -> int:
        if text not in self._questions:
            self._questions[text] = len(self._questions)
            (row,) = self._read.of(text, [NOTHING])
            self._question_tokens.append(row.ids[1 : row.begin - 1])
        return self._questions[text]

    def _passage(self, passage: Passage) -> int:
        if passage not in self._passages:
            self._passages[passage] = len(self._passages)
            (row,) = self._read.of("", [passage])
            self._passage_tokens.append(row.ids[row.begin : row.begin + len(row.places)])
            self._sentences.append([min(place, MAX_SENTENCES) for place in row.places])
        return self._passages[passage]

    def rows(self) -> Rows:
        sources = sorted(set(self._group_sources))
        columns = np.array(self._rows, object).reshape(-1, 4).T
        return Rows(
            question_tokens=_joined(self._question_tokens, np.int16),
            question_starts=_starts(self._question_tokens),
            passage_tokens=_joined(self._passage_tokens, np.int16),
            passage_sentences=_joined(self._sentences, np.int8),
            passage_starts=_starts(self._passage_tokens),
            question=columns[0].astype(np.int32),
            passage=columns[1].astype(np.int32),
            evidence=columns[2].astype(np.uint64),
            omitted=columns[3].astype(np.uint64),
            group_starts=np.array(self._group_starts, np.int32),
            group_source=np.array([sources.index(source) for source in self._group_sources], np.int16),
            sources=np.array(sources),
        )


def _bits(indexes: Iterable[int]) -> int:
    return sum(1 << index for index in indexes)


def _joined(lists: Sequence[Sequence[int]], kind: type[np.signedinteger]) -> NDArray[np.signedinteger]:
    return np.concatenate([np.array(values, kind) for values in lists]) if lists else np.zeros(0, kind)


def _starts(lists: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.cumsum([0, *map(len, lists)]).astype(np.int32)
