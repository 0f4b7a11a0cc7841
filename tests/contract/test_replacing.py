"""Questions about documents that are replaced while they are answered: never a refusal for that reason."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import grpc
import pytest

from chassis.channel import open_channel
from chassis.server import Services, serving
from chassis.status import error_of
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest
from clausegate.answer.v1.research_service_pb2_grpc import ResearchServiceStub
from clausegate.retrieval.v1.retrieval_service_pb2 import GetChunksResponse
from clausegate.retrieval.v1.retrieval_service_pb2_grpc import (
    RetrievalServiceServicer,
    add_RetrievalServiceServicer_to_server,
)
from inference.tokens import ESTIMATE
from services.answer.clients.retrieval import RetrievalClient
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.retrieval.indexes import Index
from services.retrieval.queries import SearchQuery
from services.retrieval.search import DocumentsChanging
from services.retrieval.store.port import Store
from tests.contract.relay import relay
from tests.contract.retrieval_index import Text, running
from tests.contract.store.drafts import DIMENSION, Draft, open_embedded, put, vector_of

QUESTION = "What is the monthly fee of the Zorvane licence?"


def licence(fee):
    return Text("cme/licence.txt", [f"The monthly fee of the Zorvane licence is USD {fee} for each site."])


class ReplacedWhenRead:
    """A store whose document is replaced, as often as asked for, right before what was found is read."""

    def __init__(self, store: Store, times: int) -> None:
        self._store = store
        self._left = times

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def chunks(self, chunk_ids):
        if self._left:
            self._left -= 1
            await put(self._store, Draft("cme/a.txt", ["The fee is due."], generation=f"new-{self._left}"))
        return await self._store.chunks(chunk_ids)


class AnyModel:
    """Vectors of the drafts' own."""

    name, dimension, max_tokens = "model", DIMENSION, 256

    async def embed_query(self, text):
        return vector_of(text)


async def searched(times):
    """What a search finds while its document is replaced so often."""
    async with open_embedded() as store:
        await put(store, Draft("cme/a.txt", ["The fee is due."]))
        with ThreadPoolExecutor(1) as executor:
            index = Index.over(ReplacedWhenRead(store, times), AnyModel(), ESTIMATE, executor)
            return await index.searcher.search(SearchQuery("When is the fee due?"))


async def test_a_search_begins_anew_when_what_it_found_was_replaced_before_it_was_read():
    (candidate,) = (await searched(times=2)).candidates
    assert candidate.chunk.text == "The fee is due."


async def test_a_search_that_never_catches_up_is_a_conflict_and_no_empty_result():
    with pytest.raises(DocumentsChanging):
        await searched(times=3)


@pytest.fixture
async def stubs(tmp_path, socket_dirs):
    """Of an answer service one of whose documents is replaced whenever it reads quoted ones again.

    The other stays, and would be quoted alone.
    """
    sockets = socket_dirs()
    async with running(tmp_path / "index", sockets) as service:
        await service.put(licence(1))
        await service.put(
            Text("ice/licence.txt", ["The monthly fee of the Zorvane licence is USD 7 a site."])
        )

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
    answered = (await stubs[0].Query(QueryRequest(query=QUESTION))).answer
    assert "USD 2" in answered
    assert "USD 7" in answered


async def test_passages_whose_document_was_replaced_are_a_conflict_that_may_be_repeated(stubs):
    request = ExtractSnippetsRequest(project="-", query=QUESTION)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        [event async for event in stubs[1].ExtractSnippets(request)]
    assert error_of(failure.value).reason == "DOCUMENT_CONFLICT"
    events = [event async for event in stubs[1].ExtractSnippets(request)]
    assert any("USD 2" in event.result.content for event in events)


class TwoMoments(RetrievalServiceServicer):
    """Has read a chunk before its document was replaced, and the document after."""

    async def GetChunks(self, request, context):  # noqa: N802
        before, after = licence(1), licence(2)
        return GetChunksResponse(chunks=[before.chunk(0)], documents=[after.document()])


async def test_a_chunk_whose_document_is_of_another_generation_is_gone():
    offered = Services((), partial(add_RetrievalServiceServicer_to_server, TwoMoments()))
    async with serving("127.0.0.1:0", [offered]) as address, open_channel(address) as channel:
        chunks, documents = await RetrievalClient(channel, 30, at_once=1).read_back(["any"])
    assert chunks == {}
    assert list(documents) == ["cme/licence.txt"]
