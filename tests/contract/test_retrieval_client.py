"""What answer asks of retrieval, from a real retrieval service over real sockets."""

from __future__ import annotations

from dataclasses import replace

import pytest
import pytest_asyncio

from chassis.channel import open_channel
from chassis.errors import ServiceError
from clausegate.retrieval.v1 import project_service_pb2
from services.answer.clients.retrieval import RetrievalClient
from services.answer.questions import Question
from tests.contract.retrieval_index import Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEES = Text("cme/fees.txt", [f"Fee {number} is due monthly." for number in range(130)], terms=[("Fee", 0)])
TERMS = Text("cme/terms.txt", ["Terms are five years.", "A fee is due."])
RULES = Text("opra/rules.txt", ["Rules apply."])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory, socket_dirs):
    sockets = socket_dirs()
    async with running(tmp_path_factory.mktemp("index"), sockets) as service:
        for text in (FEES, TERMS, RULES):
            await service.put(text)
        yield service, f"unix:{sockets}/retrieval"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(service):
    async with open_channel(service[1]) as channel:
        yield RetrievalClient(channel, 30, at_once=4)


async def refusal(awaited):
    with pytest.raises(ServiceError) as refused:
        await awaited
    return refused.value.code, refused.value.reason, refused.value.field


async def test_a_project_is_its_sources(service, client):
    request = project_service_pb2.CreateProjectRequest(project_id="pricing", sources=["opra", "cme"])
    await service[0].call(service[0].projects.CreateProject, request)
    assert (await client.project("pricing")).sources == ("cme", "opra")


async def test_an_unknown_project_is_named_as_callers_name_it(client):
    assert await refusal(client.project("none")) == ("NOT_FOUND", "PROJECT_NOT_FOUND", "project")


async def test_documents_of_sources_are_listed_with_their_generations(client):
    documents = await client.documents(["cme"], [])
    assert [(each.document_id, each.generation) for each in documents] == [
        (FEES.document_id, FEES.generation),
        (TERMS.document_id, TERMS.generation),
    ]
    assert len(await client.documents([], [])) == 3


async def test_documents_are_found_by_id(client):
    asked = [RULES.document_id, FEES.document_id, RULES.document_id]
    documents = await client.documents(["cme"], asked)
    assert [each.document_id for each in documents] == [FEES.document_id, RULES.document_id]


async def test_an_unknown_document_or_source_is_named(client):
    missing = client.documents([], [FEES.document_id, "cme/none.txt"])
    assert await refusal(missing) == ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[1]")
    assert await refusal(client.documents(["cme", "none"], [])) == (
        "NOT_FOUND",
        "SOURCE_NOT_FOUND",
        "sources[1]",
    )


async def test_all_chunks_of_a_document_come_in_order(client):
    chunks = [chunk async for chunk in client.document_chunks(FEES.document_id)]
    assert [chunk.text for chunk in chunks] == FEES.paragraphs


async def test_an_assembled_context_is_made_of_chunks(client):
    assembled = await client.assemble("", [], [TERMS.document_id], 8000)
    assert [passage.text for passage in assembled.passages] == TERMS.paragraphs
    assert (assembled.chunks_left_out, assembled.token_count > 0) == (0, True)

    small = await client.assemble("monthly fee", ["cme"], [], 100)
    assert 0 < small.token_count <= 100
    assert small.chunks_left_out > 0


@pytest.mark.parametrize(
    ("named", "searched", "terms"),
    [(["cme/gone.txt"], 3, ["Fee"]), (["cme/gone.txt", TERMS.document_id], 1, [])],
)
async def test_a_document_that_the_question_only_names_may_be_gone(client, named, searched, terms):
    question = Question("Is a fee due?")
    found = await client.search(question, top_k=12, vector_k=10, keyword_k=10)
    routed = replace(found, routed=dict.fromkeys(named, 1.0))

    census = await client.count_terms(question, routed, ["fee"])
    definitions = await client.find_definitions(question, routed, (), 2)

    assert census.documents == searched
    assert [each.definition.term for each in definitions] == terms


@pytest.mark.parametrize("call", ["count_terms", "find_definitions"])
async def test_a_document_that_the_caller_asked_for_must_be_there(client, call):
    found = await client.search(Question("Is a fee due?"), top_k=12, vector_k=10, keyword_k=10)
    question = Question("Is a fee due?", document_ids=("cme/none.txt",))
    rest = {"count_terms": (["fee"],), "find_definitions": ((), 2)}[call]
    asked = getattr(client, call)(question, found, *rest)
    assert await refusal(asked) == ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[0]")
