# ruff: noqa: E501 - tables of hostile requests
"""Requests that no client writes by accident, byte by byte over a socket: each is refused, once."""

from __future__ import annotations

import asyncio
import re

import pytest
import pytest_asyncio

from tests.contract.gateway_services import PATIENCE_SECONDS, Script, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = b"Host: localhost\r\nConnection: close\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def search(headers: bytes, body: bytes = b"") -> bytes:
    return (
        b"POST /v1/search HTTP/1.1\r\n"
        + HEAD
        + b"Content-Type: application/json\r\n"
        + headers
        + b"\r\n"
        + body
    )


def json_body(body: bytes) -> bytes:
    return search(b"Content-Length: %d\r\n" % len(body), body)


def get(path: bytes = b"/healthz", headers: bytes = b"") -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\n" + HEAD + headers + b"\r\n"


def form(body: bytes, content_type: bytes = b"multipart/form-data; boundary=b") -> bytes:
    head = b"POST /v1/documents HTTP/1.1\r\n" + HEAD + b"Content-Type: " + content_type
    return head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def part(name: bytes, content: bytes, more: bytes = b"") -> bytes:
    return (
        b'--b\r\nContent-Disposition: form-data; name="'
        + name
        + b'"'
        + more
        + b"\r\n\r\n"
        + content
        + b"\r\n"
    )


PLACE = part(b"source", b"cme") + part(b"path", b"a.txt")
FILE = part(b"file", b"text", b'; filename="x"')

FRAMING = {
    "two lengths of one body": search(b"Content-Length: 6\r\n" + CHUNKED, b"0\r\n\r\n" + SMUGGLED),
    "chunks first": search(CHUNKED + b"Content-Length: 6\r\n", b"0\r\n\r\n" + SMUGGLED),
    "two codings": search(CHUNKED + b"Transfer-Encoding: identity\r\n", b"0\r\n\r\n" + SMUGGLED),
    "an unknown coding": search(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + SMUGGLED),
    "a space before the colon": search(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + SMUGGLED),
    "two content lengths": search(b"Content-Length: 2\r\nContent-Length: 5\r\n", b"{}" + SMUGGLED),
    "a list of lengths": search(b"Content-Length: 2, 5\r\n", b"{}" + SMUGGLED),
    "a negative length": search(b"Content-Length: -1\r\n", b"{}" + SMUGGLED),
    "a length in hexadecimal": search(b"Content-Length: 0x2\r\n", b"{}" + SMUGGLED),
    "a length beyond any": search(b"Content-Length: " + b"9" * 30 + b"\r\n", b"{}"),
    "a chunk of no size": search(CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk of negative size": search(CHUNKED, b"-1\r\n{}\r\n0\r\n\r\n"),
    "an endless chunk extension": search(CHUNKED, b"2;" + b"a" * 200_000 + b"\r\n{}\r\n0\r\n\r\n"),
    "a flood of headers": get(headers=b"".join(b"X-%d: y\r\n" % number for number in range(20_000))),
    "a huge header": get(headers=b"X: " + b"y" * 500_000 + b"\r\n"),
    "a huge path": get(b"/v1/documents/" + b"a" * 500_000),
    "NUL in a header": get(headers=b"X: a\0b\r\n"),
    "NUL in a header's name": get(headers=b"X\0: b\r\n"),
    "NUL in the path": get(b"/v1/documents/a\0b"),
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": get(headers=b"Host: other\r\n"),
    "no version": b"GET /healthz\r\n\r\n",
    "a method of control characters": b"G\x01T /healthz HTTP/1.1\r\n" + HEAD + b"\r\n",
    "bytes of every value": bytes(range(256)) * 20,
    "TLS": bytes.fromhex("160301020001000200030300"),
}
MEANING = {
    "brackets without end": json_body(b"[" * 100_000),
    "objects without end": json_body(b'{"a":' * 50_000),
    "not a number": json_body(b'{"topK": NaN}'),
    "a number without end": json_body(b'{"topK": ' + b"9" * 50_000 + b"}"),
    "half a surrogate pair": json_body(b'{"query": "\\ud800"}'),
    "no UTF-8": json_body(b'{"query":"\xff\xfe"}'),
    "the same name twice": json_body(b'{"query": "a","query": "b"}'),
    "a flood of parameters": get(b"/v1/documents?" + b"a=1&" * 10_000),
    "a timeout that is no number": get(b"/v1/documents", b"X-Request-Timeout: nan\r\n"),
    "a credential of no characters": get(b"/v1/documents", b"Authorization: \xff\xfe\r\n"),
    "a tunnel": b"CONNECT 127.0.0.1:9 HTTP/1.1\r\n" + HEAD + b"\r\n",
    "another server's address": get(b"http://127.0.0.1:9/x"),
    "a long method": b"A" * 30_000 + b" /healthz HTTP/1.1\r\n" + HEAD + b"\r\n",
    "no boundary": form(b"x", b"multipart/form-data"),
    "an empty boundary": form(b"x", b"multipart/form-data; boundary="),
    "a long boundary": form(b"x", b"multipart/form-data; boundary=" + b"b" * 20_000),
    "no end": form(PLACE + FILE),
    "two files": form(PLACE + FILE * 2 + b"--b--\r\n"),
    "a flood of parts": form(part(b"x", b"y") * 3_000 + b"--b--\r\n"),
    "a flood of a part's headers": form(b"--b\r\n" + b"X: y\r\n" * 20_000 + b"\r\n\r\ncme\r\n--b--\r\n"),
    "a huge header of a part": form(b'--b\r\nContent-Disposition: x; y="' + b"y" * 200_000 + b'"\r\n\r\nx\r\n--b--\r\n'),
    "a part without a name": form(b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"),
    "NUL in a name": form(part(b"sou\0rce", b"cme") + PLACE + FILE + b"--b--\r\n"),
    "a source of no UTF-8": form(part(b"source", b"\xff\xfe") + part(b"path", b"a.txt") + FILE + b"--b--\r\n"),
    "a huge field": form(part(b"source", b"c" * 500_000) + b"--b--\r\n"),
    "bytes of every value in a form": form(bytes(range(256)) * 100),
    "boundaries only": form(b"--b" * 50_000),
    "empty lines only": form(b"\r\n" * 100_000),
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client():
    async with running(Script()) as client:
        yield client


async def sent(client, data: bytes) -> bytes:
    """Everything that the gateway answers to these bytes until it closes the connection."""
    reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    answer = b""
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            writer.write(data)
            await writer.drain()
            while received := await reader.read(65536):
                answer += received
        except ConnectionError:
            pass  # it closed without reading all that came
        finally:
            writer.close()
    return answer


def statuses(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


@pytest.mark.parametrize("name", FRAMING)
async def test_bytes_that_are_no_clear_request_are_refused_once(client, name):
    answer = await sent(client, FRAMING[name])

    assert statuses(answer) in ([400], [431], [])
    assert b"SERVING" not in answer
    assert (await client.get("/healthz")).is_success


@pytest.mark.parametrize("name", MEANING)
async def test_requests_that_mean_nothing_are_answered_with_a_problem(client, name):
    answer = await sent(client, MEANING[name])

    assert [status // 100 for status in statuses(answer)] == [4]
    assert b"application/problem+json" in answer
    assert len(answer) < 4_000
    assert (await client.get("/healthz")).is_success
