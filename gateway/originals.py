"""The route of an original: the file itself or the part that `Range` asks for, and never a page that runs.

What HTTP says of parts and of what a client has already is RFC 9110, sections 13 and 14. Several ranges at
once and those that make no sense are passed over, as it allows: the whole file is sent.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from google.protobuf.message import Message
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chassis.errors import InternalError, InvalidInput
from gateway.bridge import Downstream, fill_from_path
from gateway.caching import REVALIDATED, holds
from gateway.calls import Endpoint, deadline_seconds, responses, while_wanted
from gateway.contracts import Method
from gateway.errors import ClientGone, MalformedRequest, RangeNotSatisfiable
from gateway.messages import shown
from gateway.sse import Wait

DOWNLOAD = "download"
"""The query parameter by which a browser saves the file."""
TEXT = "text/plain; charset=utf-8"
MEDIA_TYPES = {
    "DOCUMENT_FORMAT_PDF": "application/pdf",
    "DOCUMENT_FORMAT_DOCX": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""What is not plain text to a browser. HTML is: who opens it here must not run what a stranger wrote."""
POLICY = "default-src 'none'; frame-ancestors 'self'"
"""What the file may load and who may frame it. All but a PDF, whose viewer that would stop, is sandboxed."""
_RANGE = re.compile(r"bytes=\s*(?:(?P<first>\d{1,15})-(?P<last>\d{1,15})?|-(?P<suffix>\d{1,15}))\s*", re.I)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The part that a client wants, as the service takes it."""

    offset: int
    """Below 0 it counts from the end."""
    length: int = 0
    """0 for all that are left."""


def range_in(headers: Headers) -> ByteRange | None:
    """The one range that a request asks for; None for none, several or nonsense."""
    match = _RANGE.fullmatch(headers.get("range", ""))
    if match is None:
        return None
    if match["suffix"]:
        # `bytes=-0` can never be satisfied; nor can what begins beyond the end.
        return ByteRange(-int(match["suffix"])) if int(match["suffix"]) else ByteRange(2**62)
    first = int(match["first"])
    if match["last"] is None:
        return ByteRange(first)
    length = int(match["last"]) - first + 1
    return ByteRange(first, length) if length > 0 else None


def disposition(name: str, *, download: bool) -> str:
    """How a browser is to take the file, and what it may call it."""
    kind = "attachment" if download else "inline"
    plain = re.sub(r"[^ !#$&+.0-9A-Za-z^_`|~()-]", "_", name)
    encoded = quote(name, safe="!#$&+-.^_`|~")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{encoded}"


def original_endpoint(method: Method, downstream: Downstream) -> Endpoint:
    """The endpoint that sends the file of a document."""
    stub = downstream.stub(method)
    limit = downstream.settings.upload_deadline_seconds

    async def answer(request: Request) -> Response:
        download = _download(request)
        timeout = deadline_seconds(request, default=limit, limit=limit)
        wait = partial(while_wanted, request.receive, downstream.cut_off)
        wanted = range_in(request.headers)
        named = method.request()
        fill_from_path(named, request.path_params)
        opened = await wait(_opened(stub(_asking(named, wanted), timeout=timeout)))
        tag = opened.tag
        if wanted and request.headers.get("if-range", tag) != tag:
            await opened.rest.aclose()
            wanted = None
            opened = await wait(_opened(stub(named, timeout=timeout)))
        return await _response(request, opened, wanted, download=download, wait=wait)

    return answer


def _download(request: Request) -> bool:
    """Whether the file is to be saved. Raises `MalformedRequest` and `InvalidInput`."""
    for name in request.query_params:
        if name != DOWNLOAD:
            raise MalformedRequest("There is no such query parameter.", field=shown(name))
    chosen = request.query_params.get(DOWNLOAD, "false")
    if chosen not in ("true", "false"):
        raise InvalidInput("Must be true or false.", field=DOWNLOAD)
    return chosen == "true"


def _asking(named: Message, wanted: ByteRange | None) -> Message:
    return type(named)(
        **{field.name: value for field, value in named.ListFields()},
        offset=wanted.offset if wanted else 0,
        length=wanted.length if wanted else 0,
    )


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file whose bytes may be taken."""

    file: Any
    """See `clausegate.ingest.v1.OriginalFile`."""
    rest: AsyncGenerator[Message, None]

    @property
    def tag(self) -> str:
        return f'"{self.file.content_sha256}"'


async def _opened(call: Any) -> _Opened:
    rest = responses(call)
    first: Any = await anext(rest, None)
    if first is None or not first.HasField("file"):
        raise InternalError("The original came without its name.")
    return _Opened(first.file, rest)


async def _response(
    request: Request, opened: _Opened, wanted: ByteRange | None, *, download: bool, wait: Wait
) -> Response:
    file = opened.file
    headers = _headers(opened, download=download)
    if holds(request.headers, opened.tag):
        await opened.rest.aclose()
        return Response(status_code=304, headers=headers)
    size, left = file.size_bytes, file.size_bytes - file.offset
    if wanted and not left:
        await opened.rest.aclose()
        raise RangeNotSatisfiable(size)
    if wanted:
        left = min(left, wanted.length or left)
        headers["Content-Range"] = f"bytes {file.offset}-{file.offset + left - 1}/{size}"
    headers["Content-Length"] = str(left)
    if request.method == "HEAD":
        await opened.rest.aclose()
        return Response(status_code=206 if wanted else 200, headers=headers)
    return _FileStream(opened.rest, wait, 206 if wanted else 200, headers)


def _headers(opened: _Opened, *, download: bool) -> dict[str, str]:
    file = opened.file
    name = file.DESCRIPTOR.fields_by_name["format"].enum_type.values_by_number[file.format].name
    media_type = MEDIA_TYPES.get(name, TEXT)
    return {
        "Content-Type": media_type,
        "Content-Disposition": disposition(file.file_name, download=download),
        "Content-Security-Policy": POLICY if media_type == "application/pdf" else f"{POLICY}; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": REVALIDATED,
        "ETag": opened.tag,
        "Accept-Ranges": "bytes",
    }


class _FileStream(Response):
    """Sends the bytes as they come. A failure in between ends the connection: the length was promised."""

    def __init__(
        self, rest: AsyncGenerator[Message, None], wait: Wait, status: int, headers: dict[str, str]
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        self._rest = rest
        self._wait = wait

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, until it ends or nobody takes it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._rest):
                await self._wait(self._send_all(send))
        except ClientGone:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        async for part in self._rest:
            data = part.data  # type: ignore[attr-defined]
            await send({"type": "http.response.body", "body": data, "more_body": True})
