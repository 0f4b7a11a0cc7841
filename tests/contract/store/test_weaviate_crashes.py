"""Whatever call of a write Weaviate fails, done or not done, the store shows what a dictionary would show."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import Any

import grpc
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import IncompleteVersion, IndexCounts, Store, StoreUnavailable
from services.retrieval.store.weaviate.keys import key_of
from services.retrieval.store.weaviate.objects import version_key
from services.retrieval.store.weaviate.stores import WeaviateStores
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import Draft, put, vector_of
from tests.fakes.weaviate_behaviours import Fails, Slow
from tests.fakes.weaviate_database import Database
from tests.fakes.weaviate_server import READY, WeaviateServer

ALL = Scope()
WORDS = ["fee", "licence", "audit", "notice", "term"]
TEXTS = [["fee licence"], ["fee audit\nnotice", "notice licence"], ["term", "fee\nfee", "audit notice term"]]
CALLS_OF_A_PUT = 30
CALLS_OF_A_REMOVAL = 12
"""They make about as many; a number beyond fails nothing."""
TENANT = "default"
ROUNDS = 5


class FailingServer(WeaviateServer):
    """Fails one call, or all from one on, before or after it did what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self._counting = threading.Lock()
        self.mend()

    def fail_at(self, number: int, *, done: bool, for_good: bool) -> None:
        """The call of this number, counted from 0; `done`: after it did what was asked."""
        self._left, self._done, self._for_good = number, done, for_good

    def mend(self) -> None:
        """Fail nothing more."""
        self._left, self._done, self._for_good = -1, False, False

    def _is_failing(self) -> tuple[bool, bool]:
        """Whether the next call fails, and whether it is done nevertheless."""
        with self._counting:
            if self._left > 0:
                self._left -= 1
                return False, True
            if self._left < 0:
                return False, True
            done = self._done
            if self._for_good:
                self._done = False  # what follows never arrives
            else:
                self._left = -1
            return True, done

    def _answer_grpc(self, call: str, sent: bytes, context: grpc.ServicerContext) -> bytes:
        failing, done = self._is_failing()
        reply = super()._answer_grpc(call, sent, context) if done else b""
        if failing:
            context.abort(grpc.StatusCode.INTERNAL, "the node was lost")
        return reply

    def _answer_rest(self, method: str, target: str, key: str, body: Any) -> tuple[int, bytes] | None:
        failing, done = (False, True) if target == READY else self._is_failing()
        answer = super()._answer_rest(method, target, key, body) if done else None
        return (500, b'{"error": []}') if failing else answer


def draft(path: str, number: int) -> Draft:
    return Draft(f"cme/{path}", TEXTS[number], generation=f"g{number}", terms=WORDS[:number])


PATHS = st.sampled_from(["a.txt", "b.txt"])
DRAFTS = st.builds(draft, PATHS, st.integers(0, len(TEXTS) - 1))
PROCESSES = st.integers(0, 1)


