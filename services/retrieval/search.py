"""Hybrid search: routes the question, runs both legs, weighs what they find, and orders it by that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Self

from chassis.errors import Conflict
from chassis.telemetry import stage
from corpus.chunks import Chunk, ChunkId
from corpus.stems import stems_of
from inference.embedding.model import EmbeddingModel
from services.retrieval.background import UNCALIBRATED, Background
from services.retrieval.corpus import Hits, Passage, Vector
from services.retrieval.definitions import Glossary
from services.retrieval.evidence import (
    MEASURED_MODEL,
    LocalEvidence,
    Question,
    Weighed,
    WindowMatch,
    weigh,
)
from services.retrieval.lexicon import lexicon_stems, question_stems
from services.retrieval.normalisation import normalise
from services.retrieval.overview import Overview, Overviews
from services.retrieval.queries import SearchMode, SearchQuery, check_scope, check_versions
from services.retrieval.routes import Destination, Router
from services.retrieval.store.port import Legs, Store

WEAK_BM25 = 2.0
"""KEYWORD_FIRST also asks the vectors when no keyword hit reaches this."""
ATTEMPTS = 3
"""Times that a search begins anew because a document that it found was replaced meanwhile."""


class DocumentsChanging(Conflict):
    """Each time that a search came to read what it had found, another part of it had been replaced."""

    reason = "DOCUMENT_CONFLICT"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A leg's raw score of a chunk and its rank from 1."""

    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Leg:
    """What one leg found, best first."""

    hits: Mapping[ChunkId, Ranked] = field(default_factory=dict)

    @classmethod
    def of(cls, hits: Hits) -> Self:
        """Number the hits of a leg."""
        return cls({hit.chunk_id: Ranked(hit.score, rank) for rank, hit in enumerate(hits, 1)})

    @property
    def top_score(self) -> float | None:
        """Score of the best hit; None without hits."""
        return next((hit.score for hit in self.hits.values()), None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer the question."""

    chunk: Chunk
    vector: Ranked | None
    keyword: Ranked | None
    ranking_score: float
    evidence: LocalEvidence
    windows: tuple[WindowMatch, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question comes to once it is known where it is answered."""

    destination: Destination
    normalised: str
    keyword_stems: tuple[str, ...]
    lexicon_stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    asked: Asked
    candidates: tuple[Candidate, ...]
    vector: Leg
    keyword: Leg
    background: Background | None
    revision: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage and what orders it."""

    passage: Passage
    score: float
    weighed: Weighed


@dataclass(frozen=True, slots=True)
class Pool:
    """What the legs found, before it is weighed."""

    mode: SearchMode
    """Never KEYWORD_FIRST."""
    vector: Leg
    keyword: Leg
    passages: Sequence[Passage]
    """All that were found, in order of first appearance."""

    def candidate(self, scored: Scored, chunk: Chunk) -> Candidate:
        """A passage of the pool with its chunk."""
        return Candidate(
            chunk,
            self.vector.hits.get(chunk.chunk_id),
            self.keyword.hits.get(chunk.chunk_id),
            scored.score,
            scored.weighed.evidence,
            scored.weighed.windows,
        )


class Searcher:
    """Searches one store."""

    def __init__(
        self,
        store: Store,
        model: EmbeddingModel,
        overviews: Overviews,
        glossary: Glossary,
        executor: Executor,
    ) -> None:
        self._store = store
        self._model = model
        self._overviews = overviews
        self._router = Router(store, executor)
        self._glossary = glossary
        self._executor = executor

    async def search(self, query: SearchQuery) -> Found:
        """The chunks that best match, best first.

        Raises `SourceNotFound`, `DocumentNotFound`, `IndexBehind`, `DocumentsChanging` and
        `StoreUnavailable`.
        """
        for _ in range(ATTEMPTS):
            found = await self._search(query)
            if found is not None:
                return found
        message = "Documents are replaced faster than they can be read; repeat the call."
        raise DocumentsChanging(message, retry_after_seconds=1.0)

    async def _search(self, query: SearchQuery) -> Found | None:
        """None when a document was replaced between what was found of it and what was read: without it a
        question could seem to have no answer.
        """
        await check_scope(self._store, query.scope)
        await check_versions(self._store, query.at_least)
        revision = await self._store.revision()
        overview = await self._overviews.at(revision)
        with stage("route"):
            destination = await self._router.route(query, overview)
        with stage("normalise"):
            asked = await self._ask(query, destination, revision)
        if destination.is_nowhere:
            return Found(asked, (), Leg(), Leg(), None, revision)
        with stage("embed"):
            searched, asked_vector = await self._embed(asked)
        with stage("search"):
            pool = await self._pool(query, asked, searched)
        question = Question(asked_vector, asked.keyword_stems, asked.lexicon_stems)
        with stage("evidence"):
            loop = asyncio.get_running_loop()
            ranked, background = await loop.run_in_executor(
                self._executor, _weighed, pool, question, asked, query, overview
            )
            chunks = await self._store.chunks([scored.passage.chunk_id for scored in ranked])
        if background and self._model.name != MEASURED_MODEL:
            background = UNCALIBRATED
        if any(scored.passage.chunk_id not in chunks for scored in ranked):
            return None
        candidates = tuple(pool.candidate(scored, chunks[scored.passage.chunk_id]) for scored in ranked)
        return Found(asked, candidates, pool.vector, pool.keyword, background, revision)

    async def _ask(self, query: SearchQuery, destination: Destination, revision: str) -> Asked:
        text = destination.clause_question
        normalised = normalise(text, await self._glossary.terms(query.scope, revision))
        # Words that stand for names are in every passage: counted, they make any passage seem to answer.
        instead = set(stems_of(text)) - set(stems_of(query.text))
        keywords = (stem for stem in question_stems(normalised) if stem not in instead)
        of_lexicon = (stem for stem in lexicon_stems(text) if stem not in instead)
        return Asked(destination, normalised, tuple(keywords), tuple(of_lexicon))

    async def _embed(self, asked: Asked) -> tuple[Vector, Vector]:
        """Vectors of the normalised question, which is searched, and of its own words, which are weighed.

        Weighing by the normalised question costs .01 to .02 of hit@1.
        """
        if asked.normalised == asked.destination.clause_question:
            vector = await self._model.embed_query(asked.normalised)
            return vector, vector
        searched, weighed = await asyncio.gather(
            self._model.embed_query(asked.normalised),
            self._model.embed_query(asked.destination.clause_question),
        )
        return searched, weighed

    async def _pool(self, query: SearchQuery, asked: Asked, vector: Vector) -> Pool:
        mode = await self._mode(query.mode, asked)
        keywords = {
            # What the lexicon finds joins unranked. Without it .02 of hit@10 and .03 of hit@12 are missing.
            SearchMode.HYBRID: (asked.keyword_stems, asked.lexicon_stems),
            SearchMode.KEYWORD: (asked.keyword_stems,),
        }.get(mode, ())
        vector_k = query.limits.vector_k if mode is not SearchMode.KEYWORD else 0
        found = await self._store.search(
            Legs(vector, vector_k, keywords, query.limits.keyword_k), asked.destination.scope
        )
        return Pool(
            mode,
            Leg.of(found.vector),
            Leg.of(found.keywords[0]) if found.keywords else Leg(),
            found.passages,
        )

    async def _mode(self, mode: SearchMode, asked: Asked) -> SearchMode:
        if mode is not SearchMode.KEYWORD_FIRST:
            return mode
        best = await self._store.keyword_hits(asked.keyword_stems, 1, asked.destination.scope)
        return SearchMode.KEYWORD if best and best[0].score >= WEAK_BM25 else SearchMode.HYBRID


def rank(pool: Pool, question: Question, asked: Asked, overview: Overview) -> list[Scored]:
    """The pool with its evidence, best first; ties keep first appearance."""
    shares = {routed.document_id: routed.score for routed in asked.destination.routed}
    scored = []
    for passage, weighed in zip(
        pool.passages, weigh(question, pool.passages, overview.sample.statistics), strict=True
    ):
        vector = pool.vector.hits.get(passage.chunk_id)
        keyword = pool.keyword.hits.get(passage.chunk_id)
        score = weighed.evidence.combined + shares.get(passage.document_id, 0.0)
        if pool.mode is SearchMode.VECTOR and vector:
            score = vector.score
        if pool.mode is SearchMode.KEYWORD and keyword:
            score = keyword.score
        scored.append(Scored(passage, score, weighed))
    return sorted(scored, key=lambda candidate: -candidate.score)


def _weighed(
    pool: Pool, question: Question, asked: Asked, query: SearchQuery, overview: Overview
) -> tuple[list[Scored], Background | None]:
    best = rank(pool, question, asked, overview)[: query.limits.top_k]
    if not query.background:
        return best, None
    return best, overview.sample.background(question, {scored.passage.document_id for scored in best})
