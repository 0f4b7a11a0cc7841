"""A question is answered from the documents that it names, each on its own, and from no other."""

from __future__ import annotations

import itertools

import pytest
import pytest_asyncio

from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.corpus.v1 import profile_pb2
from corpus.codec import to_message
from tests.cards import a_card
from tests.contract.test_query_service import File, answering, records, retrieval_with
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")


def contract(path, first, second, liability, *, law=None, recitals=()):
    sections = {
        "Recitals.": list(recitals),
        "1. Definitions.": [
            f"“Device” means any unit of {first} that displays market data to {second}.",
        ],
        "2. Liability.": [
            f"The liability of {first} for damages under this Agreement is limited to {liability} a year.",
        ],
        "3. Notices.": ["Notices are sent by registered mail to the address on the first page."],
    }
    if law:
        sections["4. Governing Law."] = [f"This Agreement is governed by the laws of {law}."]
    sections = {heading: sentences for heading, sentences in sections.items() if sentences}
    card = to_message(a_card("Supply Agreement", (first,), (second,)), profile_pb2.DocumentProfile)
    return File("deals", path, f"Supply Agreement {path}", sections, terms=("Device",), profile=card)


SLINGBAG = contract("slingbag.txt", "Slingbag, Inc.", "Ashgrove Foods, LLC", "USD 400", law="Halden")
HALBERD = contract("halberd.txt", "Halberd Ltd.", "Cormorant Systems, Inc.", "EUR 900")
RENEWED = contract("renewed.txt", "Halberd Ltd.", "Cormorant Systems, Inc.", "EUR 950")
OTHER = contract("other.txt", "Larkspur Estates GmbH", "Merridew plc", "GBP 70", law="Ruritania")
LONG = [f"The parties have met {number} times before they signed." for number in range(60)]
"""More words than those of a beginning by which documents are found."""
MILL = contract("law-that-governs.txt", "Quenby Mills Ltd.", "Tamarind Foods, Inc.", "USD 10")
MILL_WITH_LAW = contract(
    "mill.txt", "Quenby Mills Ltd.", "Tamarind Foods, Inc.", "USD 20", law="Ostravia", recitals=LONG
)
FILES = (SLINGBAG, HALBERD, RENEWED, OTHER, MILL, MILL_WITH_LAW)
NAMES = {
    "the Sling Bag agreement": {SLINGBAG.document_id},
    "the Ashgrove contract": {SLINGBAG.document_id},
    "the Halberd agreement": {HALBERD.document_id, RENEWED.document_id},
    "the Larkspur deal": {OTHER.document_id},
}
ASKED = (
    "Is liability limited under {}?",
    "What is a Device under {}?",
    "Which law governs {}?",
    "How are notices sent under {}?",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory):
    async with retrieval_with(tmp_path_factory.mktemp("index"), *FILES) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def queries(index, tmp_path):
    async with answering(index, tmp_path) as stub:
        yield stub


def quoted(response):
    return {citation.document for citation in response.citations}


def told(response):
    """All documents that any part of a response shows."""
    clauses = [*response.supporting_clauses, *response.refusal.nearest_clauses]
    return quoted(response) | {clause.document for clause in clauses}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("named", list(itertools.combinations(NAMES, 2)) + [(name,) for name in NAMES])
async def test_nothing_shows_a_document_that_the_question_does_not_name(queries, asked, named):
    for gate in (True, False):
        response = await queries.Query(QueryRequest(query=asked.format(" and ".join(named)), gate=gate))
        assert told(response) <= set().union(*(NAMES[name] for name in named))


async def test_of_documents_that_bear_one_name_those_come_first_that_answer(queries):
    response = await queries.Query(QueryRequest(query="Which law governs the Quenby Mills agreement?"))
    assert [document.document_id for document in response.documents] == [
        MILL_WITH_LAW.document_id,
        MILL.document_id,
    ]
    outcomes = [document.outcome for document in response.documents]
    assert outcomes == sorted(outcomes)
    assert "Ostravia" in response.statements[0].text