class StoreOnFailingWeaviate(RuleBasedStateMachine):
    """Two processes take turns at writing; any call of a write may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.server = FailingServer()
        self.server.start()
        self.runner = asyncio.Runner()
        at = RetrievalSettings(weaviate_url=self.server.url, weaviate_grpc_url=self.server.grpc_url)
        self.processes: list[WeaviateStores] = [self.run(weaviate_server.opened(at)) for _ in "12"]
        self.stores: list[Store] = [self.run(each.for_tenant(TENANT)) for each in self.processes]
        self.live: dict[DocumentId, Draft] = {}
        self.unsettled: set[DocumentId] = set()
        """Documents whose last write failed."""
        self.shown: dict[str, Any] = {}
        """What each revision was."""

    def run(self, awaited: Any) -> Any:
        return self.runner.run(awaited)

    def teardown(self) -> None:
        for each in self.processes:
            self.run(each.close())
        self.runner.close()
        self.server.__exit__()

    @rule(
        version=DRAFTS,
        process=PROCESSES,
        number=st.integers(0, CALLS_OF_A_PUT),
        done=st.booleans(),
        for_good=st.booleans(),
    )
    def replace(self, version: Draft, process: int, number: int, done: bool, for_good: bool) -> None:
        self.server.fail_at(number, done=done, for_good=for_good)
        document_id = version.version.document_id
        if self.succeeds(document_id, put(self.stores[process], version)):
            self.live[document_id] = version
        else:
            self.find_out(document_id, version)

    @rule(
        path=PATHS,
        process=PROCESSES,
        number=st.integers(0, CALLS_OF_A_REMOVAL),
        done=st.booleans(),
        for_good=st.booleans(),
    )
    def remove(self, path: str, process: int, number: int, done: bool, for_good: bool) -> None:
        self.server.fail_at(number, done=done, for_good=for_good)
        document_id = DocumentId(f"cme/{path}")
        if self.succeeds(document_id, self.stores[process].remove(document_id)):
            self.live.pop(document_id, None)
        else:
            self.find_out(document_id, None)

    @rule(version=DRAFTS, process=PROCESSES)
    def replace_without_failure(self, version: Draft, process: int) -> None:
        self.run(put(self.stores[process], version))
        self.live[version.version.document_id] = version
        self.is_settled(version.version.document_id)

    @rule(path=PATHS, process=PROCESSES)
    def remove_without_failure(self, path: str, process: int) -> None:
        document_id = DocumentId(f"cme/{path}")
        removed = self.run(self.stores[process].remove(document_id))
        assert (removed is None) == (self.live.pop(document_id, None) is None)
        self.is_settled(document_id)

    def succeeds(self, document_id: DocumentId, write: Awaitable[Any]) -> bool:
        self.unsettled.add(document_id)
        try:
            self.run(write)
        except StoreUnavailable:
            return False
        finally:
            self.server.mend()
        self.unsettled.remove(document_id)
        return True

    def find_out(self, document_id: DocumentId, wanted: Draft | None) -> None:
        """A write that failed was done or was not done."""
        document = self.run(self.stores[0].document(document_id))
        if wanted is None and document is None:
            self.live.pop(document_id, None)
        elif wanted is not None and document is not None and document.version == wanted.version:
            self.live[document_id] = wanted

    def is_settled(self, document_id: DocumentId) -> None:
        """A write that met no failure leaves nothing behind but what is live."""
        self.unsettled.discard(document_id)
        live = self.live.get(document_id)
        of_live = {str(version_key(live.version))} if live else set()
        for name, collection in self.server.database.collections.items():
            for each in collection.tenants[TENANT].objects.values():
                if each.properties.get("document_key") == str(key_of(document_id)):
                    assert "Staged" not in name
                    assert each.properties.get("version_key", *of_live or [None]) in of_live

    @invariant()
    def both_processes_show_what_is_live(self) -> None:
        for store in self.stores:
            self.run(self.shows_what_is_live(store))

    @invariant()
    def a_revision_shows_one_thing(self) -> None:
        if not self.unsettled:
            versions = sorted((each.version.document_id, each.generation) for each in self.live.values())
            revision = self.run(self.stores[0].revision())
            assert self.shown.setdefault(revision, versions) == versions

    async def shows_what_is_live(self, store: Store) -> None:
        versions = list(self.live.values())
        chunks = [each.chunk for version in versions for each in version.chunks]
        documents = await store.documents(ALL, None, 50)
        assert [each.version for each in documents] == [self.live[each].version for each in sorted(self.live)]
        assert await store.counts() == IndexCounts(
            len(versions),
            len(chunks),
            sum(len(version.definitions) for version in versions),
            sum(len(each.windows) for version in versions for each in version.chunks),
        )
        similar = await store.vector_hits(vector_of("fee"), 50, ALL)
        assert {hit.chunk_id for hit in similar} == {chunk.chunk_id for chunk in chunks}
        for word in WORDS:
            holding = {chunk.chunk_id for chunk in chunks if word in chunk.text.split()}
            assert {hit.chunk_id for hit in await store.keyword_hits(stems_of(word), 50, ALL)} == holding
            assert await store.count_term(stems_of(word), ALL) == len(holding)
        terms = {each.term for version in versions for each in version.definitions}
        assert set(await store.defined_terms(ALL)) == terms
        definitions = await store.definitions(WORDS, ALL)
        assert {each.definition_id for each in definitions} == {
            each.definition_id for version in versions for each in version.definitions
        }


class CollectingServer(WeaviateServer):
    """Loses the chunks of a version right before its flip, as when another process took it for dead."""

    losing: str = ""

    def _answer_grpc(self, call: str, sent: bytes, context: grpc.ServicerContext) -> bytes:
        if self.losing and call == "BatchObjects" and self.losing.encode() in sent and b"chunk_count" in sent:
            self._locked(self._lose)
        return super()._answer_grpc(call, sent, context)

    def _lose(self, database: Database) -> None:
        for name, collection in database.collections.items():
            if "Chunk_" in name:
                objects = collection.tenants[TENANT].objects
                dead = [key for key, each in objects.items() if each.properties["generation"] == self.losing]
                for key in dead:
                    del objects[key]


async def test_a_version_whose_chunks_are_collected_at_its_flip_is_not_acknowledged() -> None:
    with CollectingServer() as server:
        at = RetrievalSettings(weaviate_url=server.url, weaviate_grpc_url=server.grpc_url)
        opened = await weaviate_server.opened(at)
        store = await opened.for_tenant(TENANT)
        await put(store, OLD)
        await store.put_chunks(NEW.version, NEW.chunks)
        await store.put_definitions(NEW.version, NEW.definitions)
        server.losing = NEW.generation
        with pytest.raises(IncompleteVersion):
            await store.commit(NEW.document)
        await opened.close()


OLD, NEW = draft("a.txt", 1), draft("a.txt", 2)
Processes = tuple[WeaviateServer, Store, Store]
DIES_BEFORE_ITS_REVISION = (Slow(0), Fails())


@pytest.fixture
async def processes() -> AsyncIterator[Processes]:
    """A server, and the stores of two processes with the old version of a document."""
    with WeaviateServer() as server:
        at = RetrievalSettings(weaviate_url=server.url, weaviate_grpc_url=server.grpc_url)
        opened = [await weaviate_server.opened(at) for _ in "12"]
        first, second = [await each.for_tenant(TENANT) for each in opened]
        await put(first, OLD)
        yield server, first, second
        for each in opened:
            await each.close()


async def test_a_repeated_removal_gives_the_revision_that_the_first_one_could_not(
    processes: Processes,
) -> None:
    server, first, second = processes
    before = await second.revision()
    server.play("BatchObjects", *DIES_BEFORE_ITS_REVISION)
    with pytest.raises(StoreUnavailable):
        await first.remove(OLD.version.document_id)
    assert await second.document(OLD.version.document_id) is None
    assert await second.remove(OLD.version.document_id) is None
    assert await second.revision() != before


async def test_a_flip_whose_revision_failed_has_one_before_it_is_asked_for(processes: Processes) -> None:
    server, first, second = processes
    before = await first.revision()
    await first.put_chunks(NEW.version, NEW.chunks)
    await first.put_definitions(NEW.version, NEW.definitions)
    server.play("BatchObjects", *DIES_BEFORE_ITS_REVISION, Fails())
    with pytest.raises(StoreUnavailable):
        await first.commit(NEW.document)
    assert await first.revision() == before  # it fails once more, and the caller is answered
    after = await first.revision()
    assert after == await first.revision() == await second.revision() != before


async def test_chunks_that_come_after_their_version_was_collected_are_not_counted(
    processes: Processes,
) -> None:
    server, first, second = processes
    late = Draft(OLD.document_id, ["royalty one", "royalty two"], generation="late")
    await first.put_chunks(late.version, late.chunks[:1])
    begun = server.calls.count("BatchObjects")
    server.play("BatchObjects", Slow(2))
    putting = asyncio.create_task(first.put_chunks(late.version, late.chunks[1:]))
    async with asyncio.timeout(30):
        while server.calls.count("BatchObjects") == begun:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await put(second, NEW)
    await putting
    with pytest.raises(IncompleteVersion):
        await first.commit(late.document)
    assert await second.count_term(stems_of("royalty"), ALL) == 0
    await put(second, OLD)
    assert await second.staged(late.version) == {}


async def test_two_processes_that_write_a_document_at_once_leave_a_whole_one_or_none(
    processes: Processes,
) -> None:
    _, first, second = processes
    path, terms = OLD.document_id, ["Fee"]

    async def write(store: Store, generation: str) -> None:
        with suppress(IncompleteVersion):
            await put(store, Draft(path, [f"fee {generation}", "fee"], generation=generation, terms=terms))

    for number in range(ROUNDS):
        writers = [write(each, f"{number}-{name}") for each in (first, second) for name in "ab"]
        await asyncio.gather(*writers, first.remove(OLD.version.document_id))
        document = await second.document(OLD.version.document_id)
        counts = await second.counts()
        assert counts == (IndexCounts(1, 2, 1, 2) if document else IndexCounts(0, 0, 0, 0))
        assert len(await second.chunks_of(OLD.version.document_id, None, 9)) == counts.chunks
        assert len(await second.definitions(["fee"], ALL)) == counts.definitions
        assert await second.count_term(["fee"], ALL) == counts.chunks


class TestStoreOnFailingWeaviate(StoreOnFailingWeaviate.TestCase):  # type: ignore[valid-type,misc]
    settings = settings(max_examples=2, stateful_step_count=15, deadline=None)


@pytest.mark.soak
class TestStoreOnFailingWeaviateForLong(StoreOnFailingWeaviate.TestCase):  # type: ignore[valid-type,misc]
    settings = settings(max_examples=200, stateful_step_count=20, deadline=None)
