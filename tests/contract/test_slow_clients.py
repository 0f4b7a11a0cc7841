"""What HTTP clients cost that are slow, silent, gone or too many, over real sockets."""

import asyncio
import json
import select
import socket
from contextlib import asynccontextmanager, suppress

import pytest

from clausegate.answer.v1 import query_service_pb2
from gateway.wiring import serving
from tests.contract.gateway_services import Script, client_of, problem_in, seen, services

SOON = 0.4
"""Seconds of a bound that is tried."""
SLACK = 3
"""Seconds of one that a client is to keep, also where the machine stands still for a while."""
LATEST = 30
"""Seconds after which a test gives up."""
LARGE = query_service_pb2.QueryResponse(answer="x" * 3_500_000)
QUESTION = b'{"query": "x"}'
HEAD = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
STREAM = HEAD.replace(b"query", b"query:stream")
WHOLE = b"Content-Length: %d\r\n\r\n%b" % (len(QUESTION), QUESTION)


@asynccontextmanager
async def gateway(script: Script, **settings):
    """The address of a gateway."""
    async with services(script, **settings) as configured, serving(configured) as address:
        yield address


def connected(address: str, receive_bytes: int = 65536) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(LATEST)
    connection.connect((host, int(port)))
    return connection


async def all_of(connection: socket.socket) -> bytes:
    """What the server sends until it closes, with a reset when more came than it had read."""
    received = []

    def read() -> bytes:
        with connection, suppress(ConnectionResetError):
            received.extend(iter(lambda: connection.recv(65536), b""))
        return b"".join(received)

    return await asyncio.to_thread(read)


async def dropped(connection: socket.socket) -> None:
    """Return when the server has dropped a connection that is not read."""
    waiting = select.poll()
    waiting.register(connection, 0)  # errors and the end are always told
    assert await asyncio.to_thread(waiting.poll, LATEST * 1000)


