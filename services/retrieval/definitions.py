"""Finds definitions: of terms that are asked for, and of all terms that passages use, transitively.

A passage of a document gets the definition of that document, else of its source; a passage of no document (a
question) that of every source.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chassis.errors import InvalidInput
from corpus.definitions import Definition
from corpus.documents import DocumentId, source_of
from services.retrieval.corpus import Scope
from services.retrieval.paging import Page, page_position, page_token
from services.retrieval.queries import check_scope
from services.retrieval.store.port import Store
from services.retrieval.terms import WORD, DefinedTerms, TermUse, fold_term

MAX_KEPT_SCOPES = 64
MAX_CONFLICTING = 10
"""Definitions listed against one other; in a corpus of unrelated contracts every one says something else."""


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
    known = _by_term(await store.definitions(folded, scope))
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
        known = _by_term(await store.definitions(folded, scope))
        readings = []
        for reading, use in uses:
            for definition in reading.meaning(use, known.get(use.term, ())):
                if definition.definition_id in resolved:
                    continue
                resolved[definition.definition_id] = ResolvedDefinition(
                    definition, depth, reading.used_by, conflicting(definition, known[use.term])
                )
                readings.append(Reading(Passage(definition.text, definition.document_id), definition.term))
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
            return [definition for source in sources for definition in _first_document(known, source)]
        if self.passage.text[use.start].islower():
            known = [definition for definition in known if not definition.term[:1].isupper()]
        own = [definition for definition in known if definition.document_id == document_id]
        return _distinct(own) or _first_document(known, source_of(document_id))


def _first_document(definitions: Sequence[Definition], source: str) -> list[Definition]:
    """Those of the first document of `source`, differently worded ones all."""
    of_source = [definition for definition in definitions if definition.source == source]
    return _distinct([definition for definition in of_source if definition.version == of_source[0].version])


def conflicting(definition: Definition, others: Sequence[Definition]) -> tuple[Definition, ...]:
    """Definitions of the same term with other words from other documents, each wording once.

    Those of other sources come first; at most `MAX_CONFLICTING`.
    """
    foreign = [other for other in others if other.document_id != definition.document_id]
    foreign.sort(key=lambda other: other.source == definition.source)
    return tuple(_distinct([definition, *foreign])[1 : MAX_CONFLICTING + 1])


def _distinct(definitions: Sequence[Definition]) -> list[Definition]:
    """The definitions without those that repeat the words of an earlier one."""
    by_wording: dict[str, Definition] = {}
    for definition in definitions:
        by_wording.setdefault(" ".join(WORD.findall(definition.text.casefold())), definition)
    return list(by_wording.values())


def _by_term(definitions: Iterable[Definition]) -> dict[str, list[Definition]]:
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


@dataclass(frozen=True, slots=True)
class DefinitionQuery:
    """See `clausegate.retrieval.v1.FindDefinitionsRequest`."""

    terms: tuple[str, ...]
    passages: tuple[Passage, ...]
    scope: Scope
    max_depth: int
    page_size: int
    page_token: str

    def __post_init__(self) -> None:
        """Raise `InvalidInput` unless exactly one of terms and passages is given."""
        if bool(self.terms) == bool(self.passages):
            raise InvalidInput("Exactly one of terms and passages must be given.", field="terms")


class Finder:
    """Finds definitions in one store."""

    def __init__(self, store: Store, glossary: Glossary) -> None:
        self._store = store
        self._glossary = glossary

    async def find(self, query: DefinitionQuery) -> tuple[Page[ResolvedDefinition], str]:
        """A page of definitions, and the revision that was read.

        Raises `SourceNotFound`, `DocumentNotFound`, and `InvalidInput` for a token of another request or of
        another state of the index.
        """
        await check_scope(self._store, query.scope)
        revision = await self._store.revision()
        request = ("definitions", query.terms, query.passages, query.scope, query.max_depth, revision)
        start = int(page_position(query.page_token, *request) or 0)
        found = await self._find(query, revision)
        end = start + query.page_size
        more = end < len(found)
        return Page(tuple(found[start:end]), page_token(str(end), *request) if more else ""), revision

    async def _find(self, query: DefinitionQuery, revision: str) -> list[ResolvedDefinition]:
        if query.terms:
            return await define(self._store, query.terms, query.scope)
        terms = await self._glossary.terms(query.scope, revision)
        return await resolve(self._store, terms, query.passages, query.scope, query.max_depth)
