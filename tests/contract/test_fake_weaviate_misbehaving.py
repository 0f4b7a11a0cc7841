"""What the fake Weaviate does when it is told to misbehave, and what the store makes of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import httpx
import pytest

from corpus.stems import stems_of
from services.retrieval.corpus import Article, ArticleId, Scope
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import StoreUnavailable
from tests.contract.store.drafts import Draft, put
from tests.contract.store.weaviate_server import opened
from tests.fakes.weaviate_behaviours import DISK_FULL, Fails, Garbage, Hangs, RejectsObjects, Slow
from tests.fakes.weaviate_schema import Unsupported
from tests.fakes.weaviate_server import CALLS, REST, WeaviateServer

OLD = Draft("cme/fees.txt", ["fees due", "fees late", "fees paid"], terms=["Fee"])
NEW = Draft("cme/fees.txt", ["fees due soon", "fees later", "fees"], generation="g2", terms=["Fee"])
COMPILED_AT = datetime(2025, 6, 1, tzinfo=UTC)
ARTICLE = Article(ArticleId("fees"), "Fees", Scope(("cme",)), frozenset(), COMPILED_AT, b"fees", "# Fees")
READ_SECONDS = 0.5
PATIENCE_SECONDS = 20


@pytest.fixture
def server():
    with WeaviateServer() as server:
        yield server


@asynccontextmanager
async def store_on(server, **settings):
    where = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
    stores = await opened(RetrievalSettings(**where, **settings))
    try:
        yield await stores.for_tenant("default")
    finally:
        await stores.close()


@pytest.fixture
async def store(server):
    """With the old version of a document."""
    async with store_on(server) as store:
        await put(store, OLD)
        yield store


@pytest.fixture
async def impatient(server, store):
    """The same, which waits for a read for a short time only."""
    async with store_on(server, weaviate_read_seconds=READ_SECONDS) as impatient:
        yield impatient


async def found(store):
    return {hit.chunk_id for hit in await store.keyword_hits(stems_of("fees"), 9, Scope())}


async def found_again(store):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with suppress(StoreUnavailable):
                return await found(store)
            await asyncio.sleep(0.05)


async def test_objects_that_are_rejected_once_are_stored_by_the_repeat(server, store):
    await store.put_chunks(NEW.version, NEW.chunks[:1])
    server.play("BatchObjects", RejectsObjects("busy", every=2))
    await put(store, NEW)
    assert await found(store) == set(NEW.ids)


@pytest.mark.parametrize("every", [1, 2])
async def test_objects_that_stay_rejected_leave_the_old_version_and_the_write_can_be_repeated(
    server, store, every
):
    server.always("BatchObjects", RejectsObjects("busy", every))
    with pytest.raises(StoreUnavailable):
        await put(store, NEW)
    assert await found(store) == set(OLD.ids)
    server.always("BatchObjects", None)
    await put(store, NEW)
    assert await found(store) == set(NEW.ids)


async def test_a_full_disk_is_named_searches_go_on_and_the_write_can_be_repeated(server, store):
    server.database.read_only = DISK_FULL
    with pytest.raises(StoreUnavailable, match="disk"):
        await put(store, NEW)
    with pytest.raises(StoreUnavailable, match="disk"):
        await store.records.put_article(ARTICLE)
    with pytest.raises(StoreUnavailable):
        await store.remove(OLD.version.document_id)
    assert await found(store) == set(OLD.ids)
    server.database.read_only = ""
    await put(store, NEW)
    assert await found(store) == set(NEW.ids)


@pytest.mark.parametrize(
    "behaviour",
    [
        Fails(),
        Fails(code="UNAVAILABLE"),
        Garbage(),
        Hangs(),
        Slow(2 * READ_SECONDS),
    ],
    ids=["fails", "is away", "answers garbage", "hangs", "is slow"],
)
async def test_a_search_that_is_not_answered_well_is_unavailable_and_the_next_one_works(
    server, impatient, behaviour
):
    server.play("Search", behaviour)
    with pytest.raises(StoreUnavailable):
        await found(impatient)
    assert await found_again(impatient) == set(OLD.ids)


async def test_what_a_server_holds_outlives_its_stop(server, store):
    server.stop()
    with pytest.raises(StoreUnavailable):
        await found(store)
    server.start()
    assert await found_again(store) == set(OLD.ids)


async def test_a_key_is_asked_for_over_rest_and_grpc():
    with WeaviateServer(key="right") as server:
        with pytest.raises(StoreUnavailable, match="CLAUSEGATE_WEAVIATE_API_KEY"):
            async with store_on(server, weaviate_api_key="wrong"):
                pass
        async with store_on(server, weaviate_api_key="right") as store:
            await put(store, OLD)
            assert await found(store) == set(OLD.ids)
        assert {"Search", REST} < set(server.calls) <= {*CALLS, REST}


async def test_a_server_may_say_that_it_is_not_ready(server):
    server.ready = False
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        assert (await client.get("/v1/.well-known/ready")).status_code == 503


async def test_a_request_that_the_fake_does_not_know_fails_the_test():
    with pytest.raises(Unsupported, match="POST /v1/graphql"), WeaviateServer() as server:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
            assert (await client.post("/v1/graphql", json={})).status_code == 501
