"""The upload protocol: announce a file, send its bytes only when asked, wait for the receipt."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from clausegate.errors import ClausegateError
from clausegate.ingest.v1.ingest_service_pb2 import (
    IngestDocumentRequest,
    IngestHeader,
    IngestProgress,
    IngestReceipt,
)

if TYPE_CHECKING:  # the stub's asynchronous form exists for the type checker only
    from clausegate.ingest.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub

_PART_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """The document that a file becomes, and the seconds that this may take."""

    source: str
    path: str
    deadline_seconds: float


async def upload(
    stub: IngestServiceAsyncStub,
    content: bytes | Path,
    target: Target,
    progress: Callable[[IngestProgress], None],
) -> IngestReceipt:
    """Ingest `content` as `target`. Raises `OSError` for an unreadable file, and `grpc.aio.AioRpcError`.

    It returns when the call has ended, not with the receipt: only then may the document's next upload begin.
    """
    receipt = None
    with _opened(content) as file:
        header = await asyncio.to_thread(_header, file, target)
        wanted = asyncio.get_running_loop().create_future()
        call = stub.IngestDocument(_requests(header, file, wanted), timeout=target.deadline_seconds)
        try:
            async for event in call:
                if event.HasField("send_bytes"):
                    wanted.set_result(True)
                elif event.HasField("progress"):
                    progress(event.progress)
                elif event.HasField("receipt"):
                    receipt = event.receipt
        finally:
            if not wanted.done():
                wanted.set_result(False)
            call.cancel()
    if receipt is None:
        raise no_receipt()
    return receipt


def no_receipt() -> ClausegateError:
    """What a call comes to that ends early, as none of the service's does."""
    return ClausegateError("INTERNAL", "INTERNAL", "the call ended without a receipt; it is safe to repeat")


def _opened(content: bytes | Path) -> BufferedIOBase:
    return BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _header(file: BufferedIOBase, target: Target) -> IngestHeader:
    digest = hashlib.file_digest(file, "sha256")
    size = file.tell()
    file.seek(0)
    return IngestHeader(
        source=target.source, path=target.path, content_sha256=digest.hexdigest(), size_bytes=size
    )


async def _requests(
    header: IngestHeader, file: BufferedIOBase, wanted: asyncio.Future[bool]
) -> AsyncIterator[IngestDocumentRequest]:
    """The header and, when the service asks for them, the bytes. Writing earlier could lose its answer."""
    yield IngestDocumentRequest(header=header)
    if await wanted:
        while part := file.read(_PART_BYTES):
            yield IngestDocumentRequest(data=part)