async def test_each_of_several_documents_is_answered_on_its_own_in_the_order_of_naming(queries):
    question = "Is liability limited in the Larkspur agreement and in the Slingbag agreement?"
    response = await queries.Query(QueryRequest(query=question))

    assert [document.document_id for document in response.documents] == [
        OTHER.document_id,
        SLINGBAG.document_id,
    ]
    texts = [
        [response.statements[number - 1].text for number in document.statement_numbers]
        for document in response.documents
    ]
    assert any("GBP 70" in text for text in texts[0])
    assert any("USD 400" in text for text in texts[1])
    numbers = [number for document in response.documents for number in document.statement_numbers]
    assert numbers == list(range(1, len(response.statements) + 1))
    lines = response.answer.splitlines()
    labels = [document.label for document in response.documents]
    assert labels == [
        "Supply Agreement · Larkspur Estates GmbH / Merridew plc",
        "Supply Agreement · Slingbag, Inc. / Ashgrove Foods, LLC",
    ]
    assert lines.index(f"{labels[0]}:") < lines.index(f"{labels[1]}:")
    assert f"**{labels[0]}**" in response.markdown_full


async def test_documents_that_a_name_does_not_tell_apart_are_all_answered(queries):
    response = await queries.Query(QueryRequest(query="Is the liability of Halberd limited?"))
    assert {document.document_id for document in response.documents} == {
        HALBERD.document_id,
        RENEWED.document_id,
    }
    labels = {citation.document: citation.document_label for citation in response.citations}
    assert labels == {document.document_id: document.label for document in response.documents}
    assert len(set(labels.values())) == 2
    assert {"EUR 900", "EUR 950"} <= {statement.text[-15:-8] for statement in response.statements}


async def test_documents_that_all_bear_the_one_name_in_a_question_are_searched_together(queries):
    among = [HALBERD.document_id, RENEWED.document_id]
    asked = QueryRequest(query="Is the liability of Halberd limited?", document_ids=among)
    response = await queries.Query(asked)
    assert response.outcome != answer_pb2.OUTCOME_REFUSED
    assert not response.documents


async def test_a_document_that_is_silent_is_told_beside_one_that_answers(queries):
    question = "Which law governs the Slingbag agreement and the Halberd agreement?"
    response = await queries.Query(QueryRequest(query=question))

    outcomes = {document.document_id: document.outcome for document in response.documents}
    assert outcomes[SLINGBAG.document_id] != answer_pb2.OUTCOME_REFUSED
    assert list(outcomes) == [SLINGBAG.document_id, *sorted({HALBERD.document_id, RENEWED.document_id})]
    assert any("Halden" in statement.text for statement in response.statements)
    assert not any("Ruritania" in statement.text for statement in response.statements)


async def test_a_name_that_no_document_bears_is_refused_with_the_nearest(queries, tmp_path):
    response = await queries.Query(QueryRequest(query="What is the cap in the Kormoran agreement?"))

    refusal = response.refusal
    assert response.outcome == answer_pb2.OUTCOME_REFUSED
    assert refusal.reason == answer_pb2.REFUSAL_REASON_NO_DOCUMENT_NAMED
    assert refusal.message == "No document names “Kormoran”."
    assert refusal.missing == "Spelled most like it is “Cormorant Systems, Inc.”."
    assert list(refusal.nearest_names) == ["Cormorant Systems, Inc."]
    assert not refusal.nearest_clauses
    assert refusal.absence.documents_searched == len(FILES)
    assert response.answer == f"{refusal.message} {refusal.missing}"
    (record,) = records(tmp_path)
    assert (record["refusal_reason"], record["answer"]) == ("no_document_named", refusal.message)


