"""The multipart upload: the only route written by hand, since its body is a file and not a message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing, closing
from functools import partial
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from google.protobuf.message import Message
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from chassis.errors import InternalError
from chassis.storage import storage_errors
from gateway.bridge import Downstream, json_response
from gateway.calls import Endpoint, deadline_seconds, responses, until_cut_off, while_wanted
from gateway.contracts import Method
from gateway.forms import Upload, read_upload
from gateway.limits import BodyLimits
from gateway.sse import EVENT_STREAM, event_stream

DATA_BYTES = 2**18
"""Bytes of the file in one message; the contract allows 1 MiB."""


def upload_endpoint(method: Method, downstream: Downstream) -> Endpoint:
    """The endpoint that takes a form with `source`, `path` and `file` and ingests the file.

    It answers the receipt, or progress and receipt as events to a client that accepts `text/event-stream`.
    The file is spooled to a temporary file without a name: it is gone with the request, whatever happens.
    """
    stub = downstream.stub(method)
    settings = downstream.settings

    async def answer(request: Request) -> Response:
        limit = settings.upload_deadline_seconds
        timeout = deadline_seconds(request, default=limit, limit=limit)
        call = partial(stub, timeout=timeout)
        with storage_errors(), ExitStack() as unread:
            spool = unread.enter_context(TemporaryFile())
            limits = BodyLimits(settings.max_upload_bytes, settings.client_stall_seconds, timeout)
            upload = await until_cut_off(downstream.cut_off, read_upload(request, spool, limits))
            unread.pop_all()  # from here on `_ingest` closes it
        events = _ingest(method.request, upload, spool, call)
        wait = partial(while_wanted, request.receive, downstream.cut_off)
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await event_stream(events, wait, settings.heartbeat_seconds)
        return json_response(await wait(_receipt(events)))

    return answer


async def _ingest(
    part: type[Message], upload: Upload, spool: BinaryIO, call: Callable[[AsyncIterator[Message]], Any]
) -> AsyncGenerator[Message, None]:
    """Progress, then the receipt. Closes `spool`.

    The bytes are sent only when asked for: a service that has the file already answers at once, and would
    lose its answer if we were still writing. The receipt is passed on when the call has ended: only then may
    the next upload of the document begin.
    """
    wanted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    receipt: Message | None = None
    with closing(spool):
        requests = _requests(part, upload, spool, wanted)
        try:
            async with aclosing(responses(call(requests))) as events:
                async for event in events:
                    if event.HasField("send_bytes"):
                        wanted.set_result(True)
                    elif event.HasField("receipt"):
                        receipt = event
                    else:
                        yield event
        finally:
            if not wanted.done():
                wanted.set_result(False)
    if receipt is None:
        raise InternalError("The upload ended without a receipt.")
    yield receipt


async def _requests(
    part: type[Message], upload: Upload, spool: BinaryIO, wanted: asyncio.Future[bool]
) -> AsyncGenerator[Message, None]:
    header = {
        "source": upload.source,
        "path": upload.path,
        "content_sha256": upload.sha256,
        "size_bytes": upload.size_bytes,
    }
    yield part(header=header)
    if await wanted:
        while data := await run_in_threadpool(spool.read, DATA_BYTES):
            yield part(data=data)


async def _receipt(events: AsyncGenerator[Message, None]) -> Message:
    last = [event async for event in events][-1]
    receipt: Message = last.receipt  # type: ignore[attr-defined]
    return receipt
