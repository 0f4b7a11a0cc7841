"""The names that documents bear, and where a question mentions them.

A document bears the names on its card: its parties with their other names, the company that its file is
named after, and its title. Spellings agree without case, marks and spaces (`Sling Bag`, `SlingBag`), and with
one letter wrong in six or more. A document also bears a mentioned name that its head holds: cards miss some.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus.documents import DocumentId
from corpus.spans import Span
from services.retrieval.names.lists import COMPANY_FORMS
from services.retrieval.names.words import Word, fold, words_of
from services.retrieval.routing import HeadIndex

LONGEST_NAME = 6
"""Words of a name that are matched together."""
FUZZY_LETTERS = 6
"""Names of fewer letters are matched only as they are written."""
COMMON_SHARE = 0.6
"""A word that more documents than this use names none of them, even with a capital."""
RARE_SHARE = 0.1
"""Words in small letters name a document only when no more documents than this use them."""
SHORT = 3
"""Letters of which many words begin so, and names too: only as a whole name they name a document."""
JOINED_LETTERS = 8
"""Letters that may begin a name which a file's name runs together."""
WEAK = 0.5
"""What words from within a name count, beside the name itself or its beginning."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_JOINED_FORM = re.compile(r"(?<=[a-z0-9]{3})(?:inc|corp|corporation|ltd|limited|llc|plc|lp|company)$")
_WITHIN_NAME = re.compile(r"\s{0,9}(?:(?:of|of the|&)\s{1,9})?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """What a document is called."""

    document_id: DocumentId
    source: str
    parties: tuple[tuple[str, ...], ...] = ()
    """The names of each party, the full one first, without roles such as `Licensor`."""
    joined: tuple[str, ...] = ()
    """Names of companies as a file's name runs them together: `SLINGERBAGINC`."""
    title: str = ""
    dates: tuple[str, ...] = ()
    """When it was made and has effect, ISO 8601, as precise as it says."""


class Spelling(StrEnum):
    """How a name in a question agrees with that of a document."""

    SAME = "same"
    """But for case, marks and spaces."""
    ONE_LETTER = "one_letter"
    """But for one letter more, less or other, or two that changed places."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a question that agree with a name."""

    span: Span
    """In code points of the question, company form included."""
    spelling: Spelling
    is_name: bool
    """Whether it is a name or the beginning of one, not words from within or beside others."""
    is_title: bool
    documents: frozenset[int]
    """Numbers of those that bear it; at least one."""
    weight: float
    """Above 0; the fewer documents bear it the more."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of a question in a row."""

    question: str
    words: Sequence[Word]
    """All of the question."""
    start: int
    end: int

    @property
    def said(self) -> Sequence[Word]:
        return self.words[self.start : self.end]

    @property
    def has_capital(self) -> bool:
        return self.said[0].has_capital or self.said[-1].has_capital

    @property
    def is_whole(self) -> bool:
        """Whether it has a capital and no name goes on before or behind it: not `Baker` of `Brad Baker`."""
        first, last = self.said[0], self.said[-1]
        gaps = [(self.question[word.end : first.start], word) for word in self.words[: self.start][-3:]]
        gaps += [(self.question[last.end : word.start], word) for word in self.words[self.end :][:3]]
        return self.has_capital and not any(
            word.has_capital and word.tells and _WITHIN_NAME.fullmatch(gap) for gap, word in gaps
        )

    @property
    def span(self) -> Span:
        """Where it stands, with the company forms behind it."""
        end = self.end
        while end < len(self.words) and self.words[end].folded in COMPANY_FORMS:
            end += 1
        return Span(self.said[0].start, self.words[end - 1].end)