async def test_a_name_that_only_other_documents_bear_is_refused_among_those_chosen(queries):
    chosen = [SLINGBAG.document_id, OTHER.document_id]
    response = await queries.Query(
        QueryRequest(query="Is the liability of Halberd limited?", document_ids=chosen)
    )
    assert response.refusal.message == "No document among those searched names “Halberd”."


async def test_the_half_that_is_there_is_answered_and_the_other_told(queries):
    question = "Is liability limited in the Slingbag agreement and in the Microsoft agreement?"
    response = await queries.Query(QueryRequest(query=question))

    assert quoted(response) == {SLINGBAG.document_id}
    (note,) = [note for note in response.notes if note.kind == answer_pb2.NOTE_KIND_NOT_NAMED]
    assert note.text.startswith("No document names “Microsoft”.")
    assert response.answer.splitlines()[-1] == note.text
    assert not response.documents


async def test_a_refusal_tells_of_the_half_that_is_not_there_as_well(queries):
    question = "How many parking spaces does the Slingbag agreement grant, and the Microsoft agreement?"
    response = await queries.Query(QueryRequest(query=question))

    assert response.refusal.reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
    assert "No document names “Microsoft”." in response.refusal.missing
    assert told(response) <= {SLINGBAG.document_id}


async def test_everywhere_goes_by_no_names(queries):
    question = "Is liability limited in the Microsoft agreement?"
    response = await queries.Query(QueryRequest(query=question, everywhere=True))
    assert response.statements
    assert not response.documents


async def test_a_question_that_names_nothing_says_in_how_many_documents_it_found_passages(queries):
    response = await queries.Query(QueryRequest(query="Is liability for damages limited?"))
    (note,) = [note for note in response.notes if note.kind == answer_pb2.NOTE_KIND_FOUND_IN]
    assert note.text.startswith("The question names no document; passages that bear on it were found in ")
    assert not response.documents


async def test_a_stream_tells_the_same_of_each_document(queries):
    question = "Is liability limited in the Larkspur agreement and in the Slingbag agreement?"
    events = [event async for event in queries.StreamQuery(StreamQueryRequest(query=question))]
    response = events[-1].completed.response
    clauses = next(event.supporting_clauses for event in events if event.HasField("supporting_clauses"))
    statements = [event.statement.statement for event in events if event.HasField("statement")]

    assert list(clauses.documents) == list(response.documents)
    assert statements == list(response.statements)
    assert [event.WhichOneof("event") for event in events].count("gated") == 1


async def test_a_model_is_asked_of_each_document_and_of_none_that_is_not_there(index, tmp_path):
    async with ModelServer() as server, answering(index, tmp_path, OPENAI_BASE_URL=server.url) as queries:
        server.respond = Renderer()
        unknown = await queries.Query(QueryRequest(query="What is the cap in the Kormoran agreement?"))
        asked_of_none = len(server.requests)
        response = await queries.Query(
            QueryRequest(
                query="Is liability limited in the Larkspur agreement and in the Slingbag agreement?"
            )
        )

    assert unknown.refusal.reason == answer_pb2.REFUSAL_REASON_NO_DOCUMENT_NAMED
    assert asked_of_none == 0
    assert quoted(response) == {OTHER.document_id, SLINGBAG.document_id}
    assert {stage.stage: stage.calls for stage in response.usage} == {"grade": 2, "answer": 2}


async def test_a_dry_run_tells_of_each_stage_once_for_all_documents(index, tmp_path):
    async with ModelServer() as server, answering(index, tmp_path, OPENAI_BASE_URL=server.url) as queries:
        response = await queries.Query(
            QueryRequest(
                query="Is liability limited in the Larkspur agreement and in the Slingbag agreement?",
                dry_run=True,
            )
        )
    assert [stage.stage for stage in response.dry_run.stages] == ["grade", "answer"]


async def test_a_dry_run_of_a_question_for_a_document_that_is_not_there_would_send_nothing(queries):
    request = QueryRequest(query="What is the cap in the Kormoran agreement?", dry_run=True)
    response = await queries.Query(request)
    assert not response.dry_run.stages
