"""Both legs of a search, over one view of the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from services.retrieval.corpus import ChunkId, Hit, Hits, Scope, Vector
from services.retrieval.store.embedded.codes import Numbers
from services.retrieval.store.embedded.rows import IN_SCOPE, read_passage, scope_values
from services.retrieval.store.embedded.view import View
from services.retrieval.store.port import LegHits, Legs

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


def search(view: View, connection: sqlite3.Connection, legs: Legs, scope: Scope) -> LegHits:
    """See `Store.search`. One leg after the other: side by side they would wait for each other's locks."""
    vector = vector_hits(view, connection, legs.vector, legs.vector_k, scope)
    keywords = [keyword_hits(view, connection, stems, legs.keyword_k, scope) for stems in legs.keywords]
    ids = list(dict.fromkeys(hit.chunk_id for hits in (vector, *keywords) for hit in hits))
    found = map(read_passage, connection.execute(PASSAGES, (json.dumps(ids),)))
    passages = {passage.chunk_id: passage for passage in found}
    return LegHits(vector, keywords, [passages[chunk_id] for chunk_id in ids])


def keyword_hits(
    view: View, connection: sqlite3.Connection, stems: Sequence[str], k: int, scope: Scope
) -> Hits:
    """See `Store.keyword_hits`."""
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


def vector_hits(view: View, connection: sqlite3.Connection, vector: Vector, k: int, scope: Scope) -> Hits:
    """See `Store.vector_hits`."""
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


def count_term(view: View, _: sqlite3.Connection, stems: Sequence[str], scope: Scope) -> int:
    """See `Store.count_term`."""
    return view.keywords.count(stems, scope, view.stale)


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
