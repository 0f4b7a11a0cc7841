"""How many, how long and how slow calls of gRPC may be, over real sockets with a small service of ours."""

import asyncio
import gc
import socket
from contextlib import asynccontextmanager, contextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.channel import open_channel, time_left
from chassis.errors import InvalidInput, ServiceError
from chassis.limits.interceptor import MAX_HEALTH_WATCHES
from chassis.limits.settings import LimitSettings
from chassis.policy import ServerPolicy
from chassis.server import Services, serving
from chassis.status import error_of

NAME = "clausegate.test.Bounds"
KINDS = pytest.mark.parametrize("kind", ["unary_unary", "unary_stream", "stream_unary", "stream_stream"])
PIECE = bytes(500_000)
SOON = 0.3
"""Seconds of a bound that is tried."""
SLACK = 3
"""Seconds of one that other calls are to keep, also where the machine stands still for a while."""
LATEST = 30
"""Seconds after which a test gives up."""
SHORT = {"max_deadline_seconds": SOON, "upload_deadline_seconds": SOON}


class Service:
    """Waits, sends without end, or says how much time there is, as a request says."""

    def __init__(self) -> None:
        self.begun = asyncio.Queue[None]()
        self.ended = asyncio.Queue[None]()
        self.sent = 0

    def register(self, server: grpc.aio.Server) -> None:
        handlers = {
            "unary_unary": grpc.unary_unary_rpc_method_handler(self._one),
            "unary_stream": grpc.unary_stream_rpc_method_handler(self._some),
            "stream_unary": grpc.stream_unary_rpc_method_handler(self._last),
            "stream_stream": grpc.stream_stream_rpc_method_handler(self._each),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))

    async def _one(self, request: bytes, context) -> bytes:
        self.begun.put_nowait(None)
        try:
            if request == b"wait":
                await asyncio.Event().wait()
            if request == b"fail":
                raise InvalidInput("as asked")
            return f"{time_left(1e6):.0f}".encode()
        finally:
            self.ended.put_nowait(None)

    async def _some(self, request: bytes, context):
        try:
            while request == b"flood":
                yield PIECE
                self.sent += 1
            yield await self._one(request, context)
        finally:
            self.ended.put_nowait(None)

    async def _last(self, requests, context) -> bytes:
        return [await self._one(request, context) async for request in requests][-1]

    async def _each(self, requests, context):
        try:
            async for request in requests:
                yield await self._one(request, context)
        finally:
            self.ended.put_nowait(None)


@asynccontextmanager
async def running(service: Service, **limits):
    policy = ServerPolicy(limits=LimitSettings(**limits))
    services = [Services((NAME,), service.register)]
    async with serving("127.0.0.1:0", services, policy) as address, open_channel(address) as channel:
        yield channel


def call(channel: grpc.aio.Channel, kind: str, request: bytes, seconds: float | None = LATEST):
    sent = request if kind.startswith("unary") else sending(request)
    return getattr(channel, kind)(f"/{NAME}/{kind}")(sent, timeout=seconds)


async def sending(*requests: bytes):
    for request in requests:
        yield request


async def answered(running_call) -> bytes:
    if hasattr(running_call, "__await__"):
        return await running_call
    return [answer async for answer in running_call][-1]


async def failure_of(running_call) -> ServiceError:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await answered(running_call)
    return error_of(failed.value)


async def within(wanted):
    async with asyncio.timeout(LATEST):
        return await wanted


@KINDS
@pytest.mark.parametrize("asked", [None, 1e5], ids=["none", "too much"])
async def test_a_call_gets_no_more_time_than_there_is(kind, asked):
    async with running(Service(), max_deadline_seconds=500) as channel:
        assert 400 < float(await within(answered(call(channel, kind, b"", asked)))) <= 500


@KINDS
async def test_a_shorter_deadline_of_the_caller_stays(kind):
    async with running(Service(), max_deadline_seconds=500) as channel:
        assert float(await answered(call(channel, kind, b"", LATEST))) <= LATEST


@KINDS
async def test_work_that_takes_too_long_is_ended_and_says_why(kind):
    service = Service()
    async with running(service, **SHORT) as channel:
        error = await within(failure_of(call(channel, kind, b"wait", None)))
        for _ in range(service.begun.qsize()):  # none, when the request came after the time was over
            await within(service.ended.get())

    assert (error.code, error.reason) == ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED")
    assert error.message == "A call of this kind is ended after 0.3 seconds."


@KINDS
async def test_a_client_that_sends_nothing_loses_its_call(kind):
    # To the server a stream that brings nothing looks like a call of one message whose client is slow.
    streamed = f"stream_{kind.split('_')[1]}"
    async with running(Service(), client_stall_seconds=SOON) as channel:
        begun = getattr(channel, streamed)(f"/{NAME}/{kind}")(timeout=LATEST)
        error = await within(failure_of(begun))

    assert (error.code, error.reason) == ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED")
    assert error.message == "The client sends nothing for 0.3 seconds."


async def test_a_client_that_reads_nothing_holds_neither_work_nor_place():
    service = Service()
    async with running(service, client_stall_seconds=SLACK, max_running_calls=1) as channel:
        flood = call(channel, "unary_stream", b"flood", None)
        await within(service.ended.get())
        assert await answered(call(channel, "unary_unary", b""))
        flood.cancel()

    assert service.sent < 100


