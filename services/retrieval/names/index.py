"""The names that documents bear, and where a question mentions them.

A document bears the names on its card: its parties with their other names, the company that its file is
named after, and its title. Spellings agree without case, marks and spaces (`Sling Bag`, `SlingBag`), and with
one letter wrong in six or more. A document also bears a mentioned name that its head holds: cards miss some.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import Self

from corpus.documents import DocumentId, source_of
from corpus.profiles import DocumentProfile, OtherNameKind, Party
from corpus.spans import Span
from services.retrieval.corpus import Scope
from services.retrieval.names.titles import TitleIndex
from services.retrieval.names.words import Word, fold, words_of
from services.retrieval.routing import HeadIndex

LONGEST_NAME = 6
"""Words of a name that are matched together."""
FUZZY_LETTERS = 6
"""Names of fewer letters are matched only as they are written."""
FUZZY_WORDS = 3
"""Names of more words are matched only as they are written; so is what is left of them."""
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
_NOT_NAMES = (OtherNameKind.ROLE, OtherNameKind.FILE_NAME)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """What a document is called. Spellings are letters and digits without case and spaces."""

    document_id: DocumentId
    source: str
    parties: tuple[tuple[str, ...], ...]
    """The names of each party, the full one first, without roles such as `Licensor`."""
    dates: tuple[str, ...]
    """When it was made and has effect, ISO 8601, as precise as it says."""
    title: str
    """Spelling of the title; empty unless it has two words or more."""
    title_stems: frozenset[str]
    names: frozenset[str]
    """Spellings of the names, and of what they begin with."""
    whole: frozenset[str]
    """Those of whole names."""
    parts: frozenset[str]
    """Spellings of words from within names."""
    joined: frozenset[str]
    """Spellings of companies as the file's name runs them together."""
    full_names: Mapping[str, str]
    """The full name of a party by each spelling of its names, of them without company form, and of the first
    word of each."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """What the text calls a party in place of its full name, by that: `Licensor`."""

    @classmethod
    def of(cls, document_id: DocumentId, title: str, profile: DocumentProfile | None) -> Self:
        """What a document is called by its card, or by its title alone where it has none."""
        if profile is None:
            return cls._of(document_id, title)
        names = [
            (party.name, *(other.text for other in party.other_names if other.kind not in _NOT_NAMES))
            for party in profile.parties
        ]
        of_file = [
            other.text
            for party in profile.parties
            for other in party.other_names
            if other.kind is OtherNameKind.FILE_NAME
        ]
        if profile.filed_under:
            of_file.append(profile.filed_under)
        dates = [stated.iso for stated in (profile.dated, profile.effective) if stated]
        named = cls._of(
            document_id,
            profile.title.text if profile.title else "",
            tuple(names),
            tuple(of_file),
            tuple(dates),
        )
        return replace(named, roles={party.name: role for party in profile.parties if (role := _role(party))})

    @classmethod
    def _of(
        cls,
        document_id: DocumentId,
        title: str,
        parties: tuple[tuple[str, ...], ...] = (),
        of_file: tuple[str, ...] = (),
        dates: tuple[str, ...] = (),
    ) -> Self:
        joined = frozenset(_JOINED_FORM.sub("", fold(name)) for name in of_file)
        said = [words_of(name) for names in parties for name in names]
        bare = [
            *map(without_form, said),
            *(without_form(words_of(_CAMEL.sub(" ", name))) for name in of_file),
        ]
        beginnings, parts = _spellings(bare)
        titled = words_of(title)
        return cls(
            document_id,
            source_of(document_id),
            parties,
            dates,
            _key(titled) if len(titled) > 1 else "",
            frozenset(word.stem for word in titled),
            beginnings | _surnames(parties) | joined,
            frozenset(map(_key, bare)),
            parts,
            joined,
            _full_names(parties),
        )

    def role(self, name: str) -> str:
        """What its text calls the party that a question mentions by `name`; empty when it is not known."""
        bare = _key(without_form(words_of(name)))
        return self.roles.get(self.full_names.get(fold(name)) or self.full_names.get(bare, ""), "")


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
        while end < len(self.words) and self.words[end].is_form:
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
        self.titles = TitleIndex([document.title_stems for document in documents])
        self._whole = {spelling for document in documents for spelling in document.whole}
        self._names: defaultdict[str, list[int]] = defaultdict(list)
        self._parts: defaultdict[str, list[int]] = defaultdict(list)
        self._titles: defaultdict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            for spelling in document.names:
                self._names[spelling].append(number)
            for spelling in document.parts:
                self._parts[spelling].append(number)
            if document.title:
                self._titles[document.title].append(number)
        self._joined = sorted(
            (spelling, number) for number, document in enumerate(documents) for spelling in document.joined
        )

    def mentions(self, question: str, scope: Scope) -> list[Mention]:
        """Where a question mentions names of documents in scope, in its order."""
        words = words_of(question)
        found: list[Mention] = []
        start = 0
        while start < len(words):
            longest = min(start + LONGEST_NAME, len(words))
            for end in range(longest, start, -1):
                mention = self._mention(_Run(question, words, start, end), scope)
                if mention is not None:
                    found.append(mention)
                    start = end
                    break
            else:
                start += 1
        return found

    def within(self, numbers: Iterable[int], scope: Scope) -> frozenset[int]:
        """Those of the documents that are in scope."""
        return frozenset(
            number
            for number in numbers
            if (not scope.sources or self.documents[number].source in scope.sources)
            and (not scope.document_ids or self.documents[number].document_id in scope.document_ids)
        )

    def _mention(self, run: _Run, scope: Scope) -> Mention | None:
        said = run.said
        if said[0].is_link or said[-1].is_link:
            return None
        titled = self.within(self._titles.get(_key(said), ()), scope)
        if titled and len(said) > 1 and all(word.has_capital or word.is_link for word in said):
            return self._made(run, titled, is_title=True)
        if not self._may_name(run):
            return None
        spelling, keys = self._keys(run)
        held = self.within(
            self.heads.holding([word.stem for word in said if not word.is_link and word.text[1:]]), scope
        )
        names = self._bearing(self._names, keys, scope)
        if names:
            long = len(said) > 1 or len(_key(said)) > SHORT or not self._whole.isdisjoint(keys)
            is_name = long and (run.is_whole or not run.has_capital)
            return self._made(run, names | held, spelling, is_name=is_name)
        if joined := self.within(self._begun(_key(said)), scope):
            return self._made(run, joined | held, spelling, is_name=run.is_whole)
        if parts := self._bearing(self._parts, keys, scope):
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
        if key in self._names or (key in self._parts and run.has_capital):
            return Spelling.SAME, [key]
        used = all(self.usage(word.stem) > 0 for word in run.said)
        if len(key) < FUZZY_LETTERS or len(run.said) > FUZZY_WORDS or used or not run.is_whole:
            return Spelling.SAME, []
        return Spelling.ONE_LETTER, [other for other in one_letter_off(key) if other in self._names]

    def _begun(self, key: str) -> Iterator[int]:
        """Documents of which a company, as the file's name runs it together, begins with `key`."""
        if len(key) < JOINED_LETTERS:
            return
        first = bisect_left(self._joined, (key, 0))
        for spelling, number in islice(self._joined, first, None):
            if not spelling.startswith(key):
                return
            yield number

    def _bearing(
        self, kept: Mapping[str, Sequence[int]], keys: Sequence[str], scope: Scope
    ) -> frozenset[int]:
        return self.within((number for key in keys for number in kept.get(key, ())), scope)

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
    while len(kept) > 1 and kept[-1].is_form:
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