class NameIndex:
    """The names of all documents. Built once per state of the index."""

    def __init__(
        self, documents: Sequence[NamedDocument], heads: HeadIndex, usage: Callable[[str], float]
    ) -> None:
        """`heads` are those of the `documents`, in their order.

        `usage` gives the share of documents that use a stem anywhere, 0 to 1.
        """
        self.documents = documents
        self.heads = heads
        self.usage = usage
        self._whole: set[str] = set()
        self._names: dict[str, set[int]] = defaultdict(set)  # and what they begin with
        self._parts: dict[str, set[int]] = defaultdict(set)
        self._joined: dict[str, set[int]] = defaultdict(set)
        self._titles: dict[str, set[int]] = defaultdict(set)
        for number, document in enumerate(documents):
            for names in document.parties:
                for name in names:
                    self._add(number, name)
                self._add_surname(number, names[0])
            for joined in document.joined:
                self._add_joined(number, joined)
            title = words_of(document.title)
            if len(title) > 1:
                self._titles[_key(title)].add(number)

    def mentions(self, question: str, sources: Collection[str]) -> list[Mention]:
        """Where a question mentions names of documents of `sources` (empty: all), in its order."""
        words = words_of(question)
        found: list[Mention] = []
        start = 0
        while start < len(words):
            longest = min(start + LONGEST_NAME, len(words))
            for end in range(longest, start, -1):
                mention = self._mention(_Run(question, words, start, end), sources)
                if mention is not None:
                    found.append(mention)
                    start = end
                    break
            else:
                start += 1
        return found

    def within(self, numbers: Iterable[int], sources: Collection[str]) -> frozenset[int]:
        """Those of the documents that are of `sources`; all when that is empty."""
        return frozenset(n for n in numbers if not sources or self.documents[n].source in sources)

    def _add(self, number: int, name: str) -> None:
        words = without_form(words_of(name))
        self._whole.add(_key(words))
        for start in range(len(words)):
            for run in _runs_from(words, start):
                tells = run == words or not all(word.is_generic for word in run)
                if tells and not start:
                    self._names[_key(run)].add(number)
                elif tells or len(run) > 1:
                    self._parts[_key(run)].add(number)

    def _add_surname(self, number: int, name: str) -> None:
        words = words_of(name)
        if len(words) > 1 and not any(word.folded in COMPANY_FORMS for word in words) and words[-1].tells:
            self._names[words[-1].folded].add(number)

    def _add_joined(self, number: int, joined: str) -> None:
        self._add(number, _CAMEL.sub(" ", joined))
        key = _JOINED_FORM.sub("", fold(joined))
        self._names[key].add(number)
        for letters in range(JOINED_LETTERS, len(key)):
            self._joined[key[:letters]].add(number)

    def _mention(self, run: _Run, sources: Collection[str]) -> Mention | None:
        said = run.said
        if said[0].is_link or said[-1].is_link:
            return None
        titled = self.within(self._titles.get(_key(said), ()), sources)
        if titled and len(said) > 1 and all(word.has_capital or word.is_link for word in said):
            return self._made(run, titled, is_title=True)
        if not self._may_name(run):
            return None
        spelling, keys = self._keys(run)
        held = self.within(
            self.heads.holding([word.stem for word in said if not word.is_link and word.text[1:]]), sources
        )
        names = self._bearing(self._names, keys, sources)
        if names:
            long = len(said) > 1 or len(_key(said)) > SHORT or not self._whole.isdisjoint(keys)
            is_name = long and (run.is_whole or not run.has_capital)
            return self._made(run, names | held, spelling, is_name=is_name)
        if joined := self._bearing(self._joined, keys, sources):
            return self._made(run, joined | held, spelling, is_name=run.is_whole)
        if parts := self._bearing(self._parts, keys, sources):
            return self._made(run, parts | held, spelling)
        return None

    def _may_name(self, run: _Run) -> bool:
        """Whether its words are rare enough to name somebody."""
        said = run.said
        if len(said) == 1 and said[0].is_generic:
            return False
        if run.has_capital:
            return len(said) > 1 or self.usage(said[0].stem) <= COMMON_SHARE
        telling = [word for word in said if not word.is_generic]
        known = len(said) > 1 or _key(said) in self._whole
        return known and bool(telling) and all(self.usage(word.stem) <= RARE_SHARE for word in telling)

    def _keys(self, run: _Run) -> tuple[Spelling, list[str]]:
        """The names that a run may be: words that documents use are no slip of the pen."""
        key = _key(run.said)
        if key in self._names or key in self._parts or key in self._joined:
            parted = key not in self._names and not run.has_capital
            return Spelling.SAME, [] if parted else [key]
        used = all(self.usage(word.stem) > 0 for word in run.said)
        if len(key) < FUZZY_LETTERS or used or not run.is_whole:
            return Spelling.SAME, []
        return Spelling.ONE_LETTER, [other for other in one_letter_off(key) if other in self._names]

    def _bearing(
        self, kept: dict[str, set[int]], keys: Sequence[str], sources: Collection[str]
    ) -> frozenset[int]:
        return self.within((number for key in keys for number in kept.get(key, ())), sources)

    def _made(
        self,
        run: _Run,
        documents: frozenset[int],
        spelling: Spelling = Spelling.SAME,
        *,
        is_name: bool = False,
        is_title: bool = False,
    ) -> Mention:
        weight = math.log(1 + len(self.documents) / len(documents)) * (1 if is_name else WEAK)
        return Mention(run.span, spelling, is_name, is_title, documents, weight)


def without_form(words: Sequence[Word]) -> list[Word]:
    """The words of a name without a leading `The` and the company forms at its end; one at least."""
    kept = [*words]
    while len(kept) > 1 and kept[-1].folded in COMPANY_FORMS:
        kept.pop()
    return kept[1:] if len(kept) > 1 and kept[0].folded == "the" else kept


def one_letter_off(word: str) -> Iterator[str]:
    """All spellings with one letter more, less or other, or two that changed places."""
    for at in range(len(word) + 1):
        left, right = word[:at], word[at:]
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in _LETTERS)
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]
        yield from (left + letter + right for letter in _LETTERS)


def _runs_from(words: Sequence[Word], start: int) -> Iterator[Sequence[Word]]:
    for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
        if not words[start].is_link and not words[end - 1].is_link:
            yield words[start:end]


def _key(words: Iterable[Word]) -> str:
    return "".join(word.folded for word in words)