async def test_more_calls_than_may_run_are_told_to_come_again():
    service = Service()
    async with running(service, max_running_calls=2) as channel:
        held = [call(channel, kind, b"wait") for kind in ("unary_unary", "stream_stream")]
        readers = [asyncio.create_task(failure_of(each)) for each in held]
        for _ in held:
            await within(service.begun.get())
        error = await failure_of(call(channel, "unary_unary", b""))
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)

    assert (error.code, error.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
    assert error.retry_after_seconds == 1


async def test_health_is_told_also_when_no_more_calls_may_run():
    service = Service()
    async with running(service, max_running_calls=1) as channel:
        held = asyncio.create_task(failure_of(call(channel, "unary_unary", b"wait")))
        await within(service.begun.get())
        health = health_pb2_grpc.HealthStub(channel)
        response = await health.Check(health_pb2.HealthCheckRequest(), timeout=LATEST)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)

    assert response.status == health_pb2.HealthCheckResponse.SERVING


async def test_watches_of_health_that_nobody_ends_take_no_place_of_others():
    async with running(Service()) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest()
        held = [health.Watch(request, timeout=LATEST) for _ in range(MAX_HEALTH_WATCHES)]
        for watch in held:
            await watch.read()
        one_more = await failure_of(health.Watch(request, timeout=LATEST))
        checked = await health.Check(request, timeout=LATEST)
        other = await within(answered(call(channel, "unary_stream", b"")))
        for watch in held:
            watch.cancel()

    assert (one_more.code, one_more.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
    assert checked.status == health_pb2.HealthCheckResponse.SERVING
    assert other


@pytest.mark.parametrize("size", ["largest", "larger"])
async def test_a_message_beyond_the_bound_is_refused(size):
    bytes_sent = 2**20 + (size == "larger")
    async with running(Service(), max_message_bytes=2**20) as channel:
        begun = call(channel, "unary_unary", bytes(bytes_sent))
        outcome = await failure_of(begun) if size == "larger" else await answered(begun)
        code = await begun.code()

    assert outcome
    assert code is (grpc.StatusCode.RESOURCE_EXHAUSTED if size == "larger" else grpc.StatusCode.OK)


async def test_metadata_beyond_the_bound_is_refused():
    async with running(Service(), max_head_bytes=4096) as channel:
        method = channel.unary_unary(f"/{NAME}/unary_unary")
        assert await method(b"", metadata=[("x-long", "x" * 3000)], timeout=LATEST)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await method(b"", metadata=[("x-long", "x" * 5000)], timeout=LATEST)

    assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Of HTTP/2 (RFC 9113, 4.1)."""
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def literal(name: str, value: str) -> bytes:
    """A header that is in no table (RFC 7541, 6.2.2), of fewer than 127 bytes each."""
    return b"".join([b"\0", *(bytes([len(text)]) + text.encode() for text in (name, value))])


async def test_metadata_beyond_the_bound_is_refused_to_a_client_that_knows_of_no_bound():
    # One that acknowledges no settings, which gRPC itself gives 16 MiB.
    head = b"\x83\x86" + literal(":path", f"/{NAME}/unary_unary") + literal(":authority", "localhost")
    head += literal("content-type", "application/grpc") + literal("te", "trailers")
    long = b"".join(literal(f"x-{number}", "x" * 100) for number in range(50))
    async with serving("127.0.0.1:0", [], ServerPolicy(limits=LimitSettings(max_head_bytes=4096))) as address:
        host, port = address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + frame(1, 5, 1, head + long))
        received = b""
        async with asyncio.timeout(LATEST):
            while b"grpc-message" not in received:
                received += await reader.read(65536)
        writer.close()
        await writer.wait_closed()

    assert b"The metadata of a call has at most 4096 bytes." in received


async def test_connections_beyond_the_bound_are_closed():
    async with serving(
        "127.0.0.1:0",
        [Services((NAME,), Service().register)],
        ServerPolicy(limits=LimitSettings(max_connections=2)),
    ) as address:
        host, _, port = address.rpartition(":")
        opened = [socket.create_connection((host, int(port)), timeout=LATEST) for _ in range(3)]
        ends = await within(asyncio.gather(*(asyncio.to_thread(_first, each) for each in opened)))
        for each in opened:
            each.close()

    assert ends.count(b"") == 1


def _first(connection: socket.socket) -> bytes:
    """The first byte that the server sends, b"" when it closes."""
    try:
        return connection.recv(1)
    except ConnectionError:
        return b""


@contextmanager
def without_garbage_collection():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("asked", [b"", b"fail"], ids=["answered", "failed"])
@KINDS
async def test_a_call_that_has_ended_is_none_of_those_that_a_connection_may_have(kind, asked):
    streams = 40
    async with running(Service(), max_connection_streams=streams) as channel:
        with without_garbage_collection():
            for _ in range(3 * streams):
                if asked:
                    assert (await failure_of(call(channel, kind, asked))).message == "as asked"
                else:
                    await answered(call(channel, kind, asked))


async def test_a_call_that_is_refused_at_the_entrance_is_none_of_them_either():
    streams = 40
    async with running(Service(), max_connection_streams=streams) as channel:
        with without_garbage_collection():
            for _ in range(3 * streams):
                error = await failure_of(channel.unary_unary(f"/{NAME}/nothing")(b"", timeout=LATEST))
                assert error.code == "UNIMPLEMENTED"


async def test_nor_is_a_call_that_generated_code_has_ended():
    streams = 40
    async with running(Service(), max_connection_streams=streams) as channel:
        ask = health_pb2_grpc.HealthStub(channel).Check
        with without_garbage_collection():
            for _ in range(3 * streams):
                with pytest.raises(grpc.aio.AioRpcError) as failed:
                    await ask(health_pb2.HealthCheckRequest(service="unknown"), timeout=LATEST)
                assert failed.value.code() is grpc.StatusCode.NOT_FOUND
