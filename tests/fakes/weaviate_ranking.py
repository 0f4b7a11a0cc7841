"""Rankings of the fake Weaviate: BM25 over stored tokens, and late interaction over several vectors."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection as Set
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from tests.fakes.weaviate_database import Collection, Lengths, Refused, Stored, Tenant
from tests.fakes.weaviate_schema import SPACE, Unsupported

K1, B = 1.2, 0.75
Ranking = list[tuple[Stored, float]]
"""Best first; a score, or a distance."""


def keyword_ranking(
    collection: Collection,
    tenant: Tenant,
    query: str,
    properties: Sequence[str],
    limit: int,
    allowed: Set[UUID] | None,
) -> Ranking:
    """The best objects by BM25, summed over the properties.

    As the real server does: a token that a query holds twice counts twice; its idf is that of its mean number
    of holders among the properties that have it; of each property only the best (a tenth more than asked for,
    ten at least) are summed up; the factor (k1 + 1) is left out.
    """
    if not query:
        raise Refused("keyword search (bm25) must have query set")
    names = [_searchable(collection, name) for name in properties]
    idfs = _idfs(Counter(token for token in SPACE.split(query) if token), names, tenant)
    sums: dict[UUID, float] = defaultdict(float)
    for name in names:
        scores = {
            uuid: _score(stored.terms[name], idfs, tenant.lengths[name])
            for uuid, stored in tenant.objects.items()
            if (allowed is None or uuid in allowed) and stored.terms.get(name, {}).keys() & idfs.keys()
        }
        for uuid in heapq.nlargest(max(limit * 11 // 10, limit + 10), scores, key=scores.__getitem__):
            sums[uuid] += scores[uuid]
    best = heapq.nlargest(limit, sums, key=sums.__getitem__)
    return [(tenant.objects[uuid], sums[uuid]) for uuid in best]


def _searchable(collection: Collection, name: str) -> str:
    if "^" in name:
        raise Unsupported("boosts of properties")
    searched = collection.property(name)
    if not searched.searchable:
        raise Refused(
            f"Searching by property '{name}' requires inverted index. Is `indexSearchable` option of "
            f"property '{name}' enabled? Set it to `true` or leave empty"
        )
    if searched.tokenization != "whitespace":
        raise Unsupported("BM25 over texts that are not split at white space")
    return name


def _idfs(tokens: Counter[str], names: Sequence[str], tenant: Tenant) -> dict[str, float]:
    holders = {name: Counter[str]() for name in names}
    for stored in tenant.objects.values():
        for name in stored.terms.keys() & holders.keys():
            holders[name].update(stored.terms[name].keys() & tokens.keys())
    idfs = {}
    for token, times in tokens.items():
        if counts := [held[token] for held in holders.values() if held[token]]:
            mean = sum(counts) // len(counts)
            idfs[token] = times * math.log(1 + (len(tenant.objects) - mean + 0.5) / (mean + 0.5))
    return idfs


def _score(terms: Counter[str], idfs: Mapping[str, float], lengths: Lengths) -> float:
    norm = K1 * (1 - B + B * terms.total() * lengths.objects / lengths.tokens)
    return sum(idf * terms[token] / (terms[token] + norm) for token, idf in idfs.items())


def vector_ranking(
    tenant: Tenant, name: str, query: np.ndarray, limit: int, allowed: Set[UUID] | None
) -> Ranking:
    """The nearest objects: the least distance of a vector of theirs, summed up over the rows of the query.

    As the real server does: without a filter only the objects of the nearest vectors of each row are looked
    at, so that fewer may come than asked for; with one all of its objects are.
    """
    if tenant.dimensions.get(name) != query.shape[1]:
        return []
    distances = {
        uuid: -_unit(query) @ stored.vectors[name].T
        for uuid, stored in tenant.objects.items()
        if name in stored.vectors and (allowed is None or uuid in allowed)
    }
    if allowed is None:
        distances = {uuid: distances[uuid] for uuid in _nearest(distances, _looked_at(limit))}
    totals = {uuid: float(each.min(axis=1).sum()) for uuid, each in distances.items()}
    best = heapq.nsmallest(limit, totals.items(), key=lambda item: item[1])
    return [(tenant.objects[uuid], distance) for uuid, distance in best]


def _looked_at(limit: int) -> int:
    """How many vectors the real server takes into account, with `ef` left to it."""
    return max(limit, min(max(8 * limit, 100), 500))


def _nearest(distances: dict[UUID, np.ndarray], limit: int) -> set[UUID]:
    """The objects of the `limit` nearest vectors of each row of the query."""
    rows = len(next(iter(distances.values()))) if distances else 0
    found: set[UUID] = set()
    for row in range(rows):
        pairs = ((float(distance), uuid) for uuid, each in distances.items() for distance in each[row])
        found |= {uuid for _, uuid in heapq.nsmallest(limit, pairs)}
    return found


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
