"""The index takes nothing that ingest did not write, whatever a caller's credential may do."""

import hashlib

import grpc
import pytest
import pytest_asyncio

from chassis.auth import Caller
from chassis.index_key import IndexKeys
from chassis.status import error_of
from clausegate.retrieval.v1 import index_service_pb2, index_service_pb2_grpc
from tests.contract.keyed_stack import ANNA, INDEX_KEYS, SCOPED, keyed_stack
from tests.contract.retrieval_index import Text

pytestmark = pytest.mark.asyncio(loop_scope="module")

GENUINE = b"# Fees\n\nThe Licensee shall pay a fee of USD 120 for each month, in advance.\n"
ALTERED = Text("cme/fees.md", ["The Licensee shall pay no fee."])
REPLACE = "/clausegate.retrieval.v1.IndexService/ReplaceDocument"
REMOVE = "/clausegate.retrieval.v1.IndexService/RemoveDocument"
OTHER_KEYS = IndexKeys([b"another key of thirty-two bytes.."])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("index")) as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(stack):
    async with grpc.aio.insecure_channel(stack.addresses.retrieval) as channel:
        yield index_service_pb2_grpc.IndexServiceStub(channel)


async def refusal_of(call):
    """Why a call failed."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await all_of(call)
    error = error_of(failed.value)
    return error.code, error.reason


async def all_of(call):
    return [each async for each in call] if hasattr(call, "__aiter__") else [await call]


def writing(index, authorization, requests):
    return index.ReplaceDocument(iter(requests), metadata=[("authorization", authorization)], timeout=20)


@pytest.mark.parametrize(
    "authorization", [f"Bearer {ANNA}", SCOPED["key: admin"][1]], ids=["ingest", "admin"]
)
@pytest.mark.parametrize("ending", [-1, None], ids=["staged", "committed"])
async def test_a_caller_can_neither_stage_nor_commit_and_the_genuine_file_is_indexed(
    stack, index, authorization, ending
):
    genuine = f"fees-{len(authorization)}-{ending}.md"
    async with stack.client(ANNA) as client:
        first = await client.ingest(GENUINE, source="cme", path=genuine)
        await client.remove_document(f"cme/{genuine}")
    # Of the very generation that the genuine file is going to have.
    forged = Forged(f"cme/{genuine}", ALTERED.paragraphs, generation_now=first.document.generation)

    refused = await refusal_of(writing(index, authorization, forged.requests()[:ending]))

    assert refused == ("PERMISSION_DENIED", "INGEST_ONLY")
    async with stack.client(ANNA) as client:
        receipt = await client.ingest(GENUINE, source="cme", path=genuine)
        texts = [chunk.text async for chunk in client.chunks(f"cme/{genuine}")]
        await client.remove_document(f"cme/{genuine}")
    assert receipt.document.generation == first.document.generation
    assert receipt.document.content_sha256 == hashlib.sha256(GENUINE).hexdigest()
    assert "The Licensee shall pay a fee of USD 120 for each month, in advance." in "".join(texts)


class Forged(Text):
    """A text that claims another generation."""

    def __init__(self, document_id, paragraphs, generation_now):
        super().__init__(document_id, paragraphs)
        object.__setattr__(self, "generation_now", generation_now)

    @property
    def generation(self):
        return self.generation_now


async def test_a_caller_cannot_remove_past_ingest(stack, index):
    request = index_service_pb2.RemoveDocumentRequest(document_id="cme/fees.md")

    refused = await refusal_of(index.RemoveDocument(request, metadata=[("authorization", f"Bearer {ANNA}")]))

    assert refused == ("PERMISSION_DENIED", "INGEST_ONLY")


@pytest.mark.parametrize(
    "signed",
    [OTHER_KEYS.sign(Caller("acme", "ingest"), REPLACE), INDEX_KEYS.sign(Caller("acme", "ingest"), REMOVE)],
    ids=["another key", "another call"],
)
async def test_what_the_index_key_has_not_signed_is_no_credential(index, signed):
    refused = await refusal_of(writing(index, f"Bearer {signed}", ALTERED.requests()))

    assert refused == ("UNAUTHENTICATED", "UNAUTHENTICATED")


async def test_ingest_cannot_write_for_a_caller_to_a_source_that_the_caller_does_not_hold(index):
    caller = Caller("acme", "reports", sources=frozenset({"ice"}))

    refused = await refusal_of(
        writing(index, f"Bearer {INDEX_KEYS.sign(caller, REPLACE)}", ALTERED.requests())
    )

    assert refused == ("PERMISSION_DENIED", "PERMISSION_DENIED")
