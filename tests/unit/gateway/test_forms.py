import hashlib
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from chassis.errors import ServiceError
from gateway.forms import Upload, read_upload
from gateway.limits import BodyLimits

BOUNDARY = "b0undary"
LIMIT = 10_000
BOUNDS = BodyLimits(LIMIT, stall_seconds=60, seconds=60)


def part(name: str, content: bytes, filename: str = "") -> bytes:
    named = f'; filename="{filename}"' if filename else ""
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode()
        + content
        + b"\r\n"
    )


def request_of(pieces: list[bytes]) -> Request:
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        return messages.pop(0)

    headers = [(b"content-type", f"multipart/form-data; boundary={BOUNDARY}".encode())]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)


def cut(body: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[start:end] for start, end in itertools.pairwise(edges)]


@given(
    st.binary(max_size=300), st.permutations(["source", "path", "file"]), st.lists(st.integers(0), max_size=8)
)
async def test_a_form_is_read_alike_however_it_is_ordered_and_cut(content, order, places):
    parts = {
        "source": part("source", b"cme"),
        "path": part("path", "gebühren/a.txt".encode()),
        "file": part("file", content, "a.txt"),
    }
    body = b"".join(parts[name] for name in order) + f"--{BOUNDARY}--\r\n".encode()
    spool = io.BytesIO()
    upload = await read_upload(request_of(cut(body, places)), spool, BOUNDS)
    digest = hashlib.sha256(content).hexdigest()
    assert upload == Upload("cme", "gebühren/a.txt", digest, len(content))
    assert spool.read() == content


@given(st.binary(max_size=200), st.lists(st.integers(0), max_size=4))
async def test_any_bytes_are_an_error_of_ours(body, places):
    with pytest.raises(ServiceError):
        await read_upload(request_of(cut(body, places)), io.BytesIO(), BOUNDS)


@given(st.integers(0, 350))
async def test_a_form_that_is_cut_off_is_an_error(length):
    body = part("source", b"cme") + part("path", b"a.txt") + part("file", b"x" * 100, "a.txt")
    with pytest.raises(ServiceError):
        await read_upload(request_of([body[:length]]), io.BytesIO(), BOUNDS)
