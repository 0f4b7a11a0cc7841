"""One changed word of the index is found, named in the log, and given to nobody; the original mends it."""

import logging
import sqlite3
from contextlib import closing

import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from clausegate.retrieval.v1 import document_service_pb2, index_service_pb2, retrieval_service_pb2
from tests.cards import WHOLE
from tests.contract import damage
from tests.contract.retrieval_index import Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHANGES = {
    "word": "UPDATE chunks SET text = replace(text, 'shall not', 'may freely')",
    "word and its hash": "UPDATE chunks SET text = 'x', content_sha256 = 'y'",
    "sentences": "UPDATE chunks SET sentences = '[[0, 9]]'",
    "section": "UPDATE chunks SET section = 'Permitted uses'",
    "headings": "UPDATE chunks SET heading_chain = '[\"Permitted uses\"]'",
    "page": "UPDATE chunks SET pages = '[[7, 0, 9]]'",
    "table header": "UPDATE chunks SET table_header = 'Price'",
    "context": "UPDATE chunks SET context_before = '[[[0, 2], \"If\", [0, 9], []]]'",
    "doubts": "UPDATE chunks SET doubts = '[[0, 2, \"reading_order\"]]'",
    "definition": "UPDATE definitions SET text = replace(text, 'means', 'excludes')",
    "title": "UPDATE versions SET title = 'Another agreement'",
    "card": "UPDATE versions SET profile = replace(profile, 'Acme', 'Zeta')",
    "file": "UPDATE versions SET content_sha256 = '" + "0" * 64 + "'",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(folder, socket_dirs):
    async with running(folder, socket_dirs()) as service:
        yield service


def agreement(name):
    words = ["The Licensee shall not share the Data.", "“Data” means the prices."]
    return Text(f"cme/{name}.txt", words, terms=[("Data", 1)], profile=WHOLE)


def change(folder, text, statement):
    """Change the file of the index under the running service, for one document."""
    where = (
        "WHERE document_id = ?"
        if "versions" in statement
        else ("WHERE version = (SELECT number FROM versions WHERE document_id = ?)")
    )
    with closing(sqlite3.connect(folder / "index" / "default" / "store.sqlite")) as database, database:
        done = database.execute(f"{statement} {where}", (text.document_id,))
        assert done.rowcount > 0


async def deliveries(service, text):
    """What becomes of each call that gives out something of the document."""
    retrieval = service.retrieval
    named = {"document_ids": [text.document_id]}
    calls = {
        "Search": (retrieval.Search, retrieval_service_pb2.SearchRequest(query="share the Data", **named)),
        "GetChunks": (
            retrieval.GetChunks,
            retrieval_service_pb2.GetChunksRequest(chunk_ids=[text.chunk_id(0)]),
        ),
        "ListChunks": (
            retrieval.ListChunks,
            retrieval_service_pb2.ListChunksRequest(document_id=text.document_id),
        ),
        "AssembleContext": (retrieval.AssembleContext, retrieval_service_pb2.AssembleContextRequest(**named)),
        "FindDefinitions": (
            retrieval.FindDefinitions,
            retrieval_service_pb2.FindDefinitionsRequest(terms=["Data"], **named),
        ),
        "GetDocument": (
            service.documents.GetDocument,
            document_service_pb2.GetDocumentRequest(document_id=text.document_id),
        ),
    }
    return {name: await outcome(service, *call) for name, call in calls.items()}


async def outcome(service, method, request):
    try:
        await service.call(method, request)
    except ServiceError as error:
        return error.code, error.reason
    return "OK"


DAMAGED = ("DATA_LOSS", "INDEX_DAMAGED")
OF_CHUNKS = {"Search", "GetChunks", "ListChunks", "AssembleContext"}
OF_DEFINITIONS = {"FindDefinitions"}
OF_DOCUMENTS = {"GetDocument", "GetChunks"}


def expected(statement):
    if "definitions" in statement:
        return OF_DEFINITIONS
    return OF_DOCUMENTS if "versions" in statement else OF_CHUNKS


async def is_intact(service, text):
    request = index_service_pb2.CheckDocumentRequest(document_id=text.document_id)
    return (await service.call(service.index.CheckDocument, request)).intact


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changed_in_the_index_is_not_given_out_and_a_repeated_write_mends_it(
    service, folder, name, caplog
):
    text = agreement(name.replace(" ", "-"))
    await service.put(text)
    assert set((await deliveries(service, text)).values()) == {"OK"}
    assert await is_intact(service, text)

    change(folder, text, CHANGES[name])
    with caplog.at_level(logging.ERROR):
        found = await deliveries(service, text)

    assert {call for call, outcome in found.items() if outcome == DAMAGED} == expected(CHANGES[name])
    assert {outcome for call, outcome in found.items() if outcome != DAMAGED} <= {"OK"}
    (logged,) = {record.document for record in caplog.records if record.msg == "the index is damaged"}
    assert logged == text.document_id
    assert not await is_intact(service, text)

    await service.put(text)
    assert set((await deliveries(service, text)).values()) == {"OK"}
    assert await is_intact(service, text)


@pytest.mark.parametrize(
    ("kind", "old", "new", "refused"),
    [
        ("chunk", "shall not", "may freely", OF_CHUNKS),
        ("chunk", '"section": "Terms"', '"section": "Permitted uses"', OF_CHUNKS),
        ("definition", "means", "excludes", OF_DEFINITIONS),
        ("document", '"title": "object.txt"', '"title": "another.txt"', OF_DOCUMENTS),
    ],
)
async def test_what_changed_in_weaviate_is_not_given_out_and_a_repeated_write_mends_it(
    tmp_path, socket_dirs, kind, old, new, refused
):
    text = agreement("object")
    with damage.objects(tmp_path) as (weaviate, change_word):
        async with running(tmp_path, socket_dirs(), **weaviate) as service:
            await service.put(text)
            assert set((await deliveries(service, text)).values()) == {"OK"}
            assert await is_intact(service, text)

            change_word(kind, old, new)
            found = await deliveries(service, text)

            assert {call for call, outcome in found.items() if outcome == DAMAGED} == refused
            assert {outcome for outcome in found.values() if outcome != DAMAGED} <= {"OK"}
            assert not await is_intact(service, text)

            await service.put(text)
            assert set((await deliveries(service, text)).values()) == {"OK"}
            assert await is_intact(service, text)


async def test_the_refusal_names_the_document_and_the_way_out(service, folder):
    text = agreement("told")
    await service.put(text)
    change(folder, text, CHANGES["word"])

    with pytest.raises(ServiceError) as told:
        await service.call(
            service.retrieval.GetChunks,
            retrieval_service_pb2.GetChunksRequest(chunk_ids=[text.chunk_id(0)]),
        )

    assert text.document_id in told.value.message
    assert "clausegate reindex --originals" in told.value.message


async def test_a_chunk_that_is_gone_is_missed(service, folder):
    text = agreement("fewer")
    await service.put(text)
    with closing(sqlite3.connect(folder / "index" / "default" / "store.sqlite")) as database, database:
        database.execute("DELETE FROM chunks WHERE chunk_id = ?", (text.chunk_id(1),))

    assert not await is_intact(service, text)


async def test_a_staged_chunk_that_is_not_the_one_that_is_sent_is_stored_anew(service, folder):
    text = agreement("staged")
    with pytest.raises(ServiceError):
        await service.send([text.header(), text.chunks()])
    change(folder, text, "UPDATE chunks SET text = 'The Licensee may share.', digest = 'another'")

    await service.put(text)

    assert await is_intact(service, text)
    assert set((await deliveries(service, text)).values()) == {"OK"}