def problem_of(answer: bytes) -> tuple[int, str, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert b"content-type: application/problem+json" in head.lower()
    return int(head.split()[1]), problem["reason"], problem["detail"]


async def drip(connection: socket.socket, data: bytes) -> None:
    """Send byte by byte until the server does not take any more."""
    try:
        for byte in data:
            await asyncio.get_running_loop().sock_sendall(connection, bytes([byte]))
            await asyncio.sleep(SOON / 5)
    except ConnectionError:
        pass


async def dripped(address: str, at_once: bytes, slowly: bytes) -> bytes:
    """What a client is answered that sends some of its request byte by byte."""
    connection = connected(address)
    connection.sendall(at_once)
    dripping = asyncio.create_task(drip(connection, slowly))
    answer = await all_of(connection)
    dripping.cancel()
    await asyncio.gather(dripping, return_exceptions=True)
    return answer


@pytest.mark.parametrize("said", [b"", b"G", HEAD], ids=["nothing", "a letter", "half a head"])
async def test_a_client_that_does_not_say_what_it_wants_is_told_so_and_dropped(said):
    async with gateway(Script(), client_stall_seconds=SOON) as address:
        connection = connected(address)
        connection.sendall(said)
        status, reason, detail = problem_of(await all_of(connection))

    assert (status, reason) == (408, "DEADLINE_EXCEEDED")
    assert detail == "The request's line and headers come within 0.4 seconds."


async def test_a_head_that_comes_byte_by_byte_has_no_more_time():
    async with gateway(Script(), client_stall_seconds=SOON) as address:
        answer = await dripped(address, b"", HEAD)

    assert problem_of(answer)[0] == 408


async def test_the_second_head_on_a_connection_has_no_more_time_either():
    async with gateway(Script(), client_stall_seconds=SOON) as address:
        answer = await dripped(address, HEAD + WHOLE, HEAD)

    assert answer.count(b"HTTP/1.1 200 OK") == 1
    assert answer.count(b"HTTP/1.1 408 Request Timeout") == 1


@pytest.mark.parametrize("sent", [b"", b'{"query'], ids=["nothing of it", "some of it"])
async def test_a_body_that_does_not_come_is_answered_408(sent):
    async with gateway(Script(), client_stall_seconds=SOON) as address:
        connection = connected(address)
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n" + sent)
        status, reason, detail = problem_of(await all_of(connection))

    assert (status, reason) == (408, "DEADLINE_EXCEEDED")
    assert detail == "Less than 16384 bytes came within 0.4 seconds."


async def test_a_body_that_comes_byte_by_byte_is_answered_408():
    async with gateway(Script(), client_stall_seconds=SOON) as address:
        answer = await dripped(address, HEAD + b"Content-Length: 100\r\n\r\n", bytes(100))

    assert problem_of(answer)[:2] == (408, "DEADLINE_EXCEEDED")


async def test_an_upload_that_comes_byte_by_byte_is_answered_408_and_gives_its_place_back():
    form = HEAD.replace(b"query", b"documents").replace(
        b"application/json", b"multipart/form-data; boundary=b"
    )
    async with gateway(Script(), client_stall_seconds=SOON, max_running_uploads=1) as address:
        answers = [
            await dripped(address, form + b"Content-Length: 1000\r\n\r\n", b"--b\r\nContent-Disp" * 9)
            for _ in range(2)
        ]

    assert [problem_of(answer)[0] for answer in answers] == [408, 408]


async def test_a_body_has_no_more_time_than_its_request():
    async with gateway(Script(), client_stall_seconds=LATEST) as address:
        connection = connected(address)
        connection.sendall(HEAD + b"X-Request-Timeout: 0.2\r\nContent-Length: 100\r\n\r\n")
        status, _, detail = problem_of(await all_of(connection))

    assert (status, detail) == (408, "What is sent was not complete within 0.2 seconds.")


async def test_a_response_that_nobody_reads_is_dropped():
    script = Script(response=LARGE)
    async with gateway(script, client_stall_seconds=SOON) as address:
        connection = connected(address, receive_bytes=4096)
        connection.sendall(HEAD + WHOLE)
        await dropped(connection)
        connection.close()


async def test_a_stream_that_nobody_reads_ends_the_work_and_gives_its_place_back():
    script = Script(response=LARGE, hang_after_events=3)
    async with gateway(script, client_stall_seconds=SOON, max_running_calls=1) as address:
        connection = connected(address, receive_bytes=4096)
        connection.sendall(STREAM + WHOLE)
        await dropped(connection)
        connection.close()
        await seen(script.cancelled)
        async with client_of(address) as client, asyncio.timeout(LATEST):
            # A machine that stands still makes this client a slow one too.
            while (await client.get("/v1/definitions")).status_code == 408:
                pass
            assert (await client.get("/v1/definitions")).status_code == 200


async def test_a_client_that_reads_slowly_but_reads_has_all_of_its_response():
    async with gateway(Script(response=LARGE), client_stall_seconds=SLACK) as address:
        connection = connected(address, receive_bytes=32_768)
        connection.sendall(HEAD + b"Connection: close\r\n" + WHOLE)
        answer = b""
        while piece := await asyncio.to_thread(connection.recv, 40_000):
            answer += piece
            await asyncio.sleep(SLACK / 60)
        connection.close()

    assert len(answer) > len(LARGE.answer)


async def test_connections_beyond_the_bound_are_answered_503_and_closed():
    async with gateway(Script(), max_connections=2) as address:
        held = [connected(address) for _ in range(2)]
        for each in held:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.to_thread(each.recv, 1)
        answer = await all_of(connected(address))
        for each in held:
            each.close()

    assert problem_of(answer)[:2] == (503, "OVERLOADED")
    assert b"retry-after: 1\r\n" in answer


@pytest.mark.parametrize(
    "said",
    [b"GET /%b HTTP/1.1\r\n%b\r\n", b"GET / HTTP/1.1\r\nX: %b\r\n%b\r\n", b"GET / HTTP/1.1\r\nX: %b%b"],
    ids=["the URL", "a header", "no end"],
)
async def test_a_head_beyond_the_bound_is_answered_431(said):
    async with gateway(Script(), max_head_bytes=8192) as address:
        connection = connected(address)
        connection.sendall(said % (b"x" * 9000, b"Host: x\r\nConnection: close\r\n"))
        status, reason, detail = problem_of(await all_of(connection))

    assert (status, reason) == (431, "INVALID_FIELD")
    assert detail == "The request's line and headers have at most 8192 bytes."


async def test_what_is_no_http_is_answered_with_a_problem():
    async with gateway(Script()) as address:
        connection = connected(address)
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")

        assert problem_of(await all_of(connection))[:2] == (400, "MALFORMED_REQUEST")


async def test_uploads_at_once_are_bounded_apart_from_other_requests():
    script = Script(hang_after_events=0)
    form = {"source": "cme", "path": "a.txt"}
    async with gateway(script, max_running_uploads=1) as address, client_of(address) as client:
        files = {"file": ("a.txt", b"text")}
        first = asyncio.create_task(client.post("/v1/documents", data=form, files=files))
        await seen(script.started)
        problem_in(await client.post("/v1/documents", data=form, files=files), 429, "OVERLOADED")
        assert (await client.get("/v1/definitions")).status_code == 200
        first.cancel()
        await seen(script.cancelled)
        await asyncio.gather(first, return_exceptions=True)
