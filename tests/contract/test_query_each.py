"""Questions asked of each document by itself, over real sockets and a real index."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import grpc
import pytest
import pytest_asyncio

from chassis.api_keys import ApiKeys, new_key, to_json
from chassis.auth import Caller
from chassis.channel import open_channel
from chassis.credentials import Credentials
from chassis.policy import ServerPolicy
from chassis.server import serving
from chassis.settings import ProcessSettings
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1.query_service_pb2 import QueryEachRequest, QueryRequest
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from tests.contract.damage import files
from tests.contract.test_query_service import (
    CME,
    OPRA,
    File,
    answering,
    error_of,
    records,
    retrieval_with,
    silent_peer,
    until,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEE = "What is the monthly display fee for each Device?"
LAW = "Which law governs the agreement?"
SILENT = "How many parking spaces does the Licensee get?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory):
    async with retrieval_with(tmp_path_factory.mktemp("index"), CME, OPRA) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def queries(index, tmp_path):
    async with answering(index, tmp_path) as stub:
        yield stub


async def asked(stub, **request):
    """The documents, the cells and the end of a call."""
    events = [event async for event in stub.QueryEach(QueryEachRequest(**request))]
    assert [event.WhichOneof("event") for event in events[1:-1]] == ["cell"] * (len(events) - 2)
    return events[0].begun, [event.cell for event in events[1:-1]], events[-1].completed


async def failure(stub, **request):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await asked(stub, **request)
    return error_of(caught.value)


async def test_every_document_is_asked_every_question_in_order(queries):
    begun, cells, _ = await asked(queries, queries=[FEE, SILENT])

    named = [document.document_id for document in begun.documents]
    assert named == sorted([CME.document_id, OPRA.document_id])
    assert begun.cells == len(cells) == 4
    assert [(cell.document_id, cell.query) for cell in cells] == [(name, n) for name in named for n in (0, 1)]


async def test_a_cell_says_what_the_question_says_asked_of_that_document(queries):
    _, cells, _ = await asked(queries, queries=[FEE])

    for cell in cells:
        response = await queries.Query(QueryRequest(query=FEE, document_ids=[cell.document_id]))
        assert cell.outcome == response.outcome
        assert cell.statement == response.statements[0]
        quotes = [citation.quote for citation in cell.citations]
        assert [citation.document for citation in cell.citations] == [cell.document_id] * len(quotes)
        assert cell.statement.text in quotes
    assert {"USD 120 " in cell.statement.text for cell in cells} == {True, False}


async def test_what_a_document_is_silent_on_has_no_quote(queries):
    _, cells, end = await asked(queries, queries=[SILENT])

    assert [cell.outcome for cell in cells] == [answer_pb2.OUTCOME_REFUSED] * 2
    assert not any(cell.HasField("statement") or cell.citations for cell in cells)
    assert (end.answered, end.related, end.refused, end.failed) == (0, 0, 2, 0)


async def test_only_the_documents_in_scope_are_asked(queries):
    by_source, *_ = await asked(queries, queries=[FEE], sources=["opra"])
    by_document, *_ = await asked(queries, queries=[FEE], document_ids=[CME.document_id])

    assert [document.document_id for document in by_source.documents] == [OPRA.document_id]
    assert [document.document_id for document in by_document.documents] == [CME.document_id]


async def test_every_cell_is_one_audit_record(queries, tmp_path):
    _, cells, _ = await asked(queries, queries=[FEE, LAW])

    written = records(tmp_path)
    assert sorted(entry["query_id"] for entry in written) == sorted(cell.query_id for cell in cells)
    assert {entry["query"] for entry in written} == {FEE, LAW}


async def test_a_document_that_fails_says_why_and_the_others_are_answered(tmp_path):
    with files(tmp_path / "index") as (_, change_word):
        async with (
            retrieval_with(tmp_path / "index", CME, OPRA) as address,
            answering(address, tmp_path) as queries,
        ):
            change_word("chunk", "USD 90", "USD 20")
            _, cells, end = await asked(queries, queries=[FEE])

    by_document = {cell.document_id: cell for cell in cells}
    failed = by_document[OPRA.document_id]
    assert (failed.error_reason, failed.outcome) == ("INDEX_DAMAGED", answer_pb2.OUTCOME_UNSPECIFIED)
    assert OPRA.document_id in failed.error_message
    assert not failed.HasField("statement")
    assert "USD 120 " in by_document[CME.document_id].statement.text
    assert end.failed == 1


async def test_an_empty_index_has_no_cells(tmp_path):
    async with (
        retrieval_with(tmp_path / "index") as address,
        answering(address, tmp_path) as queries,
    ):
        begun, cells, end = await asked(queries, queries=[FEE])

    assert (list(begun.documents), begun.cells, cells, end.failed) == ([], 0, [], 0)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, ("INVALID_ARGUMENT", "INVALID_FIELD", "queries")),
        ({"queries": ["Q?"] * 21}, ("INVALID_ARGUMENT", "INVALID_FIELD", "queries")),
        ({"queries": ["Q?", " "]}, ("INVALID_ARGUMENT", "INVALID_FIELD", "queries[1]")),
        ({"queries": ["Q?"], "sources": [""]}, ("INVALID_ARGUMENT", "INVALID_FIELD", "sources[0]")),
        ({"queries": ["Q?"], "sources": ["none"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND", "sources[0]")),
        (
            {"queries": ["Q?"], "document_ids": ["cme/none.txt"]},
            ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[0]"),
        ),
        (
            {"queries": ["Q?"], "document_ids": ["cme/a.txt"] * 1_001},
            ("INVALID_ARGUMENT", "INVALID_FIELD", "document_ids"),
        ),
        ({"queries": ["Q?"], "max_cost_usd": -1}, ("INVALID_ARGUMENT", "INVALID_FIELD", "max_cost_usd")),
    ],
)
async def test_a_bad_request_names_its_field_and_asks_nothing(queries, tmp_path, request_, expected):
    assert await failure(queries, **request_) == expected
    assert records(tmp_path) == []


async def test_more_cells_than_may_be_asked_for_are_refused_before_any_is(queries, tmp_path, monkeypatch):
    monkeypatch.setattr("services.answer.query.each.MAX_CELLS", 3)

    code, _, field = await failure(queries, queries=[FEE, LAW])

    assert (code, field, records(tmp_path)) == ("INVALID_ARGUMENT", "queries", [])


async def test_a_client_that_leaves_cancels_the_cells_under_way(index, tmp_path):
    async with answering(index, tmp_path) as queries:
        call = queries.QueryEach(QueryEachRequest(queries=[f"{FEE} {n}" for n in range(20)]))
        assert (await call.read()).begun.cells == 40
        await call.read()
        call.cancel()
        await until(lambda: any(entry["outcome"] == "cancelled" for entry in records(tmp_path)))
        await asyncio.sleep(0.2)
    assert len(records(tmp_path)) < 40


@asynccontextmanager
async def answering_anna(retrieval_address, folder, **limits):
    """A stub of an answer service that wants keys, and what to call it with."""
    entry, key = new_key(Caller("default", "anna"), datetime(2026, 11, 21, tzinfo=UTC))
    (folder / "keys.json").write_text(to_json([entry]))
    policy = ServerPolicy(Credentials(ApiKeys(folder / "keys.json")), limits=ProcessSettings(**limits))
    wired = answer(AnswerSettings(retrieval_address=retrieval_address, data_dir=folder, reader="off"))
    async with (
        wired as services,
        serving("127.0.0.1:0", [services], policy) as address,
        open_channel(address) as channel,
    ):
        yield QueryServiceStub(channel), {"metadata": [("authorization", f"Bearer {key}")], "timeout": 60}


async def test_every_cell_counts_as_a_query_and_waits_where_a_query_is_refused(index, tmp_path):
    limits = {"queries_per_second": 0.001, "queries_burst": 4}
    async with answering_anna(index, tmp_path, **limits) as (queries, with_key):
        call = queries.QueryEach(QueryEachRequest(queries=[FEE]), **with_key)
        assert (await call.read()).begun.cells == 2
        assert (await call.read()).WhichOneof("event") == "cell"
        for _ in range(2):
            await queries.Query(QueryRequest(query=LAW), **with_key)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await queries.Query(QueryRequest(query=LAW), **with_key)
        call.cancel()

    assert error_of(refused.value) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED", None)
    assert sorted(entry["query"] for entry in records(tmp_path)) == sorted([FEE, LAW, LAW])


async def test_cells_that_waited_are_answered(index, tmp_path):
    async with answering_anna(index, tmp_path, queries_per_second=20, queries_burst=1) as (queries, with_key):
        call = queries.QueryEach(QueryEachRequest(queries=[FEE, LAW]), **with_key)
        events = [event async for event in call]

    assert [event.WhichOneof("event") for event in events] == ["begun", *["cell"] * 4, "completed"]
    assert events[-1].completed.failed == 0


async def test_a_retrieval_service_that_does_not_answer_ends_the_call(tmp_path):
    with silent_peer() as (_, address):
        async with answering(address, tmp_path) as queries:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await queries.QueryEach(QueryEachRequest(queries=[FEE]), timeout=2).read()
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.soak
async def test_a_thousand_documents_are_asked_and_one_of_them_fails(tmp_path):
    fee = "The Licensee shall pay a monthly fee of USD {} for each Device."
    contracts = [
        File("many", f"{n}.txt", f"Agreement {n}", {"1. Fees.": [fee.format(1_000 + n)]})
        for n in range(1_000)
    ]
    with files(tmp_path / "index") as (_, change_word):
        async with (
            retrieval_with(tmp_path / "index", *contracts) as address,
            answering(address, tmp_path) as queries,
        ):
            change_word("chunk", "USD 1500", "USD 9500")
            begun, cells, end = await asked(queries, queries=["What monthly fee does the Licensee pay?"])

    wrong = [cell.document_id for cell in cells if cell.error_reason]
    assert (begun.cells, wrong, end.failed) == (1_000, ["many/500.txt"], 1)
    for cell in cells:
        number = 1_000 + int(cell.document_id.removeprefix("many/").removesuffix(".txt"))
        assert cell.error_reason or fee.format(number) == cell.statement.text
