"""A question that asks for each of many documents is put to every one of them on its own."""

from __future__ import annotations

import pytest
import pytest_asyncio

from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.corpus.v1 import profile_pb2
from corpus.codec import to_message
from services.answer.query.choosing import MAX_ASKED
from tests.cards import a_card
from tests.contract.test_query_service import File, answering, retrieval_with

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIABILITY = "The liability of {} for damages under this Agreement is limited to USD {} a year."
NOTICES = "Notices are sent by registered mail to the address on the first page."
MANY = MAX_ASKED + 2


def deal(number, title="Supply Agreement", source="deals", *, limited=True):
    party = f"Party{number:02} Foods, Inc."
    sections = {"1. Notices.": [NOTICES]}
    if limited:
        sections["2. Liability."] = [LIABILITY.format(party, 100 + number)]
    card = to_message(a_card(title, (party,), (f"Buyer{number:02} plc",)), profile_pb2.DocumentProfile)
    return File(source, f"{number:02}.txt", title, sections, profile=card)


LEASE = deal(1, "Lease Agreement", source="few")
SUPPLY = deal(2, source="few")
SILENT = deal(3, source="few", limited=False)
FEW = (LEASE, SUPPLY, SILENT)
FILES = (*FEW, *(deal(number, source="many") for number in range(10, 10 + MANY)))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory):
    async with retrieval_with(tmp_path_factory.mktemp("index"), *FILES) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def queries(index, tmp_path):
    async with answering(index, tmp_path) as stub:
        yield stub


async def ask(queries, question, *sources, **more):
    return await queries.Query(QueryRequest(query=question, sources=sources, **more))


def said(response):
    """What each document says, by its id."""
    return {
        document.document_id: [response.statements[number - 1].text for number in document.statement_numbers]
        for document in response.documents
    }


def told(response):
    return [note.text for note in response.notes if note.kind == answer_pb2.NOTE_KIND_ASKED_OF_EACH]


async def test_every_document_says_one_thing_or_is_silent(queries):
    response = await ask(queries, "Which contracts limit the liability for damages?", "few")

    answers = said(response)
    assert set(answers) == {file.document_id for file in FEW}
    assert all(len(texts) <= 1 for texts in answers.values())
    assert "USD 101" in answers[LEASE.document_id][0]
    assert "USD 102" in answers[SUPPLY.document_id][0]
    assert not any("USD" in text for text in answers[SILENT.document_id])
    (note,) = told(response)
    assert " of 3 documents answer this" in note
    assert response.answer.splitlines()[0] == note
    assert response.markdown.startswith(note)


async def test_only_documents_of_the_kind_asked_for_are_asked(queries):
    response = await ask(queries, "Do all our supply agreements limit the liability for damages?", "few")
    assert set(said(response)) == {SUPPLY.document_id, SILENT.document_id}


async def test_documents_beyond_the_most_that_are_asked_are_counted(queries):
    response = await ask(queries, "Which contracts limit the liability for damages?", "many")
    assert len(response.documents) == MAX_ASKED
    assert f"{MANY - MAX_ASKED} more were not asked" in told(response)[0]


async def test_those_are_asked_first_whose_passages_come_closest(queries):
    response = await ask(queries, "Which contracts limit the liability for damages?")
    assert SILENT.document_id not in said(response)


async def test_a_question_to_one_document_is_asked_of_it_alone(queries):
    question = "Which contracts limit the liability for damages?"
    response = await ask(queries, question, document_ids=[LEASE.document_id])
    assert response.statements
    assert not response.documents
    assert not told(response)


async def test_where_all_are_silent_the_refusal_says_of_how_many(queries):
    response = await ask(queries, "Which contracts mention zebra crossings in Ruritania?", "few")
    assert response.outcome == answer_pb2.OUTCOME_REFUSED
    assert "0 of 3 documents answer this, 3 are silent." in response.refusal.missing


async def test_a_stream_tells_the_same_of_each_document(queries):
    question = "Which contracts limit the liability for damages?"
    request = StreamQueryRequest(query=question, sources=["few"])
    events = [event async for event in queries.StreamQuery(request)]
    response = events[-1].completed.response
    clauses = next(event.supporting_clauses for event in events if event.HasField("supporting_clauses"))
    assert len(response.documents) == len(FEW)
    assert list(clauses.documents) == list(response.documents)
