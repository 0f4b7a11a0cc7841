"""Whatever is done to a store, it shows what a dictionary of documents would show."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.store.port import IncompleteVersion, IndexCounts
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import Draft, open_embedded, put, vector_of

WORDS = ["fee", "licence", "audit", "notice", "term"]
PATHS = st.sampled_from(["a.txt", "b.txt", "c.txt"])
SOURCES = ("cme", "opra")
VERSIONS = [
    ["fee licence"],
    ["fee audit\nnotice", "notice licence"],
    ["term", "fee\nfee\nfee", "audit notice term"],
]


def draft(source: str, path: str, number: int) -> Draft:
    return Draft(f"{source}/{path}", VERSIONS[number], generation=f"g{number}", terms=WORDS[:number])


DRAFTS = st.builds(draft, st.sampled_from(SOURCES), PATHS, st.integers(0, len(VERSIONS) - 1))


class StoreAsDictionary(RuleBasedStateMachine):
    """Compares a store with what was committed to it; `open_store` is the store's own."""

    open_store: ClassVar = staticmethod(open_embedded)

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.opened = self.open_store()
        self.store = self.runner.run(self.opened.__aenter__())
        self.live: dict[DocumentId, Draft] = {}

    def teardown(self) -> None:
        self.runner.run(self.opened.__aexit__(None, None, None))
        self.runner.close()

    @rule(version=DRAFTS)
    def replace(self, version: Draft) -> None:
        committed = self.runner.run(put(self.store, version))
        older = self.live.get(version.version.document_id)
        assert committed.replaced == (older is not None and older.version != version.version)
        self.live[version.version.document_id] = version

    @rule(version=DRAFTS, count=st.integers(1, 2))
    def stage(self, version: Draft, count: int) -> None:
        self.runner.run(self.store.put_chunks(version.version, version.chunks[:count]))
        assert set(version.ids[:count]) <= set(self.runner.run(self.store.staged(version.version)))

    @rule(version=DRAFTS)
    def commit_what_is_staged(self, version: Draft) -> None:
        complete = set(self.runner.run(self.store.staged(version.version))) == set(version.ids)
        try:
            self.runner.run(self.store.commit(version.document))
        except IncompleteVersion:
            assert not complete or version.definitions
        else:
            assert complete
            self.live[version.version.document_id] = version

    @rule(versions=st.lists(DRAFTS, max_size=4, unique_by=lambda each: each.document_id))
    def replace_several_at_once(self, versions: list[Draft]) -> None:
        async def all_at_once() -> None:
            await asyncio.gather(*(put(self.store, version) for version in versions))

        self.runner.run(all_at_once())
        self.live |= {version.version.document_id: version for version in versions}

    @rule(source=st.sampled_from(SOURCES), path=PATHS)
    def remove(self, source: str, path: str) -> None:
        document_id = DocumentId(f"{source}/{path}")
        removed = self.runner.run(self.store.remove(document_id))
        assert (removed is None) == (self.live.pop(document_id, None) is None)

    @rule(word=st.sampled_from(WORDS), scope=st.sampled_from([(), ("cme",), ("cme", "opra")]))
    def search(self, word: str, scope: tuple[str, ...]) -> None:
        within = Scope(sources=scope)
        chunks = [
            embedded.chunk
            for version in self.live.values()
            for embedded in version.chunks
            if not scope or embedded.chunk.source in scope
        ]
        holding = {chunk.chunk_id for chunk in chunks if word in chunk.text.split()}
        keyword = self.runner.run(self.store.keyword_hits(stems_of(word), 50, within))
        similar = self.runner.run(self.store.vector_hits(vector_of(word), 50, within))
        assert {hit.chunk_id for hit in keyword} == holding
        assert {hit.chunk_id for hit in similar} == {chunk.chunk_id for chunk in chunks}
        assert self.runner.run(self.store.count_term(stems_of(word), within)) == len(holding)

    @invariant()
    def live_documents_are_visible(self) -> None:
        documents = self.runner.run(self.store.documents(Scope(), None, 50))
        assert [each.version for each in documents] == [
            self.live[document_id].version for document_id in sorted(self.live)
        ]
        assert self.runner.run(self.store.counts()) == IndexCounts(
            documents=len(self.live),
            chunks=sum(len(version.chunks) for version in self.live.values()),
            definitions=sum(len(version.definitions) for version in self.live.values()),
            windows=sum(len(chunk.windows) for version in self.live.values() for chunk in version.chunks),
        )


class TestEmbeddedStore(StoreAsDictionary.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=10, stateful_step_count=25, deadline=None)


class StoreAsDictionaryInFake(StoreAsDictionary):
    open_store: ClassVar = staticmethod(weaviate_server.open_on_fake)


class TestFakeWeaviateStore(StoreAsDictionaryInFake.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=4, stateful_step_count=15, deadline=None)


@pytest.mark.soak
class TestEmbeddedStoreForLong(StoreAsDictionary.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=300, stateful_step_count=25, deadline=None)


@pytest.mark.soak
class TestFakeWeaviateStoreForLong(StoreAsDictionaryInFake.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=100, stateful_step_count=25, deadline=None)


if weaviate_server.URL:

    class StoreAsDictionaryInWeaviate(StoreAsDictionary):
        open_store: ClassVar = staticmethod(weaviate_server.open_weaviate)

    @pytest.mark.weaviate
    class TestWeaviateStore(StoreAsDictionaryInWeaviate.TestCase):  # type: ignore[name-defined,misc]
        settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
