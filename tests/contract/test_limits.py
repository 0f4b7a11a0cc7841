"""Limits of a credential, over real sockets, and of the calls that services make for it."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import grpc
import pytest

from chassis.api_keys import ApiKeys, new_key, to_json
from chassis.auth import Caller
from chassis.channel import open_channel
from chassis.credentials import Credentials
from chassis.errors import ServiceError
from chassis.limits.concurrency import SHARE
from chassis.limits.settings import LimitSettings
from chassis.policy import ServerPolicy
from chassis.server import Services, serving
from chassis.settings import ProcessSettings
from chassis.status import upstream_errors
from clausegate.answer.v1 import query_service_pb2, query_service_pb2_grpc
from clausegate.retrieval.v1 import document_service_pb2, document_service_pb2_grpc
from tests.contract.gateway_services import Script
from tests.contract.gateway_services import running as running_gateway

NOW = datetime(2026, 11, 21, tzinfo=UTC)
ANNAS, ANNA = new_key(Caller("acme", "anna"), NOW)
BERTS, BERT = new_key(Caller("acme", "bert"), NOW)
LATEST = 30
NARROW = {"reads_per_second": 0.001, "reads_burst": 2, "queries_per_second": 0.001, "queries_burst": 8}
READS_OF_A_QUERY = 20
NAMES = ("clausegate.retrieval.v1.DocumentService", "clausegate.answer.v1.QueryService")


class Documents(document_service_pb2_grpc.DocumentServiceServicer):
    async def ListSources(self, request, context):  # noqa: N802
        return document_service_pb2.ListSourcesResponse()


class Queries(query_service_pb2_grpc.QueryServiceServicer):
    """Reads a lot for every query."""

    def __init__(self) -> None:
        self.channel: grpc.aio.Channel | None = None

    async def Query(self, request, context):  # noqa: N802
        with upstream_errors():
            await asyncio.gather(*(read(self.channel) for _ in range(READS_OF_A_QUERY)))
        return query_service_pb2.QueryResponse()


def read(channel, key: str | None = None):
    stub = document_service_pb2_grpc.DocumentServiceStub(channel)
    return stub.ListSources(document_service_pb2.ListSourcesRequest(), **carrying(key))


def ask(channel, key: str):
    stub = query_service_pb2_grpc.QueryServiceStub(channel)
    return stub.Query(query_service_pb2.QueryRequest(), **carrying(key))


def carrying(key: str | None):
    return {"metadata": [("authorization", f"Bearer {key}")] if key else [], "timeout": LATEST}


@asynccontextmanager
async def running(folder, **settings):
    """A channel to both services on one server, which call each other there as in the embedded stack."""
    (folder / "keys.json").write_text(to_json([ANNAS, BERTS]))
    queries = Queries()

    def register(server: grpc.aio.Server) -> None:
        document_service_pb2_grpc.add_DocumentServiceServicer_to_server(Documents(), server)
        query_service_pb2_grpc.add_QueryServiceServicer_to_server(queries, server)

    policy = ServerPolicy(Credentials(ApiKeys(folder / "keys.json")), limits=ProcessSettings(**settings))
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serving("127.0.0.1:0", [Services(NAMES, register)], policy))
        queries.channel = await stack.enter_async_context(open_channel(address))
        yield await stack.enter_async_context(open_channel(address))


async def refusal_of(call) -> ServiceError:
    with pytest.raises(ServiceError) as refused, upstream_errors():
        await call
    return refused.value


async def test_a_credential_that_calls_too_often_is_told_when_to_call_again(tmp_path):
    async with running(tmp_path, reads_per_second=0.01, reads_burst=2) as channel:
        await read(channel, ANNA)
        await read(channel, ANNA)
        error = await refusal_of(read(channel, ANNA))
        await read(channel, BERT)
        await ask(channel, ANNA)

    assert (error.code, error.reason) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED")
    assert 90 < error.retry_after_seconds <= 100
    assert error.message == "This caller may make 0.01 reads a second."


async def test_a_query_that_is_let_in_never_fails_for_the_reads_that_it_causes(tmp_path):
    async with running(tmp_path, **NARROW, reads_at_once=1, open_calls=10) as channel:
        await read(channel, ANNA)
        await read(channel, ANNA)
        assert (await refusal_of(read(channel, ANNA))).reason == "RATE_LIMITED"
        await asyncio.gather(*(ask(channel, ANNA) for _ in range(8)))
        assert (await refusal_of(ask(channel, ANNA))).reason == "RATE_LIMITED"


async def test_the_gateway_tells_a_credential_when_to_ask_again_before_it_reads_a_body(tmp_path):
    stack = {"reads_per_second": 0.01, "reads_burst": 1, "api_keys_file": tmp_path / "keys.json"}
    (tmp_path / "keys.json").write_text(to_json([ANNAS, BERTS]))
    async with running_gateway(Script(), **stack) as client:
        answers = [
            await client.get("/v1/sources", headers={"Authorization": f"Bearer {key}"})  # none serves it
            for key in (ANNA, ANNA, BERT)
        ]
        too_soon = await client.post(
            "/v1/search", headers={"Authorization": f"Bearer {ANNA}"}, content=b"no JSON at all"
        )

    assert [answer.status_code for answer in answers] == [501, 429, 501]
    assert answers[1].json()["reason"] == too_soon.json()["reason"] == "RATE_LIMITED"
    assert 90 < int(answers[1].headers["Retry-After"]) <= 100


async def test_who_says_that_a_question_is_part_of_a_call_has_the_limits_of_questions_still(tmp_path):
    async with running(tmp_path, queries_per_second=0.01, queries_burst=1) as channel:
        metadata = [("authorization", f"Bearer {ANNA}"), ("clausegate-part", "1")]
        stub = query_service_pb2_grpc.QueryServiceStub(channel)
        await stub.Query(query_service_pb2.QueryRequest(), metadata=metadata, timeout=LATEST)
        error = await refusal_of(
            stub.Query(query_service_pb2.QueryRequest(), metadata=metadata, timeout=LATEST)
        )

    assert error.reason == "RATE_LIMITED"


def test_by_default_one_credential_leaves_room_for_others_in_every_queue():
    settings = ProcessSettings()

    assert settings.open_calls <= settings.max_running_calls / SHARE
    assert settings.queries_at_once <= settings.max_running_calls / 8
    assert issubclass(ProcessSettings, LimitSettings)
