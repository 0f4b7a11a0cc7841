"""What only a store on Weaviate has to keep: its tenants, its opening, and writes that died half way."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from corpus.documents import DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import IndexCounts, StoreUnavailable
from services.retrieval.store.weaviate.objects import chunk_object, document_object, staged_object
from services.retrieval.store.weaviate.stores import WeaviateStores, parts_of
from services.retrieval.store.weaviate.tenants import TenantCollections
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import DIMENSION, Draft, put, vector_of
from tests.fakes.weaviate_server import WeaviateServer

ALL = Scope()
OLD = Draft("cme/fees.txt", ["fee old"], terms=["Fee"])
NEW = Draft("cme/fees.txt", ["fee new", "fee newer"], generation="g2")
SERVERS = [pytest.param(False, id="weaviate-fake")]
if weaviate_server.URL:
    SERVERS.append(pytest.param(True, id="weaviate", marks=pytest.mark.weaviate))


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[RetrievalSettings]:
    """Settings of processes that work on one index."""
    if request.param:
        yield weaviate_server.settings()
        return
    with WeaviateServer() as fake:
        yield RetrievalSettings(weaviate_url=fake.url, weaviate_grpc_url=fake.grpc_url)


@pytest.fixture
async def stores(server: RetrievalSettings) -> AsyncIterator[WeaviateStores]:
    """Of a process."""
    opened = await weaviate_server.opened(server)
    yield opened
    await opened.close()


@pytest.fixture
def tenant() -> str:
    """A new name."""
    return f"t{secrets.token_hex(8)}"


@pytest.fixture
async def collections(
    server: RetrievalSettings, stores: WeaviateStores, tenant: str
) -> AsyncIterator[TenantCollections]:
    """Of the tenant, for writes that the store itself makes with others only."""
    await stores.for_tenant(tenant)
    connection, names, _ = parts_of(server, "model", DIMENSION)

    async def nothing(_: object) -> None:
        pass

    await connection.open(nothing)
    yield TenantCollections(connection, names, tenant)
    await connection.close()


async def test_processes_may_open_a_new_index_at_once(server, tenant):
    new = server.model_copy(update={"weaviate_prefix": f"{server.weaviate_prefix}New"})
    async with AsyncExitStack() as stack:
        opened = await asyncio.gather(*(weaviate_server.opened(new) for _ in range(3)))
        for each in opened:
            stack.push_async_callback(each.close)
        first, second, third = await asyncio.gather(*(each.for_tenant(tenant) for each in opened))
        await put(first, OLD)
        assert await second.document(DocumentId(OLD.document_id)) is not None
        assert (await put(second, NEW)).replaced
        assert [hit.chunk_id for hit in await third.keyword_hits(["new"], 9, ALL)] == NEW.ids[:1]
        assert await third.revision() == await first.revision()


async def test_tenants_see_nothing_of_each_other(stores, tenant):
    ours, theirs = await stores.for_tenant(tenant), await stores.for_tenant(f"{tenant}s")
    empty = await theirs.revision()
    await put(ours, OLD)
    assert await theirs.keyword_hits(["fee"], 9, ALL) == ()
    assert await theirs.vector_hits(vector_of("fee old"), 9, ALL) == ()
    assert await theirs.chunks(OLD.ids) == await theirs.embedded_chunks(OLD.ids) == {}
    assert await theirs.remove(DocumentId(OLD.document_id)) is None
    assert (await theirs.counts(), await theirs.revision()) == (IndexCounts(0, 0, 0, 0), empty)
    await put(theirs, NEW)
    assert await ours.counts() == IndexCounts(1, 1, 1, 1)


@pytest.mark.parametrize("name", ["a" * 64, "0-_x"])
async def test_tenant_of_any_allowed_name_has_a_store_of_its_own(stores, name):
    store = await stores.for_tenant(name)
    assert await store.counts() == IndexCounts(0, 0, 0, 0)
    assert (await put(store, OLD)).document.version == OLD.version


async def asked(server: RetrievalSettings, method: str, tenant: str, what: object) -> None:
    """An operator's request about a tenant, to every collection that has it."""
    key = server.weaviate_api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=f"{server.weaviate_url}/v1", headers=headers, timeout=60) as http:
        for each in (await http.get("/schema")).json()["classes"]:
            url = f"/schema/{each['class']}/tenants"
            ours = each["class"].startswith(server.weaviate_prefix)
            if ours and (await http.head(f"{url}/{tenant}")).is_success:
                (await http.request(method, url, json=[what])).raise_for_status()


