"""Questions about documents that are replaced while they are answered: never a refusal for that reason."""

import asyncio

import grpc
import pytest

from chassis.channel import open_channel
from chassis.server import serving
from chassis.status import error_of
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest
from clausegate.answer.v1.research_service_pb2_grpc import ResearchServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2 import SearchRequest
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from tests.contract.relay import relay
from tests.contract.retrieval_index import Text, running

QUESTION = "What is the monthly fee of the Zorvane licence?"


def licence(fee):
    return Text("cme/licence.txt", [f"The monthly fee of the Zorvane licence is USD {fee} for each site."])


async def test_a_search_always_finds_a_version_of_a_document_that_is_replaced_again_and_again(
    tmp_path, socket_dirs
):
    async with running(tmp_path, socket_dirs()) as service:
        await service.put(licence(0))

        async def replace_again_and_again():
            for fee in range(1, 40):
                await service.put(licence(fee))

        writing = asyncio.create_task(replace_again_and_again())
        request = SearchRequest(query=QUESTION, document_ids=["cme/licence.txt"])
        found = [await service.call(service.retrieval.Search, request)]
        while not writing.done():
            found.append(await service.call(service.retrieval.Search, request))
        await writing
    assert all(len(each.candidates) == 1 for each in found)


@pytest.fixture
async def stubs(tmp_path, socket_dirs):
    """Of an answer service whose documents are replaced whenever it reads a quoted one again."""
    sockets = socket_dirs()
    async with running(tmp_path / "index", sockets) as service:
        await service.put(licence(1))

        async def replace_document(method: str) -> None:
            if method == "GetChunks":
                await service.put(licence(2))

        async with (
            relay(f"unix:{sockets}/retrieval", replace_document) as between,
            answer(AnswerSettings(retrieval_address=between, data_dir=tmp_path)) as services,
            serving("127.0.0.1:0", [services]) as address,
            open_channel(address) as channel,
        ):
            yield QueryServiceStub(channel), ResearchServiceStub(channel)


async def test_a_question_whose_document_was_replaced_is_a_conflict_that_may_be_repeated(stubs):
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await stubs[0].Query(QueryRequest(query=QUESTION))
    error = error_of(failure.value)
    assert (error.code, error.reason, error.retry_after_seconds) == ("ABORTED", "DOCUMENT_CONFLICT", 1.0)
    assert "USD 2" in (await stubs[0].Query(QueryRequest(query=QUESTION))).answer


async def test_passages_whose_document_was_replaced_are_a_conflict_that_may_be_repeated(stubs):
    request = ExtractSnippetsRequest(project="-", query=QUESTION)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        [event async for event in stubs[1].ExtractSnippets(request)]
    assert error_of(failure.value).reason == "DOCUMENT_CONFLICT"
    events = [event async for event in stubs[1].ExtractSnippets(request)]
    assert "USD 2" in events[0].result.content
