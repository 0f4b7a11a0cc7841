"""Source text for a writer within a token budget: passages in the order of their documents.

What gets in is decided by rank, best first, until one does not fit. It is shown in the order of source,
document and position, each sentence of a document once.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from chassis.errors import InvalidInput
from corpus.chunks import Chunk, ChunkId, ContextPart
from corpus.documents import Document, DocumentId
from corpus.spans import Span
from inference.tokens import TokenCounter
from services.retrieval.corpus import Scope
from services.retrieval.queries import Limits, SearchQuery, check_scope
from services.retrieval.reading import VersionReplaced
from services.retrieval.search import Searcher
from services.retrieval.store.port import Store

RULE_LINE = "---"
BEFORE, AFTER = "[Leads into this:]", "[Holds for this:]"
"""Before words of the document that stand elsewhere and govern a part of the passage."""
TOKENS_PER_CHUNK = 400
"""What most chunks take, of 300 words: by it is estimated how many to begin with."""
MIN_RANKED = 12
MAX_RANKED = 500
"""Chunks that a question is searched for at most; the largest budget holds about 150 of 300 words."""
DOCUMENTS_AT_ONCE = 1000
ATTEMPTS = 2
_LOOK_ALIKE = re.compile(
    rf"^(?=[^\S\n]*(?:\[(?:Source|Leads into this|Holds for this):|{RULE_LINE}\s*$))",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """See `clausegate.retrieval.v1.AssembleContextRequest`; `text` may be empty."""

    text: str
    scope: Scope
    token_budget: int

    def __post_init__(self) -> None:
        """Raise `InvalidInput` when neither question, sources nor documents are given."""
        if not self.text and not self.scope.sources and not self.scope.document_ids:
            raise InvalidInput("Without a query, sources or documents are required.", field="sources")


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """What is shown of a chunk: `span` of the document, whole sentences, at most the chunk's own span."""

    chunk: Chunk
    span: Span


@dataclass(frozen=True, slots=True)
class Packed:
    """The best chunks that fit into a budget, as text."""

    text: str
    passages: tuple[ContextPassage, ...]
    tokens: int
    """Tokens of `text`."""
    taken: int
    """Chunks that fitted; not all need be passages, for some only repeat others."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The assembled text, all of it live at one moment."""

    packed: Packed
    encoding: str
    """How tokens were counted: the encoding's name, or `estimate`."""
    left_out: int
    """Chunks considered that did not fit."""
    revision: str


def arrange(chunks: Iterable[Chunk]) -> list[ContextPassage]:
    """The passages of some chunks by source, document and position, without what repeats others.

    Sentences that stand in the passage before are cut off, and a chunk is left out when an earlier one, of
    any document, has its text and what governs it.
    """
    passages: list[ContextPassage] = []
    texts = set[tuple[str, ...]]()
    shown: dict[DocumentId, int] = {}
    for chunk in sorted(chunks, key=_place):
        document_id = chunk.document_id
        start = _start(chunk, shown.get(document_id, 0))
        contexts = (*chunk.context_before, *chunk.context_after)
        said = (chunk.content_sha256, *(part.text for part in contexts))
        if said in texts or start >= chunk.span.end:
            continue
        texts.add(said)
        shown[document_id] = chunk.span.end
        passages.append(ContextPassage(chunk, Span(start, chunk.span.end)))
    return passages


def write(passages: Sequence[ContextPassage]) -> str:
    """The passages as text, a rule line between them."""
    return f"{RULE_LINE}\n".join(map(_block, passages))


def pack(ranked: Sequence[Chunk], budget: int, counter: TokenCounter) -> Packed:
    """As many of `ranked`, best first, as fit: the text counted as a whole never exceeds `budget` tokens."""
    joint = counter.count(f"{RULE_LINE}\n")
    costs: dict[tuple[ChunkId, int], int] = {}

    def cost(passage: ContextPassage) -> int:
        key = (passage.chunk.chunk_id, passage.span.start)
        if key not in costs:
            costs[key] = counter.count(_block(passage)) + joint
        return costs[key]

    taken = 0
    while taken < len(ranked) and sum(map(cost, arrange(ranked[: taken + 1]))) - joint <= budget:
        taken += 1
    # Tokens may run across the joints, so the sum of the parts only comes near the number that counts.
    while True:
        passages = arrange(ranked[:taken])
        text = write(passages)
        tokens = counter.count(text)
        if tokens <= budget or not taken:
            return Packed(text, tuple(passages), tokens, taken)
        taken -= 1


