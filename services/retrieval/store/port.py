"""The store port: everything retrieval asks of an index, for one tenant.

Rules that every store keeps, and that one shared contract suite checks:
- reads see live generations only, and a generation becomes live in one step (`commit`) or not at all;
- writing the same batch twice changes nothing but what was damaged; batches survive a crash and are found
  again by `staged`;
- the last commit of a document wins, and at most one generation besides the live one exists per document;
- any text is safe as a query (hyphens, quotes, operators of the engine's own language);
- scores are raw: cosine of the chunk's best window, and BM25 (k1 1.2, b .75) without the factor (k1 + 1);
- stems are those of `corpus.stems.stems_of`, for documents and questions alike;
- each part of a scope that is not empty restricts it: with both, documents of these ids and of these sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from chassis.auth import names_tenant
from chassis.errors import Conflict, InvalidInput, Precondition, Unavailable
from chassis.readiness import Readiness
from corpus.chunks import Chunk, ChunkId
from corpus.definitions import Definition
from corpus.documents import Document, DocumentId, Version
from services.retrieval.corpus import EVERYWHERE, EmbeddedChunk, Hits, Passage, Scope, Vector
from services.retrieval.store.records import Records

MEAN_OF = 1000
"""Chunks whose length is looked at."""


class StoreUnavailable(Unavailable):
    """The engine does not answer: it is closed, its disk is full or broken, or another process holds it."""

    reason = "UPSTREAM_UNAVAILABLE"


def check_tenant(tenant: str) -> None:
    """Raise `InvalidInput` for a name that no credential has: it names folders."""
    if not names_tenant(tenant):
        raise InvalidInput(f"Cannot name a tenant: {tenant!r}.", field="tenant")


class IncompleteVersion(Conflict):
    """A version to be made live is not stored in full: another took its place, or a batch is missing."""

    reason = "DOCUMENT_CONFLICT"


class VersionIsLive(Conflict):
    """New chunks or definitions for a version that searches see; only what it holds may be repeated."""

    reason = "DOCUMENT_CONFLICT"


class EmbeddingModelMismatch(Precondition):
    """The index was made with another embedding model; the message says how to go on."""

    reason = "EMBEDDING_MODEL_MISMATCH"


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of a flip."""

    document: Document
    """The document as visible now, `indexed_at` set."""
    replaced: bool
    """Whether an older live version was replaced."""
    revision: str


@dataclass(frozen=True, slots=True)
class Legs:
    """What a search looks for, by meaning and by words; a leg that wants no hits finds none."""

    vector: Vector
    vector_k: int
    keywords: Sequence[Sequence[str]]
    """The stems of each keyword leg."""
    keyword_k: int


