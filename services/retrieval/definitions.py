"""Finds definitions: of terms that are asked for, and of all terms that passages use, transitively.

A term is compared folded: without case, quotes, punctuation and plural s. A passage of a document gets the
definition of that document, else of its source; a passage of no document (a question) that of every source.
"""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from services.retrieval.corpus import Definition, DocumentId, Scope, source_of
from services.retrieval.store.port import Store

WORD = re.compile(r"[\w&]+(?:['’]\w+)*")
MAX_KEPT_SCOPES = 64
MAX_CONFLICTING = 10
"""Definitions listed against one other; in a corpus of unrelated contracts every one says something else."""


@lru_cache(maxsize=65_536)
def fold_word(word: str) -> str:
    """One word of a term without case, possessive and plural: `Fees` is `fee`."""
    word = re.sub(r"['’]s$", "", word.casefold()).replace("'", "").replace("’", "")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def fold_term(term: str) -> str:
    """What terms are compared by: `“Non-Professional Subscribers”` gives `non professional subscriber`.

    A fold is its own fold. A term without any letter or digit is compared as it is written.
    """
    return " ".join(fold_word(match.group()) for match in WORD.finditer(term)) or " ".join(term.split())


@dataclass(frozen=True, slots=True)
class TermUse:
    """A defined term that stands in a text."""

    term: str
    """Folded."""
    start: int
    """Code points of the text."""
    end: int


@dataclass(frozen=True, slots=True)
class DefinedTerms:
    """Folded terms, ready to be looked for in texts."""

    folded: frozenset[str]
    longest: dict[str, int]
    """Words of the longest term that begins with this word."""

    @classmethod
    def of(cls, folded: Iterable[str]) -> Self:
        """Prepare terms that `fold_term` has folded."""
        terms = frozenset(folded)
        longest: dict[str, int] = defaultdict(int)
        for term in terms:
            words = term.split()
            if words:
                longest[words[0]] = max(longest[words[0]], len(words))
        return cls(terms, dict(longest))

    def uses(self, text: str) -> list[TermUse]:
        """Where the terms stand in `text`: from the left, the longest at each place, none overlapping."""
        words = [fold_word(word) for word in WORD.findall(text)]
        places = self._places(words)
        if not places:
            return []
        spans = [match.span() for match in WORD.finditer(text)]
        return [TermUse(" ".join(words[at:end]), spans[at][0], spans[end - 1][1]) for at, end in places]

    def _places(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """First and end (exclusive) word of each use."""
        places, free = [], 0
        for at in [at for at, word in enumerate(words) if word in self.longest]:
            length = self._length_at(words, at) if at >= free else 0
            if length:
                free = at + length
                places.append((at, free))
        return places

    def _length_at(self, words: Sequence[str], at: int) -> int:
        for length in range(min(self.longest.get(words[at], 0), len(words) - at), 0, -1):
            if " ".join(words[at : at + length]) in self.folded:
                return length
        return 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A text whose defined terms are wanted."""

    text: str
    document_id: DocumentId | None = None
    """The document that the text is from; None for a question."""


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition and why it was found, see `clausegate.retrieval.v1.ResolvedDefinition`."""

    definition: Definition
    depth: int
    used_by: str
    conflicting: tuple[Definition, ...]


async def define(store: Store, terms: Sequence[str], scope: Scope) -> list[ResolvedDefinition]:
    """Every definition of the terms, in the order asked, then by document and position; depth 1."""
    folded = list(dict.fromkeys(map(fold_term, terms)))
    known = by_term(await store.definitions(folded, scope))
    return [
        ResolvedDefinition(definition, 1, "", conflicting(definition, known[term]))
        for term in folded
        for definition in known.get(term, ())
    ]


async def resolve(
    store: Store, terms: DefinedTerms, passages: Sequence[Passage], scope: Scope, max_depth: int
) -> list[ResolvedDefinition]:
    """The definitions of all terms that `passages` use, by depth, then in order of first use.

    `terms` are the defined terms in scope. Definitions are read like passages in turn, down to `max_depth`.
    """
    resolved: dict[str, ResolvedDefinition] = {}
    readings = [Reading(passage, "") for passage in passages]
    for depth in range(1, max_depth + 1):
        uses = [(reading, use) for reading in readings for use in terms.uses(reading.passage.text)]
        if not uses:
            break
        folded = list(dict.fromkeys(use.term for _, use in uses))
        known = by_term(await store.definitions(folded, scope))
        readings = []
        for reading, use in uses:
            for definition in reading.meaning(use, known.get(use.term, ())):
                if definition.definition_id in resolved:
                    continue
                resolved[definition.definition_id] = ResolvedDefinition(
                    definition, depth, reading.used_by, conflicting(definition, known[use.term])
                )
                readings.append(
                    Reading(Passage(definition.text, definition.version.document_id), definition.term)
                )
    return list(resolved.values())


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage being read, and the term whose definition it is (empty for a passage that was asked for)."""

    passage: Passage
    used_by: str

    def meaning(self, use: TermUse, known: Sequence[Definition]) -> list[Definition]:
        """What a use means here, out of all definitions of its term in scope.

        A document writes its terms with capitals: a common word in lower case is not the term.
        """
        document_id = self.passage.document_id
        if document_id is None:
            sources = dict.fromkeys(definition.source for definition in known)
            return [definition for source in sources for definition in first_document(known, source)]
        if self.passage.text[use.start].islower():
            known = [definition for definition in known if not definition.term[:1].isupper()]
        own = [definition for definition in known if definition.version.document_id == document_id]
        return distinct(own) or first_document(known, source_of(document_id))


def first_document(definitions: Sequence[Definition], source: str) -> list[Definition]:
    """Those of the first document of `source`, differently worded ones all."""
    of_source = [definition for definition in definitions if definition.source == source]
    return distinct([each for each in of_source if each.version == of_source[0].version])


def conflicting(definition: Definition, others: Sequence[Definition]) -> tuple[Definition, ...]:
    """Definitions of the same term with other words from other documents (N-8), each wording once.

    Those of other sources come first; at most `MAX_CONFLICTING`.
    """
    foreign = [each for each in others if each.version.document_id != definition.version.document_id]
    foreign.sort(key=lambda each: each.source == definition.source)
    return tuple(distinct([definition, *foreign])[1 : MAX_CONFLICTING + 1])


def distinct(definitions: Sequence[Definition]) -> list[Definition]:
    """The definitions without those that repeat the words of an earlier one."""
    by_wording: dict[str, Definition] = {}
    for definition in definitions:
        by_wording.setdefault(" ".join(WORD.findall(definition.text.casefold())), definition)
    return list(by_wording.values())


def by_term(definitions: Iterable[Definition]) -> dict[str, list[Definition]]:
    """Definitions under their folded term, order kept."""
    grouped: dict[str, list[Definition]] = defaultdict(list)
    for definition in definitions:
        grouped[fold_term(definition.term)].append(definition)
    return grouped


class Glossary:
    """The defined terms of a store, kept for the scopes that were asked last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[Scope, str], DefinedTerms] = OrderedDict()

    async def terms(self, scope: Scope, revision: str) -> DefinedTerms:
        """The terms with a live definition in scope, as of `revision` or later."""
        kept = self._kept.get((scope, revision))
        if kept is None:
            kept = DefinedTerms.of(await self._store.defined_terms(scope))
            self._kept[scope, revision] = kept
            while len(self._kept) > MAX_KEPT_SCOPES:
                self._kept.popitem(last=False)
        return kept
