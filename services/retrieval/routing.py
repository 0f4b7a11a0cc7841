"""Finds the documents that a question names, and what the question asks once they are named.

Over many documents a question is found first in the preamble that names the parties, not in the clause it
asks for. Answering the rest of it inside the named document lifts hit@1 on 198 contracts from .09 to .55,
more than any other step. Names are recognised by the heads of the documents, without phrase patterns.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from corpus.documents import DocumentId
from corpus.spans import Span
from corpus.stems import stems_of
from services.retrieval.bm25 import ShareBM25
from services.retrieval.lexicon import content_stems, is_question_word

HEAD_WORDS = 300
NAME_WORDS = 100
"""Words of the head that may name the document; the words after them only help to find it."""
MAX_ROUTED = 3
MIN_SHARE = 0.7
"""Least share of the best document's score that another one needs to be searched too."""
RARE_SHARE = 0.1
"""A word that stands in the names of more documents than this names none of them."""
COMMON_SHARE = 0.6
"""A word that more documents than this use anywhere names none of them either. With this, and with only words
in capitals being names, none of 300 questions that name nothing is routed on 198 contracts (18 % without
both); all that name their contract are, and 97 % when asked in lower case."""
COVERED_SHARE = 0.5
"""A segment of which a document's name covers this share, by idf, does nothing but name the document."""

COMPANY_FORMS = frozenset(
    stems_of("inc incorporated corp corporation co company llc ltd limited lp llp plc sa ag nv gmbh")
)
LINKS = frozenset(
    ["a", "an", "and", "between", "by", "dated", "for", "from", "in", "of", "the", "to", "under", "with"]
)
"""Words that link names to a question; beside a dropped name they go with it."""

