"""Both legs of a search, over one view of the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from typing_extensions import override

from corpus.chunks import ChunkId
from services.retrieval.corpus import Hit, Hits, Scope, Vector
from services.retrieval.store.embedded.codes import Numbers
from services.retrieval.store.embedded.rows import IN_SCOPE, read_passage, scope_values
from services.retrieval.store.embedded.threads import Threads
from services.retrieval.store.embedded.view import CurrentView, View
from services.retrieval.store.port import LegHits, Legs, Store

P = ParamSpec("P")
T = TypeVar("T")

RESCORED_WINDOWS = 300
"""Windows that are scored exactly when the whole index is searched: the best by their codes."""
EXACT_WINDOWS = 2000
"""A scope of no more windows than this is scored exactly, all of it."""
LIVE_IDS = """
    SELECT c.number, c.chunk_id FROM chunks c JOIN versions v ON v.number = c.version
    WHERE v.live AND c.number IN (SELECT value FROM json_each(?))
"""
PASSAGES = """
    SELECT c.chunk_id, v.document_id, c.windows, c.stems, e.data
    FROM chunks c JOIN versions v ON v.number = c.version JOIN vectors e ON e.chunk = c.number
    WHERE c.chunk_id IN (SELECT value FROM json_each(?))
"""
VECTORS = "SELECT chunk, data FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))"


class Searching(Store):
    """The part of a `Store` that is answered by the indexes that are derived from the database."""

    _threads: Threads
    _current: CurrentView

    @override
    async def keyword_hits(self, stems: Sequence[str], k: int, scope: Scope) -> Hits:
        return await self._at_one_moment(_by_keywords, stems, k, scope)

    @override
    async def vector_hits(self, vector: Vector, k: int, scope: Scope) -> Hits:
        return await self._at_one_moment(_by_vector, vector, k, scope)

    @override
    async def search(self, legs: Legs, scope: Scope) -> LegHits:
        return await self._at_one_moment(_by_all_legs, legs, scope)

    @override
    async def count_term(self, stems: Sequence[str], scope: Scope) -> int:
        return await self._at_one_moment(lambda view, _: view.keywords.count(stems, scope, view.stale))

    async def _at_one_moment(
        self, read: Callable[Concatenate[View, sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Read from all three indexes in the state of one moment."""

        def work() -> T:
            with self._current.reading() as (view, connection):
                return read(view, connection, *args, **kwargs)

        return await self._threads.read(work)


def _by_all_legs(view: View, connection: sqlite3.Connection, legs: Legs, scope: Scope) -> LegHits:
    """What all legs find, one after the other: side by side they would wait for each other's locks."""
    vector = _by_vector(view, connection, legs.vector, legs.vector_k, scope)
    keywords = [_by_keywords(view, connection, stems, legs.keyword_k, scope) for stems in legs.keywords]
    ids = list(dict.fromkeys(hit.chunk_id for hits in (vector, *keywords) for hit in hits))
    found = map(read_passage, connection.execute(PASSAGES, (json.dumps(ids),)))
    passages = {passage.chunk_id: passage for passage in found}
    return LegHits(vector, keywords, [passages[chunk_id] for chunk_id in ids])


def _by_keywords(
    view: View, connection: sqlite3.Connection, stems: Sequence[str], k: int, scope: Scope
) -> Hits:
    if k < 1 or not stems:
        return ()
    enough = k + view.stale_chunks
    limit = 2 * enough
    found = view.keywords.hits(stems, limit, scope)
    # Ties go by chunk id, so all that tie with the last one have to be seen.
    while len(found) == limit and found[-1][1] == found[enough - 1][1]:
        limit *= 4
        found = view.keywords.hits(stems, limit, scope)
    return _best(connection, dict(found), k)


def _by_vector(view: View, connection: sqlite3.Connection, vector: Vector, k: int, scope: Scope) -> Hits:
    if k < 1:
        return ()
    versions = _versions(view, connection, scope)
    count = max(RESCORED_WINDOWS, 5 * k)
    if versions is not None and view.codes.count(versions) <= EXACT_WINDOWS:
        count = EXACT_WINDOWS
    near = view.codes.nearest(vector, count, versions)
    scores = _similarities(connection, near, vector)
    if len(scores) > 2 * k:
        least = sorted(scores.values(), reverse=True)[k - 1]
        scores = {chunk: score for chunk, score in scores.items() if score >= least}
    return _best(connection, scores, k)


def _versions(view: View, connection: sqlite3.Connection, scope: Scope) -> frozenset[int] | None:
    """Numbers of the live versions in scope; None for all, which is faster."""
    if not scope.sources and not scope.document_ids:
        return None
    query = f"SELECT v.number FROM versions v WHERE {IN_SCOPE}"  # noqa: S608
    versions = frozenset(row["number"] for row in connection.execute(query, scope_values(scope)))
    return None if view.codes.places.keys() <= versions else versions


def _similarities(connection: sqlite3.Connection, chunks: Numbers, vector: Vector) -> dict[int, float]:
    """The cosine of each chunk's best window."""
    found = connection.execute(VECTORS, (json.dumps(chunks.tolist()),)).fetchall()
    if not found:
        return {}
    windows = np.frombuffer(b"".join(row["data"] for row in found), np.float32).reshape(-1, len(vector))
    sizes = [len(row["data"]) // vector.nbytes for row in found]
    # einsum, not a matrix product: equal windows get equal scores wherever they stand, so that ties are ties.
    best = np.maximum.reduceat(np.einsum("wd,d->w", windows, vector), np.cumsum([0, *sizes[:-1]]))
    return {row["chunk"]: score for row, score in zip(found, best.tolist(), strict=True)}


def _best(connection: sqlite3.Connection, scores: Mapping[int, float], k: int) -> Hits:
    """The best live chunks of these numbers."""
    ids = connection.execute(LIVE_IDS, (json.dumps(list(scores)),))
    hits = [Hit(ChunkId(row["chunk_id"]), scores[row["number"]]) for row in ids]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k])
