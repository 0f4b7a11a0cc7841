"""Whatever is done to two stores alike, both show the same documents and give the same hits."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corpus.documents import DocumentId, Version
from corpus.stems import stems_of
from services.retrieval.corpus import Hits, Scope
from services.retrieval.store.port import Store
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import Draft, open_embedded, put, vector_of

WORDS = ["fee", "licence", "audit", "notice", "10b-5", "real-time", "s&p"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
CHUNKS = st.lists(st.lists(TEXTS, min_size=1, max_size=3).map("\n".join), min_size=1, max_size=4)
SOURCES = st.sampled_from(["cme", "opra"])
PATHS = st.sampled_from(["a.txt", "b.txt", "c.txt"])
SCOPES = st.sampled_from([Scope(), Scope(("cme",)), Scope(document_ids=(DocumentId("opra/a.txt"),))])
MORE_THAN_ALL = 50


class TwoStores(RuleBasedStateMachine):
    """Compares the embedded store with another; `open_other` is the other's own."""

    open_other: ClassVar = staticmethod(weaviate_server.open_on_fake)

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.opened = [open_embedded(), self.open_other()]
        self.stores = [self.runner.run(each.__aenter__()) for each in self.opened]
        self.written = 0
        self.documents: set[str] = set()
        self.only_new = True
        """Nothing was replaced or removed: each engine's BM25 forgets deleted chunks in its own time."""

    def teardown(self) -> None:
        for each in self.opened:
            self.runner.run(each.__aexit__(None, None, None))
        self.runner.close()

    @rule(source=SOURCES, path=PATHS, texts=CHUNKS)
    def replace(self, source: str, path: str, texts: list[str]) -> None:
        self.written += 1
        draft = Draft(f"{source}/{path}", texts, generation=f"g{self.written}")
        for store in self.stores:
            self.runner.run(put(store, draft))
        self.only_new &= draft.document_id not in self.documents
        self.documents.add(draft.document_id)

    @rule(source=SOURCES, path=PATHS)
    def remove(self, source: str, path: str) -> None:
        removed = [self.runner.run(store.remove(DocumentId(f"{source}/{path}"))) for store in self.stores]
        assert removed.count(None) in (0, 2)
        self.only_new &= None in removed

    @rule(question=TEXTS, scope=SCOPES)
    def find_by_words(self, question: str, scope: Scope) -> None:
        ours, theirs = (
            self.runner.run(store.keyword_hits(stems_of(question), MORE_THAN_ALL, scope))
            for store in self.stores
        )
        assert _ids(ours) == _ids(theirs)
        if self.only_new:
            assert _scores(theirs) == pytest.approx(_scores(ours), rel=1e-3)

    @rule(text=TEXTS, scope=SCOPES)
    def find_by_meaning(self, text: str, scope: Scope) -> None:
        ours, theirs = (
            self.runner.run(store.vector_hits(vector_of(text), MORE_THAN_ALL, scope)) for store in self.stores
        )
        assert _scores(theirs) == pytest.approx(_scores(ours), abs=1e-5)

    @rule(text=TEXTS, k=st.integers(1, 4))
    def find_the_best(self, text: str, k: int) -> None:
        ours, theirs = (
            self.runner.run(store.vector_hits(vector_of(text), k, Scope())) for store in self.stores
        )
        assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], abs=1e-5)

    @invariant()
    def both_show_the_same_documents(self) -> None:
        ours, theirs = (self.runner.run(_versions(store)) for store in self.stores)
        assert ours == theirs


async def _versions(store: Store) -> list[Version]:
    return [each.version for each in await store.documents(Scope(), None, MORE_THAN_ALL)]


def _ids(hits: Hits) -> set[str]:
    return {hit.chunk_id for hit in hits}


def _scores(hits: Hits) -> dict[str, float]:
    return {hit.chunk_id: hit.score for hit in hits}


class TestEmbeddedStoreAndFake(TwoStores.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=4, stateful_step_count=15, deadline=None)


if weaviate_server.URL:

    class EmbeddedStoreAndWeaviate(TwoStores):
        open_other: ClassVar = staticmethod(weaviate_server.open_weaviate)

    @pytest.mark.weaviate
    class TestEmbeddedStoreAndWeaviate(EmbeddedStoreAndWeaviate.TestCase):  # type: ignore[name-defined,misc]
        settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