@dataclass(frozen=True, slots=True)
class LegHits:
    """What the legs found at one moment."""

    vector: Hits
    keywords: Sequence[Hits]
    """Hits of each keyword leg, in the order asked."""
    passages: Sequence[Passage]
    """Passages of all hits, each once, by first appearance: vector leg first, then the keyword legs."""


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """A source with documents."""

    source: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """Live rows of the index."""

    documents: int
    chunks: int
    definitions: int
    windows: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What lies in a scope: the denominator of an absence."""

    documents: int
    pages: int
    unreadable_pages: int


class Store(Protocol):
    """The index of one tenant. All methods raise `StoreUnavailable` when the engine does not answer."""

    records: Records
    """What is kept beside the index; its methods raise the same."""

    # Writes -------------------------------------------------------------------------------------------------

    async def staged(self, version: Version) -> Mapping[ChunkId, str]:
        """The digest of each chunk of this version that is already stored, whether the version is live or
        not, as it was put."""
        ...

    async def put_chunks(self, version: Version, chunks: Sequence[EmbeddedChunk]) -> None:
        """Store a batch under `version`, on disk when it returns, invisible until `commit`.

        The first batch of a version collects any third generation of the document. A chunk that is stored
        already is replaced. Raises `VersionIsLive` for chunks that a live version does not hold.
        """
        ...

    async def put_definitions(self, version: Version, definitions: Sequence[Definition]) -> None:
        """Store a batch of definitions under the same rules."""
        ...

    async def commit(self, document: Document) -> Committed:
        """Make `document.version` the live one, in one step, and collect the version it replaces.

        `indexed_at` is set to now, unless the document comes with one: as a copy out of another index does,
        which shows searches nothing new.

        Raises `IncompleteVersion` when the stored counts differ from the document's; nothing changes then.
        """
        ...

    async def remove(self, document_id: DocumentId) -> str | None:
        """Remove a document with all its generations; the new revision, or None when it is not live."""
        ...

    async def expect(self, documents: int) -> None:
        """Keep how many documents the archive holds while the index has fewer; 0 when it has them all."""
        ...

    async def expected(self) -> int:
        """What `expect` was told last; 0 before, but above 0 where a new index stands for a lost one."""
        ...

    # Reads --------------------------------------------------------------------------------------------------

    async def revision(self, scope: Scope = EVERYWHERE) -> str:
        """Opaque; changes with every commit and remove of a document in scope, and with no other's.

        That of all documents costs next to nothing, any other a look at each document in scope.
        """
        ...

    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        """At most `k` live chunks in scope by BM25 over text, heading chain and table header."""
        ...

    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        """At most `k` live chunks in scope by the cosine of their best window."""
        ...

    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        """`vector_hits` and `keyword_hits` of several legs together, with what they found."""
        ...

    async def chunks(self, chunk_ids: Sequence[ChunkId], scope: Scope = EVERYWHERE) -> dict[ChunkId, Chunk]:
        """The live ones among these in scope, with `indexed_at` set.

        What lies elsewhere is read no more than what is nowhere, so that the time tells nothing either.
        """
        ...

    async def embedded_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, EmbeddedChunk]:
        """The live ones among these with windows and vectors."""
        ...

    async def chunks_of(self, document_id: DocumentId, after: int | None, limit: int) -> Sequence[Chunk]:
        """At most `limit` live chunks of a document by ordinal, those after ordinal `after`.

        All are of one generation: that of the moment of this call, which may be another than a call before
        saw. Empty when nothing follows and when the document is not live.
        """
        ...

    async def first_chunks(
        self, document_ids: Sequence[DocumentId], limit: int
    ) -> dict[DocumentId, Sequence[Chunk]]:
        """What `chunks_of` gives of each from its start; documents of which it gives nothing are left out.

        For many documents at once. The moment of the call is that of each document, not of all together.
        """
        ...

    async def document(self, document_id: DocumentId) -> Document | None:
        """The live version, or None."""
        ...

    async def covers(self, scope: Scope) -> bool:
        """Whether a live document is in scope."""
        ...

    async def documents(self, scope: Scope, after: DocumentId | None, limit: int) -> Sequence[Document]:
        """Live documents in scope by id, those after `after`."""
        ...

    async def live_versions(self, scope: Scope) -> Sequence[Version]:
        """The live version of every document in scope, in no order.

        Of a document that is replaced meanwhile it is either one; one that comes or goes may be among them.
        """
        ...

    async def sources(self) -> Sequence[SourceCounts]:
        """All sources with live documents, by name."""
        ...

    async def definitions(self, folded_terms: Sequence[str], scope: Scope) -> Sequence[Definition]:
        """Live definitions of these terms, folded by `terms.fold_term`, by document and position."""
        ...

    async def defined_terms(self, scope: Scope) -> Sequence[str]:
        """Distinct folded terms with a live definition in scope."""
        ...

    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        """Live chunks in scope that hold all these stems in text, heading chain or table header."""
        ...

    async def mean_stems(self, scope: Scope) -> float:
        """How many stems the text of a live chunk in scope has in the mean, at least 1.

        Of more than `MEAN_OF` chunks in scope some are looked at.
        """
        ...

    async def coverage(self, scope: Scope) -> Coverage:
        """What a search of this scope covers."""
        ...

    async def counts(self, scope: Scope = EVERYWHERE) -> IndexCounts:
        """Live rows of the documents in scope."""
        ...

    async def close(self) -> None:
        """Release files and threads; safe to call twice."""
        ...


class Stores(Protocol):
    """The stores of all tenants. A read across tenants has no way to happen."""

    engine: str
    """What keeps the index: `embedded` or `weaviate`."""
    readiness: Readiness
    """Whether the engine answers."""

    async def for_tenant(self, tenant: str) -> Store:
        """The store of `tenant`, made when it is new; opened once.

        Raises `StoreUnavailable` when the engine does not answer or its index is of another release,
        `EmbeddingModelMismatch` when the index was made with another model, and `InvalidInput` for a name
        that no `Caller` has.
        """
        ...

    async def close(self) -> None:
        """Close all stores; safe to call twice."""
        ...
