"""Reads what a URL of an operator's answers, in bounded time and size.

By the standard library: every process needs it, for a few kilobytes now and then, and a client for HTTP
would be most of what ingest installs.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import socket
import ssl
from typing import cast
from urllib.parse import SplitResult, urlsplit

from chassis.addresses import is_loopback

HTTP_OK = 200
CHUNK_BYTES = 2**16


class NotRead(Exception):
    """The URL did not answer with what was asked for; the message says why, for the log."""


def checked_url(text: str) -> SplitResult:
    """The parts of a URL that may be read: by https, or on this machine. Raises `ValueError`."""
    try:
        url = urlsplit(text)
        port_is_right = url.port is None or url.port > 0
    except ValueError:
        port_is_right = False
    if not text.isascii() or not text.isprintable() or " " in text or not port_is_right:
        raise ValueError("not a URL")
    if url.username is not None or url.fragment or not url.hostname:
        raise ValueError("expected https://host/path")
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.hostname)):
        raise ValueError("expected https; http is for this machine alone")
    return url


async def bounded_get(url: SplitResult, seconds: float, max_bytes: int) -> bytes:
    """The body of the answer to one GET, when it is 200: no redirect is followed.

    `url` is of `checked_url`; all takes `seconds` at most, and head and body have `max_bytes` together.
    Raises `NotRead`.
    """
    try:
        async with asyncio.timeout(seconds):
            received = await _exchanged(url, max_bytes)
    except TimeoutError as error:
        raise NotRead(f"no whole answer within {seconds:g} s") from error
    except (OSError, UnicodeError) as error:
        raise NotRead(str(error) or type(error).__name__) from error
    return _body(received)


async def _exchanged(url: SplitResult, max_bytes: int) -> bytes:
    """All that the server sends before it closes the connection."""
    context = ssl.create_default_context() if url.scheme == "https" else None
    reader, writer = await asyncio.open_connection(
        url.hostname, url.port or (443 if context else 80), ssl=context
    )
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        head = (
            f"GET {target} HTTP/1.1",
            f"Host: {url.netloc}",
            "Accept: application/json",
            "Connection: close",
        )
        writer.write("\r\n".join([*head, "", ""]).encode("ascii"))
        received = b""
        while data := await reader.read(CHUNK_BYTES):
            received += data
            if len(received) > max_bytes:
                raise NotRead(f"more than {max_bytes} bytes")
        return received
    finally:
        writer.transport.abort()


class _Received:
    """What `http.client` asks of a socket."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, mode: str) -> io.BytesIO:
        """The bytes as a file."""
        return io.BytesIO(self._received)


def _body(received: bytes) -> bytes:
    response = http.client.HTTPResponse(cast(socket.socket, _Received(received)), method="GET")
    try:
        response.begin()
        body = response.read()
    except http.client.HTTPException as error:
        raise NotRead(f"no whole answer in HTTP: {type(error).__name__}") from error
    if response.status != HTTP_OK:
        raise NotRead(f"status {response.status}")
    return body
