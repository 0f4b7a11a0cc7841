"""What a URL of an operator's may do to a process, over real sockets."""

import ssl

import pytest

from chassis.bounded_get import NotRead, bounded_get, checked_url
from tests.contract.certificates import put
from tests.fakes.token_issuer import KeyServer, answer_of

BODY = b'{"keys": []}'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n"


async def read(url: str, seconds: float = 20.0, max_bytes: int = 10_000) -> bytes:
    return await bounded_get(checked_url(url), seconds, max_bytes)


async def problem(url: str, **bounds: float) -> str:
    with pytest.raises(NotRead) as failed:
        await read(url, **bounds)
    return str(failed.value)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (answer_of(BODY), BODY),
        (b"HTTP/1.0 200 OK\r\n\r\n" + BODY, BODY),
        (CHUNKED, b"12345"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + answer_of(BODY), BODY),
    ],
    ids=["length", "until-closed", "chunked", "continued"],
)
async def test_a_body_is_read_however_it_is_sent(answer, body):
    async with KeyServer(answer).running() as server:
        assert await read(f"{server.url}?a=b") == body

    [asked] = server.asked
    assert asked.startswith(b"GET /keys?a=b HTTP/1.1\r\nHost: localhost:")
    assert b"\r\nConnection: close\r\n" in asked


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answer_of(BODY, "404 Not Found"), "status 404"),
        (answer_of(BODY, "500 Error"), "status 500"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "status 302"),
        (b"", "no whole answer in HTTP"),
        (b"SSH-2.0-OpenSSH\r\n", "no whole answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "no whole answer in HTTP"),
        (CHUNKED[:-5], "no whole answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no whole answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n" + BODY, "no whole answer in HTTP"),
        (answer_of(b"x" * 20_000), "more than 10000 bytes"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: " + b"b" * 20_000, "more than 10000 bytes"),
    ],
    ids=range(11),
)
async def test_anything_else_is_named_and_no_redirect_followed(answer, said):
    async with KeyServer(answer).running() as server:
        assert said in await problem(server.url)

    assert len(server.asked) == 1


async def test_a_server_that_never_ends_its_answer_is_left():
    server = KeyServer(answer_of(BODY)[:-1])
    server.closes = False
    async with server.running():
        assert await problem(server.url, seconds=0.2) == "no whole answer within 0.2 s"


async def test_a_server_that_is_not_there_is_named():
    async with KeyServer(b"").running() as server:
        pass

    assert "Connect call failed" in await problem(server.url)
    assert await problem("https://nothing.invalid/keys")


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """The folder of the only authority that is trusted."""
    put(tmp_path, "ca", "ca")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return tmp_path


def serving_with(folder, name) -> ssl.SSLContext:
    put(folder, name, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


async def test_a_certificate_of_a_trusted_authority_is_taken(trusted):
    async with KeyServer(answer_of(BODY)).running(serving_with(trusted, "server")) as server:
        assert await read(server.url) == BODY


@pytest.mark.parametrize("name", ["foreign-server", "elsewhere", "expired"])
async def test_no_other_certificate_is_taken(trusted, name):
    async with KeyServer(answer_of(BODY)).running(serving_with(trusted, name)) as server:
        assert "CERTIFICATE_VERIFY_FAILED" in await problem(server.url)

    assert server.asked == []