class Assembler:
    """Assembles context from one store."""

    def __init__(self, store: Store, searcher: Searcher, counter: TokenCounter, executor: Executor) -> None:
        self._store = store
        self._searcher = searcher
        self._counter = counter
        self._executor = executor

    async def assemble(self, query: ContextQuery) -> Assembled:
        """Source text for a writer.

        Raises `SourceNotFound`, `DocumentNotFound`, and `VersionReplaced` when documents are replaced faster
        than they can be read.
        """
        for _ in range(ATTEMPTS):
            assembled = await (self._best(query) if query.text else self._beginnings(query))
            if await self._all_live(assembled.packed.passages):
                return assembled
        raise VersionReplaced("Documents were replaced while they were read.")

    async def _best(self, query: ContextQuery) -> Assembled:
        """The chunks that match best."""
        wanted = _estimate(query.token_budget)
        while True:
            limits = Limits(top_k=wanted, vector_k=wanted, keyword_k=wanted)
            found = await self._searcher.search(SearchQuery(query.text, query.scope, limits=limits))
            ranked = [candidate.chunk for candidate in found.candidates]
            packed = await self._packed(ranked, query.token_budget)
            if packed.taken < len(ranked) or len(ranked) < wanted or wanted >= MAX_RANKED:
                left_out = len(ranked) - packed.taken
                return Assembled(packed, self._counter.encoding, left_out, found.revision)
            wanted *= 2

    async def _beginnings(self, query: ContextQuery) -> Assembled:
        """The documents from their beginnings: the first chunk of each, then the second of each, …"""
        await check_scope(self._store, query.scope)
        revision = await self._store.revision()
        documents = await self._documents(query.scope)
        wanted = _estimate(query.token_budget)
        turns = _Turns(self._store, documents, wanted)
        ranked: list[Chunk] = []
        while True:
            more = await turns.take(wanted)
            ranked += more
            packed = await self._packed(ranked, query.token_budget)
            if packed.taken < len(ranked) or len(more) < wanted:
                break
        left_out = max(0, sum(document.chunk_count for document in documents) - packed.taken)
        return Assembled(packed, self._counter.encoding, left_out, revision)

    async def _documents(self, scope: Scope) -> list[Document]:
        documents: list[Document] = []
        after: DocumentId | None = None
        while page := await self._store.documents(scope, after, DOCUMENTS_AT_ONCE):
            documents += page
            after = page[-1].document_id
        return documents

    async def _packed(self, ranked: Sequence[Chunk], budget: int) -> Packed:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, pack, ranked, budget, self._counter)

    async def _all_live(self, passages: Sequence[ContextPassage]) -> bool:
        """Whether one read sees all passages: then they were live together, whatever came in between."""
        chunk_ids = [passage.chunk.chunk_id for passage in passages]
        return len(await self._store.chunks(chunk_ids)) == len(chunk_ids)


class _Turns:
    """Takes chunks of documents in turn: the first of each, then the second of each, and so on."""

    def __init__(self, store: Store, documents: Sequence[Document], wanted: int) -> None:
        """`wanted` chunks are about to be taken."""
        self._store = store
        self._page_size = wanted // max(1, len(documents)) + 1
        self._waiting = deque(_Reading(document.document_id) for document in documents)

    async def take(self, count: int) -> list[Chunk]:
        """The next chunks; fewer than `count` only when no document has more."""
        taken: list[Chunk] = []
        while self._waiting and len(taken) < count:
            reading = self._waiting.popleft()
            if not reading.ahead:
                reading.ahead.extend(
                    await self._store.chunks_of(reading.document_id, reading.after, self._page_size)
                )
            if reading.ahead:
                chunk = reading.ahead.popleft()
                reading.after = chunk.ordinal
                taken.append(chunk)
                self._waiting.append(reading)
        return taken


@dataclass(slots=True)
class _Reading:
    """How far a document is taken."""

    document_id: DocumentId
    after: int | None = None
    ahead: deque[Chunk] = field(default_factory=deque)


def _estimate(budget: int) -> int:
    """Chunks to begin with."""
    return MIN_RANKED + budget // TOKENS_PER_CHUNK


def _place(chunk: Chunk) -> tuple[str, DocumentId, int]:
    return chunk.source, chunk.document_id, chunk.ordinal


def _start(chunk: Chunk, shown: int) -> int:
    """Where the part of a chunk begins that does not end before `shown`; its end when there is none."""
    if shown <= chunk.span.start:
        return chunk.span.start
    return next(
        (sentence.start for sentence in chunk.sentences if sentence.end > shown), min(shown, chunk.span.end)
    )


def _block(passage: ContextPassage) -> str:
    """A passage below the line that says where it is from; a continued table has its header again."""
    chunk, span = passage.chunk, passage.span
    section = " > ".join(chunk.heading_chain) or chunk.section
    text = chunk.text[span.start - chunk.span.start : span.end - chunk.span.start]
    header = f"{chunk.table_header}\n" if chunk.table_header else ""
    return (
        f'[Source: "{_line(chunk.title)}" (id: {chunk.document_id}), Section: "{_line(section)}"]\n'
        f"{_contexts(BEFORE, chunk, chunk.context_before, span)}{_as_text(header + text)}\n"
        f"{_contexts(AFTER, chunk, chunk.context_after, span)}"
    )


def _contexts(mark: str, chunk: Chunk, contexts: Sequence[ContextPart], shown: Span) -> str:
    """What governs something of a passage and stands neither in it nor above it, a marked line each."""
    return "".join(
        f"{mark} {' '.join(part.text.split())}\n"
        for part in contexts
        if part.governs.start < shown.end
        and shown.start < part.governs.end
        and not (shown.start <= part.span.start and part.span.end <= shown.end)
        and part.text != chunk.table_header
    )


def _line(text: str) -> str:
    """One line without quotation marks that could end the attribution."""
    return " ".join(text.replace('"', "'").split())


def _as_text(text: str) -> str:
    """Text whose lines cannot be taken for attributions and rules: look-alikes get a backslash in front."""
    return _LOOK_ALIKE.sub(r"\\", text)
