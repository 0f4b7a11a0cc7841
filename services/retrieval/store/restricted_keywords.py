"""Keyword legs whose scores rest on some sources of a store alone.

An engine weighs a word by how many chunks of the whole index hold it. A caller that sees some of them could
read from its scores how many others hold a word: whether there is a contract with a certain name. So what the
engine finds in the own sources, more than is wanted, is scored again: BM25 with the number, the mean length
and the words of the own chunks. What is left to the engine is which of the own chunks are among the best
`most(k)`, before they are scored.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from corpus.chunks import Chunk, ChunkId
from corpus.stems import stems_of
from services.retrieval.bm25 import Bag, bm25, lucene_idf
from services.retrieval.corpus import Hit, Hits, Passage, Scope
from services.retrieval.store.port import LegHits, Legs, Store

MIN_FOUND = 50
"""Chunks that a leg takes from the engine at least."""
MAX_MORE = 200
"""Chunks beyond those wanted that a leg takes from the engine at most."""
MAX_COUNTED = 20_000
"""Stems whose count is kept, of one state of the sources."""
NO_VECTOR = np.zeros(0, np.float32)


def most(k: int) -> int:
    """How many chunks to take from the engine where `k` are wanted: four times as many, within bounds."""
    return min(max(4 * k, MIN_FOUND), k + MAX_MORE) if k > 0 else 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of words in the caller's own chunks at one revision."""

    chunks: int
    mean_stems: float
    holding: dict[str, int] = field(default_factory=dict)
    """Chunks that hold a stem, of those stems that were counted."""

    def score(self, question: Sequence[str], bag: Bag) -> float:
        """BM25 of a chunk whose words are counted; one that came meanwhile is taken for one of these."""
        found = {stem: self.holding[stem] for stem in question if stem in bag.counts}
        idf = {stem: lucene_idf(max(self.chunks, count), count) for stem, count in found.items()}
        return bm25([stem for stem in question if stem in idf], bag, idf, self.mean_stems)


class OwnKeywords:
    """Searches what lies in the scope `own` of a store."""

    def __init__(self, store: Store, own: Scope, revision: Callable[[], Awaitable[str]]) -> None:
        """`revision` is that of what lies in `own`."""
        self._store = store
        self._own = own
        self._revision = revision
        self._kept: tuple[str, Statistics] | None = None

    async def hits(self, wanted: Sequence[str], k: int, within: Scope) -> Hits:
        """The best by words alone; `within` is a part of `own`."""
        return (await self.search(Legs(NO_VECTOR, 0, [wanted], k), within)).keywords[0]

    async def search(self, legs: Legs, within: Scope) -> LegHits:
        """What the legs find; `within` is a part of `own`."""
        found = await self._store.search(replace(legs, keyword_k=most(legs.keyword_k)), within)
        passages = {passage.chunk_id: passage for passage in found.passages}
        bags = await self._bags(legs, found, passages)
        statistics = await self._statistics({stem for bag in bags.values() for stem in bag.counts})
        keywords = [
            _best({hit.chunk_id: statistics.score(stems, bags[hit.chunk_id]) for hit in hits}, legs.keyword_k)
            for stems, hits in zip(legs.keywords, found.keywords, strict=True)
        ]
        ids = dict.fromkeys(hit.chunk_id for hits in (found.vector, *keywords) for hit in hits)
        return LegHits(found.vector, keywords, [passages[chunk_id] for chunk_id in ids])

    async def _bags(
        self, legs: Legs, found: LegHits, passages: Mapping[ChunkId, Passage]
    ) -> dict[ChunkId, Bag]:
        """The words that each chunk of a keyword leg holds of those that are looked for."""
        ids = list(dict.fromkeys(hit.chunk_id for hits in found.keywords for hit in hits))
        chunks = await self._store.chunks(ids)
        asked = frozenset(stem for stems in legs.keywords for stem in stems)
        return {chunk_id: _bag(passages[chunk_id].stems, chunks.get(chunk_id), asked) for chunk_id in ids}

    async def _statistics(self, wanted: Set[str]) -> Statistics:
        """Those of now, with the counts of the stems that are wanted."""
        revision = await self._revision()
        if self._kept is None or self._kept[0] != revision:
            counts, mean = await asyncio.gather(
                self._store.counts(self._own), self._store.mean_stems(self._own)
            )
            self._kept = (revision, Statistics(counts.chunks, mean))
        statistics = self._kept[1]
        missing = [stem for stem in wanted if stem not in statistics.holding]
        if len(statistics.holding) + len(missing) > MAX_COUNTED:
            statistics = Statistics(statistics.chunks, statistics.mean_stems)
            self._kept = (revision, statistics)
            missing = list(wanted)
        counted = await asyncio.gather(*(self._store.count_term([stem], self._own) for stem in missing))
        statistics.holding.update(zip(missing, counted, strict=True))
        return statistics


def _bag(text: Sequence[str], chunk: Chunk | None, asked: Set[str]) -> Bag:
    """Words of text and headings; as long as the text. A chunk that is gone meanwhile has no headings."""
    headings = " ".join([*chunk.heading_chain, chunk.table_header]) if chunk else ""
    return Bag(Counter(filter(asked.__contains__, [*text, *stems_of(headings)])), len(text))


def _best(scores: Mapping[ChunkId, float], k: int) -> Hits:
    hits = [Hit(chunk_id, score) for chunk_id, score in scores.items()]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(k, 0)])
