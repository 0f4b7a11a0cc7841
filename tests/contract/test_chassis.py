"""The plumbing of every service, tried over real sockets with one small service of ours."""

import asyncio
import re
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chassis.addresses import AddressRefused
from chassis.channel import open_channel, time_left
from chassis.errors import ServiceError, Unavailable
from chassis.policy import ServerPolicy
from chassis.server import Services, serving
from chassis.status import DETAILS_KEY, error_of, upstream_errors
from clausegate.corpus.v1 import chunk_pb2, document_pb2
from clausegate.retrieval.v1 import document_service_pb2 as messages
from clausegate.retrieval.v1 import document_service_pb2_grpc as wire
from clausegate.retrieval.v1 import index_service_pb2, index_service_pb2_grpc
from clausegate.rpc.v1 import error_reason_pb2
from services.ingest.errors import DocumentNotFound

NAME = "clausegate.retrieval.v1.DocumentService"


class Documents(wire.DocumentServiceServicer):
    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.failures = 0

    async def GetDocument(self, request, context):  # noqa: N802
        match request.document_id:
            case "missing":
                raise DocumentNotFound("no such document", field="document_id")
            case "defect":
                raise ZeroDivisionError("secret detail")
            case "unfinished":
                raise NotImplementedError("secret detail")
            case "busy":
                raise Unavailable("try later", retry_after_seconds=2.5)
            case "flaky" if self.failures < 2:
                self.failures += 1
                raise Unavailable("not yet")
            case "slow":
                await self._hang()
        document = document_pb2.Document(document_id=request.document_id, size_bytes=round(time_left(1000)))
        return messages.GetDocumentResponse(document=document)

    async def _hang(self) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def offer(servicer: Documents) -> Services:
    return Services((NAME,), lambda server: wire.add_DocumentServiceServicer_to_server(servicer, server))


@asynccontextmanager
async def running(servicer: Documents, drain_seconds: float = 1, **channel):
    async with (
        serving("127.0.0.1:0", [offer(servicer)], ServerPolicy(drain_seconds=drain_seconds)) as address,
        open_channel(address, **channel) as opened,
    ):
        yield opened


def get(channel: grpc.aio.Channel, document_id: str, seconds: float = 30):
    request = messages.GetDocumentRequest(document_id=document_id)
    return wire.DocumentServiceStub(channel).GetDocument(request, timeout=seconds)


async def failure_of(channel: grpc.aio.Channel, document_id: str, seconds: float = 30) -> ServiceError:
    with pytest.raises(ServiceError) as caught, upstream_errors():
        await get(channel, document_id, seconds)
    return caught.value


async def test_an_error_keeps_its_code_reason_and_field_across_the_wire():
    async with running(Documents()) as channel:
        error = await failure_of(channel, "missing")

    assert (error.code, error.reason, error.field) == ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_id")
    assert error.message == "no such document"


async def test_a_wait_is_told_to_the_caller():
    async with running(Documents()) as channel:
        error = await failure_of(channel, "busy")

    assert (error.code, error.retry_after_seconds) == ("UNAVAILABLE", 2.5)


@pytest.mark.parametrize("defect", ["defect", "unfinished"])
async def test_a_defect_is_internal_and_tells_nothing_foreign(defect):
    async with running(Documents()) as channel:
        error = await failure_of(channel, defect)

    assert (error.code, error.reason) == ("INTERNAL", "INTERNAL")
    assert not re.search("secret|Zero|Implemented", error.message)


@pytest.mark.parametrize("kind", ["unary_unary", "unary_stream", "stream_unary", "stream_stream"])
async def test_a_call_that_no_service_offers_is_unimplemented_and_says_so(kind):
    async with running(Documents()) as channel:
        call = getattr(channel, kind)(f"/{NAME}/TellFortunes")(iter([b""]) if kind < "u" else b"")
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await (call.read() if kind.endswith("stream") else call)

    assert failed.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert DETAILS_KEY in dict(tuple(failed.value.trailing_metadata()))
    assert error_of(failed.value).reason == "UNIMPLEMENTED"


async def test_a_call_that_a_service_does_not_have_yet_is_unimplemented():
    async with running(Documents()) as channel:
        with pytest.raises(ServiceError) as failed, upstream_errors():
            await wire.DocumentServiceStub(channel).ListSources(messages.ListSourcesRequest())

    assert (failed.value.code, failed.value.reason) == ("UNIMPLEMENTED", "UNIMPLEMENTED")


async def test_a_server_of_another_make_that_offers_no_such_call_is_unimplemented():
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        error = await failure_of(channel, "any")
    await server.stop(0)

    assert (error.code, error.reason) == ("UNIMPLEMENTED", "UNIMPLEMENTED")