CALLS = {
    "read": lambda store: store.document(DocumentId(OLD.document_id)),
    "search": lambda store: store.keyword_hits(["fee"], 9, ALL),
    "count": lambda store: store.counts(),
    "write": lambda store: store.put_chunks(NEW.version, NEW.chunks),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_a_tenant_that_was_deactivated_is_named_as_such_and_comes_back(server, stores, tenant, call):
    store = await stores.for_tenant(tenant)
    await put(store, OLD)
    await asked(server, "PUT", tenant, {"name": tenant, "activityStatus": "COLD"})

    with pytest.raises(StoreUnavailable, match="not active in Weaviate"):
        await call(store)

    await asked(server, "PUT", tenant, {"name": tenant, "activityStatus": "HOT"})
    await call(store)
    assert await store.counts() == IndexCounts(1, 1, 1, 1)


async def test_a_tenant_that_was_deleted_is_named_as_such_and_nothing_takes_its_place(server, stores, tenant):
    store = await stores.for_tenant(tenant)
    await put(store, OLD)
    await asked(server, "DELETE", tenant, tenant)

    for call in CALLS.values():
        with pytest.raises(StoreUnavailable, match="this tenant is gone from Weaviate"):
            await call(store)


@pytest.fixture
async def flipped(stores, collections, tenant):
    """A store whose writer died right after the flip of NEW: nothing else was done."""
    store = await stores.for_tenant(tenant)
    await put(store, OLD)
    await store.put_chunks(NEW.version, NEW.chunks)
    async with collections.writing("stage", collections.names.staged) as staged:
        await staged.data.insert_many([staged_object(OLD.version)])
    visible = replace(NEW.document, indexed_at=datetime.now(UTC))
    async with collections.writing("flip", collections.names.documents) as documents:
        await documents.data.insert_many([document_object(visible, 2, [])])
    return store


async def test_what_a_dead_writer_replaced_is_not_visible(flipped):
    assert {hit.chunk_id for hit in await flipped.keyword_hits(["fee"], 9, ALL)} == set(NEW.ids)
    assert {hit.chunk_id for hit in await flipped.vector_hits(vector_of("fee old"), 9, ALL)} == set(NEW.ids)
    assert set(await flipped.chunks([*OLD.ids, *NEW.ids])) == set(NEW.ids)
    assert await flipped.definitions(["fee"], ALL) == ()
    assert await flipped.count_term(["fee"], ALL) == 2
    assert await flipped.counts() == IndexCounts(1, 2, 0, 2)
    assert set(await flipped.staged(OLD.version)) == set(OLD.ids)


async def test_repeated_commit_finishes_what_a_dead_writer_began(flipped):
    before = await flipped.revision()
    assert (await flipped.commit(NEW.document)).revision == await flipped.revision() != before
    assert set(await flipped.staged(OLD.version)) == set()
    assert {hit.chunk_id for hit in await flipped.keyword_hits(["fee"], 9, ALL)} == set(NEW.ids)


async def test_next_write_collects_what_a_dead_writer_replaced(flipped):
    newest = Draft("cme/fees.txt", ["fee newest"], generation="g3")
    await flipped.put_chunks(newest.version, newest.chunks)
    assert set(await flipped.staged(OLD.version)) == set()
    assert set(await flipped.staged(NEW.version)) == set(NEW.ids)


async def test_removal_collects_what_a_dead_writer_replaced(flipped):
    assert await flipped.remove(DocumentId(OLD.document_id)) is not None
    assert await flipped.staged(OLD.version) == await flipped.staged(NEW.version) == {}


async def test_chunks_of_a_batch_that_was_cut_are_found_again(stores, collections, tenant):
    store = await stores.for_tenant(tenant)
    await store.put_chunks(NEW.version, NEW.chunks[:1])
    async with collections.writing("insert", collections.names.chunks) as chunks:
        await chunks.data.insert_many([chunk_object(NEW.chunks[1])])
    assert set(await store.staged(NEW.version)) == set(NEW.ids)
    assert (await store.commit(NEW.document)).document.version == NEW.version