WORD = re.compile(r"\w\w+")
SEGMENT_END = re.compile(
    r"[;:?!]+|(?<!\bInc)(?<!\bCorp)(?<!\bCo)(?<!\bLtd)(?<!\bNo)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\b[A-Z])\.\s+(?=[A-Z])"
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@dataclass(frozen=True, slots=True)
class Head:
    """How a document begins."""

    document_id: DocumentId
    source: str
    stems: tuple[str, ...]
    """Stems of the file name and the first `HEAD_WORDS` words."""
    name: frozenset[str]
    """Those of file name and title, and those of the first `NAME_WORDS` words that have a capital."""
    title: tuple[str, ...]
    """Stems of the title; empty unless it has two words or more."""

    @classmethod
    def of(cls, document_id: DocumentId, title: str, text: str) -> Self:
        """The head of a document whose text begins with `text`."""
        source, _, path = document_id.partition("/")
        file_name = CAMEL.sub(" ", path.rpartition("/")[2].rpartition(".")[0] or path)
        words = text.split()
        written = " ".join(word for word in words[:NAME_WORDS] if any(map(_begins_name, WORD.findall(word))))
        titled = tuple(word.stem for word in _words(title))
        named = content_stems(f"{file_name} {title}")
        head = content_stems(" ".join(words[:HEAD_WORDS]))
        name = frozenset(map(sys.intern, [*named, *content_stems(written)]))
        all_stems = tuple(map(sys.intern, [*named, *head]))
        return cls(document_id, source, all_stems, name, titled if len(titled) > 1 else ())


@dataclass(frozen=True, slots=True)
class Routed:
    """A document that a question names, and its share of the best one's score, above 0 to 1."""

    document_id: DocumentId
    score: float


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question is to be answered, best document first, and what it asks there."""

    documents: tuple[Routed, ...]
    clause_question: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    text: str
    stem: str
    start: int
    end: int

    @property
    def counts(self) -> bool:
        """Whether it says anything about a document."""
        return not is_question_word(self.stem)


class HeadIndex:
    """The heads of all documents, searchable. Built once per state of the index."""

    def __init__(self, heads: Sequence[Head], usage: Callable[[str], float]) -> None:
        """`usage` gives the share of documents that use a stem anywhere, 0 to 1."""
        self.heads = heads
        self._usage = usage
        self._bm25 = ShareBM25([head.stems for head in heads])
        self._sources = np.array([head.source for head in heads])
        self._sizes = Counter(head.source for head in heads)
        self._names: dict[str, Counter[str]] = defaultdict(Counter)
        self._titles: dict[str, list[int]] = defaultdict(list)  # by the first word of the title
        for number, head in enumerate(heads):
            self._names[head.source].update(head.name)
            if head.title:
                self._titles[head.title[0]].append(number)

    def route(self, question: str, sources: Collection[str]) -> Route | None:
        """The documents of `sources` (empty: all) that `question` names; None when it names none."""
        words = [word for word in _words(question) if word.counts]
        scores = self._bm25.get_scores([word.stem for word in words])
        if sources:
            scores *= np.isin(self._sources, list(sources))
        titled = self._titled(question)
        if titled:
            scores *= np.isin(np.arange(len(scores)), titled)
        if not len(scores) or scores.max() <= 0:
            return None
        best = np.argsort(-scores, kind="stable")[:MAX_ROUTED]
        named = Named(self.heads[best[0]], self._rare_stems(words, sources))
        if not titled and not named.by(question, words):
            return None
        shares = scores[best] / scores[best[0]]
        routed = [
            Routed(self.heads[number].document_id, float(share))
            for number, share in zip(best, shares, strict=True)
            if share >= MIN_SHARE
        ]
        return Route(tuple(routed), self._asked(question, named))

    def holding(self, stems: Sequence[str]) -> frozenset[int]:
        """The numbers of the heads that hold all of the stems; of none where there are none."""
        held = [frozenset(self._bm25.texts_with(stem).tolist()) for stem in stems]
        return frozenset.intersection(*held) if held else frozenset()

    def best_first(self, question: str, numbers: Collection[int]) -> list[int]:
        """The heads in the order in which they match a question."""
        scores = self._bm25.get_scores([word.stem for word in _words(question) if word.counts])
        return sorted(numbers, key=lambda number: (-scores[number], number))

    def asking(self, question: str, numbers: Collection[int], names: Collection[str]) -> list[Span]:
        """The segments of a question that do more than name one of the heads; all of it where none does.

        `names` are the stems by which they are named besides those of the heads.
        """
        named = [replace(head, name=head.name | set(names)) for head in map(self.heads.__getitem__, numbers)]
        segments = list(_segments(question))
        asking = [
            span
            for span in segments
            if not any(self._only_names(question[span.start : span.end], head) for head in named)
        ]
        return asking if asking and len(segments) > 1 else [Span(0, len(question))]

    def _titled(self, question: str) -> list[int]:
        """Documents whose title stands in the question, in capitals; only those of the longest such title."""
        words = _words(question)
        if all(_begins_name(word.text) for word in words):
            return []
        candidates = {number for word in words for number in self._titles.get(word.stem, ())}
        held = [number for number in candidates if _holds_title(words, self.heads[number].title)]
        longest = max((len(self.heads[number].title) for number in held), default=0)
        return [number for number in held if len(self.heads[number].title) == longest]

    def _rare_stems(self, words: Sequence[Word], sources: Collection[str]) -> frozenset[str]:
        in_scope = sources or self._sizes.keys()
        limit = RARE_SHARE * sum(self._sizes[source] for source in in_scope)
        counts = {word.stem: sum(self._names[source][word.stem] for source in in_scope) for word in words}
        named = (stem for stem, count in counts.items() if 0 < count <= limit)
        return frozenset(stem for stem in named if self._usage(stem) <= COMMON_SHARE)

    def _asked(self, question: str, named: Named) -> str:
        rest = self._rest(question, named)
        return rest if any(word.counts for word in _words(rest)) else question

    def _rest(self, question: str, named: Named) -> str:
        segments = [question[span.start : span.end].strip() for span in _segments(question)]
        if len(segments) == 1:
            return named.cut_out_of(segments[0])
        return "; ".join(segment for segment in segments if not self._only_names(segment, named.head))

    def _only_names(self, segment: str, head: Head) -> bool:
        stems_of = [word.stem for word in _words(segment) if word.counts]
        covered = self._bm25.ceiling([stem for stem in stems_of if stem in head.name])
        return covered >= COVERED_SHARE * self._bm25.ceiling(stems_of)


@dataclass(frozen=True, slots=True)
class Named:
    """The document that a question may name."""

    head: Head
    rare: frozenset[str]
    """Stems of the question that stand in few names."""

    def by(self, question: str, words: Sequence[Word]) -> bool:
        """Whether the question really names it: a rare word with a capital, or two in a row.

        Capitals say nothing where all words have one.
        """
        names = [word.stem in self.rare and word.stem in self.head.name for word in words]
        first = next(iter(_words(question)), None)
        capitals = [word.text[0].isupper() and word != first for word in words]
        in_capitals = [name and capital for name, capital in zip(names, capitals, strict=True)]
        return (any(in_capitals) and not all(_begins_name(word.text) for word in words)) or any(
            map(all, pairwise(names))
        )

    def cut_out_of(self, segment: str) -> str:
        """A segment without the words that name the document and the links between them."""
        words = _words(segment)
        dropped = [self._names(word, is_first=not number) for number, word in enumerate(words)]
        kept = []
        at = 0
        for start, end in _runs(words, dropped):
            kept.append(segment[at : words[start].start])
            at = words[end - 1].end
        kept.append(segment[at:])
        return " ".join(" ".join(kept).split()).strip(" ,;:.?!")

    def _names(self, word: Word, *, is_first: bool) -> bool:
        capital = word.text[0].isupper() and not is_first
        covered = word.stem in self.head.name and (capital or word.stem in self.rare)
        return covered or (capital and word.stem in COMPANY_FORMS)


def _segments(question: str) -> Iterator[Span]:
    """Its parts between the marks that end one; none of white space alone."""
    ends = [(match.start(), match.end()) for match in SEGMENT_END.finditer(question)]
    starts = [0, *(end for _, end in ends)]
    for start, end in zip(starts, [*(start for start, _ in ends), len(question)], strict=True):
        if question[start:end].strip():
            yield Span(start, end)


def _holds_title(words: Sequence[Word], title: Sequence[str]) -> bool:
    """Whether the title stands among the words, each of its words but links with a capital."""
    for start in range(len(words) - len(title) + 1):
        run = words[start : start + len(title)]
        if all(word.stem == stem for word, stem in zip(run, title, strict=True)):
            return all(_begins_name(word.text) or word.text in LINKS for word in run)
    return False


def _begins_name(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()


def _runs(words: Sequence[Word], dropped: Sequence[bool]) -> list[tuple[int, int]]:
    """Longest runs of dropped words and links that hold a dropped one."""
    runs = []
    start = 0
    for number in range(len(words) + 1):
        if number < len(words) and (dropped[number] or words[number].text.lower() in LINKS):
            continue
        if any(dropped[start:number]):
            runs.append((start, number))
        start = number + 1
    return runs


def _words(text: str) -> list[Word]:
    return [
        Word(match.group(), stems_of(match.group())[0], match.start(), match.end())
        for match in WORD.finditer(text)
    ]
