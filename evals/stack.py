"""Brings up the real product over a data folder and fills it with files."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from clausegate import ClausegateError, Client, connect
from evals.concurrency import in_order
from evals.corpora import ROOT, SourceFile

READY_SECONDS = 60.0
STOP_SECONDS = 20.0
CALL_SECONDS = 120.0
INGEST_SECONDS = 1800.0
"""Deadline of one upload; a contract of 100,000 words on a busy machine takes minutes to embed."""


class StackStopped(Exception):
    """The product ended before it was ready; the message names its log."""


class FilesRejected(Exception):
    """Files that could not be ingested, one a line, with the reason."""


@asynccontextmanager
async def running_stack(data_folder: Path, settings: Sequence[str] = ()) -> AsyncIterator[Client]:
    """A client of `python -m embedded` over `data_folder`, an absolute path; its files stay for the next run.

    With `CLAUSEGATE_STORE=weaviate` in the environment the index is kept there, in collections named for the
    folder. `settings` are more variables, each `NAME=value`. Its output goes to `stack.log` in that folder.
    Raises `StackStopped` when it does not come up.
    """
    with tempfile.TemporaryDirectory(prefix="cg-") as runtime, (data_folder / "stack.log").open("ab") as log:
        address = f"unix:{runtime}/grpc"
        # `env` adds to the environment that we inherit, which this code may not read.
        process = await asyncio.create_subprocess_exec(
            "env",
            f"CLAUSEGATE_DATA_DIR={data_folder}",
            f"CLAUSEGATE_WEAVIATE_PREFIX={collections_of(data_folder)}",
            f"CLAUSEGATE_ADDRESS={address}",
            "CLAUSEGATE_GATEWAY_ADDRESS=",
            *settings,
            sys.executable,
            "-m",
            "embedded",
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
        try:
            async with connect(address, deadline_seconds=CALL_SECONDS) as client:
                await _ready(client, process, data_folder)
                yield client
        finally:
            await _stop(process)


def collections_of(data_folder: Path) -> str:
    """What the names of a corpus's collections begin with: each corpus has an index of its own."""
    return "Evals" + "".join(word.capitalize() for word in data_folder.name.split("_"))


async def _ready(client: Client, process: asyncio.subprocess.Process, data_folder: Path) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while process.returncode is None:
            try:
                await client.describe_index(deadline_seconds=5)
            except ClausegateError as error:
                if error.code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    raise
                await asyncio.sleep(0.1)
            else:
                return
    raise StackStopped(f"the stack stopped with {process.returncode}; see {data_folder / 'stack.log'}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


async def fill(client: Client, files: Sequence[SourceFile], concurrency: int) -> None:
    """Make the index hold exactly these files; unchanged ones cost one message each.

    Raises `FilesRejected` when some could not be ingested, after all others were.
    """
    wanted = {file.document_id for file in files}
    for document_id in [d.document_id async for d in client.documents()]:
        if document_id not in wanted:
            await client.remove_document(document_id)

    async def ingest(file: SourceFile) -> str | None:
        try:
            await client.ingest(
                file.location, source=file.source, path=file.path, deadline_seconds=INGEST_SECONDS
            )
        except ClausegateError as error:
            if error.code == "UNAVAILABLE":  # the stack is gone: no other file will fare better
                raise
            return f"{file.document_id}: {error}"
        return None

    failures = [failure for failure in await in_order(files, ingest, concurrency, "documents") if failure]
    if failures:
        raise FilesRejected("\n".join(failures))
