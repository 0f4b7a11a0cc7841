"""An index that lost documents answers no question, says so, and is filled again from the archive alone."""

import asyncio
import shutil
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import clausegate
from chassis.server import serving
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import ANSWERING, retrieval
from tests.contract.retrieval_index import MODEL
from tests.contract.store import weaviate_server
from tests.contract.store.weaviate_server import becomes_ready
from tests.fakes.weaviate_server import WeaviateServer

FEES = b"# Fees\n\nThe Licensee shall pay a fee of USD 120 for each month, in advance.\n"
TERM = b"# Term\n\nThe agreement ends on 31 December 2027 unless it is renewed.\n"
WITHIN_SECONDS = 60


@asynccontextmanager
async def services(folder, **store):
    """Ingest and retrieval over their folders; yields a client of both, and what asks retrieval's health."""
    index = RetrievalSettings(data_dir=folder, model_dir=MODEL, **store)
    async with (
        retrieval(index) as found,
        serving("127.0.0.1:0", [found]) as retrieval_address,
        ingest(IngestSettings(data_dir=folder, retrieval_address=retrieval_address)) as documents,
        serving("127.0.0.1:0", [documents]) as ingest_address,
        grpc.aio.insecure_channel(retrieval_address) as channel,
    ):
        await becomes_ready(found.readiness)
        addresses = clausegate.Addresses(ingest_address, retrieval_address, retrieval_address)
        async with clausegate.connect(addresses, deadline_seconds=120) as client:
            yield client, health_pb2_grpc.HealthStub(channel)


async def fill(client):
    await client.ingest(FEES, source="cme", path="fees.md")
    await client.ingest(TERM, source="ice", path="term.md")


async def asked(client):
    """What becomes of a question, by its reason."""
    try:
        await client.search("How high is the fee for a month?")
    except clausegate.errors.ClausegateError as error:
        return error.reason
    return "ANSWERED"


async def becomes(outcome, ask, *arguments):
    async with asyncio.timeout(WITHIN_SECONDS):
        while await ask(*arguments) != outcome:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.1)


async def health_of(health, name):
    response = await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
    return health_pb2.HealthCheckResponse.ServingStatus.Name(response.status)


async def found_lost_and_filled_again(client, health):
    await becomes("INDEX_LOST", asked, client)
    with pytest.raises(clausegate.errors.ClausegateError, match="clausegate reindex --originals"):
        await client.search("How high is the fee for a month?")
    await becomes("NOT_SERVING", health_of, health, ANSWERING)
    assert await health_of(health, "") == "NOT_SERVING"
    assert await health_of(health, "clausegate.retrieval.v1.IndexService") == "SERVING"

    archived = [original.document_id async for original in client.originals()]
    assert archived == ["cme/fees.md", "ice/term.md"]
    for document_id in archived:
        receipt = await client.reindex_document(document_id)
        assert receipt.document.document_id == document_id
        assert receipt.outcome == 1  # created

    await becomes("ANSWERED", asked, client)
    await becomes("SERVING", health_of, health, "")
    listed = [document.document_id async for document in client.documents()]
    assert listed == archived


def remove(folder):
    (folder / "index" / "default" / "store.sqlite").unlink()


def truncate(folder):
    (folder / "index" / "default" / "store.sqlite").write_bytes(b"")


def remove_all(folder):
    shutil.rmtree(folder / "index")


@pytest.mark.parametrize("lose", [remove, truncate, remove_all])
async def test_a_lost_index_is_found_out_and_filled_from_the_archive_alone(tmp_path, lose):
    async with services(tmp_path) as (client, _):
        await fill(client)
        assert await asked(client) == "ANSWERED"
    for rest in (tmp_path / "index" / "default").glob("store.sqlite-*"):
        rest.unlink()
    lose(tmp_path)

    async with services(tmp_path) as (client, health):
        await found_lost_and_filled_again(client, health)


@pytest.mark.parametrize("lose", [remove, truncate])
async def test_an_index_whose_file_is_gone_answers_nothing_from_the_first_moment(tmp_path, lose):
    async with services(tmp_path) as (client, _):
        await fill(client)
    for rest in (tmp_path / "index" / "default").glob("store.sqlite-*"):
        rest.unlink()
    lose(tmp_path)

    index = RetrievalSettings(data_dir=tmp_path, model_dir=MODEL)
    async with retrieval(index) as found, serving("127.0.0.1:0", [found]) as address:
        await becomes_ready(found.readiness)
        async with clausegate.connect(clausegate.Addresses(address, address, address)) as client:
            assert await asked(client) == "INDEX_LOST"


async def test_lost_collections_of_weaviate_are_found_out_and_filled_from_the_archive_alone(tmp_path):
    def where(server):
        urls = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
        return {"store": "weaviate", **urls, **weaviate_server.PATIENT}

    with WeaviateServer() as server:
        async with services(tmp_path, **where(server)) as (client, _):
            await fill(client)
    with WeaviateServer() as empty:
        async with services(tmp_path, **where(empty)) as (client, health):
            await found_lost_and_filled_again(client, health)


async def test_what_was_removed_is_not_missed(tmp_path):
    async with services(tmp_path) as (client, _):
        await fill(client)
        await client.remove_document("ice/term.md")

    async with services(tmp_path) as (client, health):
        await asyncio.sleep(6)
        assert await asked(client) == "ANSWERED"
        assert await health_of(health, "") == "SERVING"


async def test_a_second_ingest_process_on_one_folder_is_refused(tmp_path):
    settings = IngestSettings(data_dir=tmp_path)
    async with ingest(settings):
        with pytest.raises(OSError, match="in use by another process"):
            async with ingest(settings):
                pass
