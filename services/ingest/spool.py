"""Receives a file into a temporary one: bounded, hashed, gone afterwards."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from chassis.telemetry import stage
from services.ingest.errors import DocumentError, DocumentHashMismatch, DocumentTooLarge

SPOOLED = "upload-"
"""What the names in the folder begin with."""


def prepare_spool(folder: Path) -> None:
    """Make the folder, and delete what a killed process left behind; to be called before the first upload."""
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.glob(f"{SPOOLED}*"):
        left_over.unlink()


@dataclass(frozen=True, slots=True)
class SpooledFile:
    """A file that arrived whole."""

    path: Path
    content_sha256: str
    size_bytes: int


@asynccontextmanager
async def spooled(
    upload: AsyncIterator[bytes], folder: Path, max_bytes: int, expected_sha256: str
) -> AsyncIterator[SpooledFile]:
    """Receive `upload` into a file in `folder` that is deleted at the end.

    Raises `DocumentTooLarge` above `max_bytes` and `DocumentHashMismatch` unless `expected_sha256` is empty
    or right; in both cases after the sender came to its end, or sent as much again: a sender that is still
    writing when the call ends does not get to know why.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    with ExitStack() as received:
        file = received.enter_context(tempfile.NamedTemporaryFile(dir=folder, prefix=SPOOLED, delete=False))
        # Not left to the file: closing it fails when its last bytes do not fit on the disk, and it stayed.
        received.callback(os.unlink, file.name)
        with stage("receive"):
            digest = hashlib.sha256()
            size = 0
            failure: DocumentError | None = None
            async for data in upload:
                size += len(data)
                if size > 2 * max_bytes:
                    break
                if size > max_bytes:
                    failure = DocumentTooLarge(f"larger than {max_bytes} bytes", field="path")
                    continue
                digest.update(data)
                await asyncio.to_thread(file.write, data)
            if failure is not None:
                raise failure
            if expected_sha256 and digest.hexdigest() != expected_sha256:
                raise DocumentHashMismatch("The bytes have another SHA-256.", field="content_sha256")
            file.flush()
        yield SpooledFile(Path(file.name), digest.hexdigest(), size)