def _role(party: Party) -> str:
    return next((other.text for other in party.other_names if other.kind is OtherNameKind.ROLE), "")


def _surnames(parties: Iterable[Sequence[str]]) -> frozenset[str]:
    """The last words of full names that are a person's, by having no company form."""
    full = [words_of(names[0]) for names in parties]
    people = [words for words in full if not any(word.is_form for word in words)]
    return frozenset(words[-1].folded for words in people if len(words) > 1 and words[-1].tells)


def _full_names(parties: Iterable[Sequence[str]]) -> dict[str, str]:
    full: dict[str, str] = {}
    for names in parties:
        for name in names:
            bare = without_form(words_of(name))
            for spelling in (fold(name), _key(bare), _key(bare[:1])):
                full.setdefault(spelling, names[0])
    return full


def _spellings(names: Iterable[Sequence[Word]]) -> tuple[frozenset[str], frozenset[str]]:
    """Spellings of names with what they begin with, and of what stands within them."""
    beginnings: set[str] = set()
    parts: set[str] = set()
    for name in names:
        for start in range(len(name)):
            for run in _runs_from(name, start):
                tells = run == name or not all(word.is_generic for word in run)
                if tells and not start:
                    beginnings.add(_key(run))
                elif tells or len(run) > 1:
                    parts.add(_key(run))
    return frozenset(beginnings), frozenset(parts)


def _runs_from(words: Sequence[Word], start: int) -> Iterator[Sequence[Word]]:
    for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
        if not words[start].is_link and not words[end - 1].is_link:
            yield words[start:end]


def _key(words: Iterable[Word]) -> str:
    return "".join(word.folded for word in words)
