"""How collections are made: the settings reach each of them, and an index keeps what it was made with."""

from __future__ import annotations

import secrets

import httpx
import pytest

from services.retrieval.settings import RetrievalSettings
from tests.contract.store import weaviate_server
from tests.fakes.weaviate_server import WeaviateServer

KINDS = {"Article", "Chunk", "Definition", "Document", "Project", "Staged", "State"}


@pytest.fixture
def fake():
    with WeaviateServer() as server:
        yield RetrievalSettings(weaviate_url=server.url, weaviate_grpc_url=server.grpc_url)


@pytest.fixture
def real():
    prefix = f"Made{secrets.token_hex(4)}"
    yield weaviate_server.settings(prefix)
    weaviate_server.drop_collections(prefix)


SERVERS = [pytest.param("fake", id="weaviate-fake")]
if weaviate_server.URL:
    SERVERS.append(pytest.param("real", id="weaviate", marks=pytest.mark.weaviate))


@pytest.fixture(params=SERVERS)
def server(request):
    """Settings of a process with a server, and an index of its own."""
    return request.getfixturevalue(request.param)


async def made(server, **settings):
    """The collections after a process with these settings has opened its index, by kind."""
    stores = await weaviate_server.opened(server.model_copy(update=settings))
    await stores.close()
    key = server.weaviate_api_key
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(headers=headers, trust_env=False) as http:
        classes = (await http.get(f"{server.weaviate_url}/v1/schema")).json()["classes"]
    prefix = server.weaviate_prefix
    return {
        each["class"].removeprefix(prefix).partition("_")[0]: each
        for each in classes
        if each["class"].startswith(prefix)
    }


def windows(collections):
    """How the vectors of chunks are kept."""
    return collections["Chunk"]["vectorConfig"]["windows"]["vectorIndexConfig"]


@pytest.mark.parametrize(("quantization", "quantised"), [("rq8", True), ("none", False)])
async def test_vectors_are_quantised_as_the_settings_say(server, quantization, quantised):
    vectors = windows(await made(server, weaviate_quantization=quantization))

    assert vectors.get("rq", {"enabled": False})["enabled"] is quantised
    assert vectors["distance"] == "cosine"
    assert vectors["multivector"]["enabled"]


async def test_quantised_vectors_take_a_byte_a_number_and_the_best_are_scored_exactly(server):
    quantised = windows(await made(server))["rq"]

    assert (quantised["bits"], quantised["rescoreLimit"]) == (8, 40)


async def test_an_index_keeps_what_it_was_made_with(server):
    before = await made(server)

    assert await made(server, weaviate_quantization="none", weaviate_replicas=3) == before


@pytest.mark.parametrize("replicas", [1, 3])
async def test_every_collection_has_as_many_copies_as_the_settings_say(fake, replicas):
    collections = await made(fake, weaviate_replicas=replicas)

    assert {kind: each["replicationConfig"]["factor"] for kind, each in collections.items()} == dict.fromkeys(
        KINDS, replicas
    )


async def test_every_collection_has_tenants_and_no_word_is_left_out(server):
    collections = await made(server)

    assert set(collections) == KINDS
    assert all(each["multiTenancyConfig"]["enabled"] for each in collections.values())
    assert {each["invertedIndexConfig"]["stopwords"]["preset"] for each in collections.values()} == {"none"}