class Away(index_service_pb2_grpc.IndexServiceServicer):
    """Fails before it has read anything."""

    async def ReplaceDocument(self, request_iterator, context):  # noqa: N802
        raise Unavailable("try later", retry_after_seconds=2.5)
        yield


async def batches():
    for _ in range(10):
        yield index_service_pb2.ReplaceDocumentRequest(
            chunks=index_service_pb2.ChunkBatch(chunks=[chunk_pb2.Chunk(text="a" * 1000)] * 300)
        )


async def test_an_error_reaches_a_caller_that_is_still_writing():
    index = Services(
        ("clausegate.retrieval.v1.IndexService",),
        lambda server: index_service_pb2_grpc.add_IndexServiceServicer_to_server(Away(), server),
    )
    async with (
        serving("127.0.0.1:0", [index], ServerPolicy(drain_seconds=1)) as address,
        open_channel(address) as channel,
    ):
        call = index_service_pb2_grpc.IndexServiceStub(channel).ReplaceDocument(batches(), timeout=30)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await call.read()

    assert error_of(failed.value).reason == "UPSTREAM_UNAVAILABLE"


async def test_the_callers_deadline_is_what_calls_made_for_it_have_left():
    async with running(Documents()) as channel:
        answer = await get(channel, "x", seconds=60)

    assert 50 <= answer.document.size_bytes <= 60


async def test_a_missed_deadline_ends_the_work_and_is_typed():
    servicer = Documents()
    async with running(servicer) as channel:
        error = await failure_of(channel, "slow", seconds=4)
        await asyncio.wait_for(servicer.cancelled.wait(), 20)

    assert error.code == "DEADLINE_EXCEEDED"


async def test_a_cancelled_call_ends_the_work():
    servicer = Documents()
    async with running(servicer) as channel:
        call = asyncio.ensure_future(get(channel, "slow"))
        await asyncio.wait_for(servicer.started.wait(), 20)
        call.cancel()
        await asyncio.wait_for(servicer.cancelled.wait(), 20)


async def test_reads_are_tried_again_while_the_other_side_is_unavailable():
    async with running(Documents(), retried_services=[NAME]) as channel:
        answer = await get(channel, "flaky")

    assert answer.document.document_id == "flaky"


async def test_other_calls_are_not_tried_again():
    async with running(Documents()) as channel:
        assert (await failure_of(channel, "flaky")).code == "UNAVAILABLE"


async def test_nobody_there_is_unavailable():
    async with open_channel("127.0.0.1:1") as channel:
        error = await failure_of(channel, "x")

    assert (error.code, error.reason) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
    assert error.retry_after_seconds is not None


async def test_a_message_beyond_the_bound_is_too_much_and_not_a_defect():
    async with running(Documents()) as channel:
        error = await failure_of(channel, "x" * 5 * 2**20)

    assert (error.code, error.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
    assert "CLAUSEGATE_MAX_MESSAGE_BYTES" in error.message


async def test_health_is_told_for_the_server_and_for_each_service():
    async with running(Documents()) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = [await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", NAME)]

    assert {answer.status for answer in answers} == {health_pb2.HealthCheckResponse.SERVING}


async def test_a_process_that_cannot_work_now_is_still_alive():
    services = offer(Documents())
    services.readiness.set(False)
    async with serving("127.0.0.1:0", [services]) as address, open_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = [await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", "liveness")]

    assert [answer.status for answer in answers] == [
        health_pb2.HealthCheckResponse.NOT_SERVING,
        health_pb2.HealthCheckResponse.SERVING,
    ]


async def test_a_generic_client_finds_the_services_by_reflection():
    async with running(Documents()) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        answers = [answer async for answer in call]

    assert NAME in [service.name for service in answers[0].list_services_response.service]


async def test_running_calls_are_drained_before_the_server_ends():
    servicer = Documents()
    async with AsyncExitStack() as channels:
        async with serving("127.0.0.1:0", [offer(servicer)], ServerPolicy(drain_seconds=0.2)) as address:
            channel = await channels.enter_async_context(open_channel(address))
            call = asyncio.ensure_future(get(channel, "slow"))
            await asyncio.wait_for(servicer.started.wait(), 20)
        await asyncio.wait_for(servicer.cancelled.wait(), 20)
        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def test_an_address_that_others_reach_is_not_bound():
    with pytest.raises(AddressRefused):
        async with serving("0.0.0.0:0", [], ServerPolicy(drain_seconds=1)):
            raise AssertionError("bound")


def subclasses(kind: type[ServiceError]) -> set[type[ServiceError]]:
    return {kind} | {found for sub in kind.__subclasses__() for found in subclasses(sub)}


def test_every_error_has_a_documented_reason():
    documented = {
        name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.DESCRIPTOR.values_by_name
    }

    given = {kind.reason for kind in subclasses(ServiceError) if hasattr(kind, "reason")}
    assert given <= documented - {"UNSPECIFIED"}
