"""Ingests a folder, or what is archived again; a failure of one file stops no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from clausegate import ClausegateError, Client
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome, IngestProgress, IngestReceipt
from cli.errors import CallFailed
from cli.folders import LocalFile, Plan, compare

CONCURRENT_UPLOADS = 4
"""Enough to parse one file while another is embedded; the service bounds what it does at once."""
WRITE_SECONDS = 86_400.0
"""More than the service allows, an hour unless set otherwise: its own limit says what was waited for."""


class Outcome(StrEnum):
    """What one file came to."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    UNCHANGED = "UNCHANGED"
    REMOVED = "REMOVED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class FileResult:
    """The outcome of one document."""

    document_id: str
    outcome: Outcome
    chunks: int = 0
    unreadable_pages: tuple[int, ...] = ()
    scanned_pages: tuple[int, ...] = ()
    hidden_characters: int = 0
    reference_marks: int = 0
    running_lines: int = 0
    guessed_encoding: str = ""
    """See `IngestReceipt`."""
    reason: str = ""
    """Why it failed, one line; empty otherwise."""

    def as_json(self) -> dict[str, object]:
        """For `--json`, keys as in the protobuf messages."""
        return {
            "documentId": self.document_id,
            "outcome": self.outcome.value,
            "chunkCount": self.chunks,
            "unreadablePages": list(self.unreadable_pages),
            "scannedPages": list(self.scanned_pages),
            "hiddenCharacters": self.hidden_characters,
            "referenceMarks": self.reference_marks,
            "runningLines": self.running_lines,
            "guessedEncoding": self.guessed_encoding,
            "reason": self.reason,
        }


Work = Callable[[], Awaitable[FileResult]]


class Watcher:
    """Is told how an ingestion goes; this one does not look."""

    def planned(self, total: int, unchanged: int) -> None:
        """It is known how many documents there are, and how many of them cost nothing."""

    def progressed(self, document_id: str, progress: IngestProgress) -> None:
        """The service reports on one document."""

    def finished(self, result: FileResult) -> None:
        """One document is done, well or not."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user asked for besides."""

    prune: bool
    """Drop the other documents of the sources."""
    force: bool
    """Send files whose bytes are indexed already; the service knows whether it would cut them alike today."""


async def ingest_folder(
    client: Client, files: Sequence[LocalFile], choices: Choices, watcher: Watcher
) -> list[FileResult]:
    """Make the index show these files; only what differs is sent. Results come by document id.

    Raises `ClausegateError` when not even the index can be listed.
    """
    indexed, hashes = await asyncio.gather(
        _indexed(client, {file.source for file in files}),
        asyncio.to_thread(lambda: [file.sha256() for file in files]),
    )
    plan = compare(files, hashes, indexed)
    if choices.force:
        plan = Plan((*plan.upload, *plan.unchanged), (), plan.vanished)
    watcher.planned(len(plan.upload) + len(plan.unchanged), len(plan.unchanged))
    results = [FileResult(file.document_id, Outcome.UNCHANGED) for file in plan.unchanged]
    tasks = [(file.document_id, partial(_upload, client, file, watcher)) for file in plan.upload]
    if choices.prune:
        tasks += [(gone, partial(_remove, client, gone)) for gone in plan.vanished]
    results += await _in_turns(tasks, watcher)
    return sorted(results, key=lambda result: result.document_id)


async def reindex_originals(client: Client, sources: Sequence[str], watcher: Watcher) -> list[FileResult]:
    """Let the service read the originals of these sources again, all when empty. Results come by document id:
    of what is archived, whether or not the index has it, and of what the index has without an original.

    What its parser and chunker made already is unchanged. Raises `ClausegateError` when there is no list.
    """
    archived = {original.document_id async for original in client.originals(sources)}
    known = {source.source async for source in client.sources()}
    wanted = sorted(known & set(sources) if sources else known)
    indexed = {document.document_id async for document in client.documents(wanted)} if wanted else set()
    found = sorted(archived | indexed)
    watcher.planned(len(found), 0)
    return await _in_turns(
        [(document_id, partial(_reindex, client, document_id, watcher)) for document_id in found], watcher
    )


async def _in_turns(tasks: Sequence[tuple[str, Work]], watcher: Watcher) -> list[FileResult]:
    """Work on documents, a few at a time; the results in the order given, also of those that fail."""
    slots = asyncio.Semaphore(CONCURRENT_UPLOADS)

    async def finished(document_id: str, work: Work) -> FileResult:
        async with slots:
            try:
                result = await work()
            except ClausegateError as error:
                result = FileResult(document_id, Outcome.FAILED, reason=str(CallFailed(error)))
            except OSError as error:
                result = FileResult(document_id, Outcome.FAILED, reason=str(error))
        watcher.finished(result)
        return result

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(finished(*task)) for task in tasks]
    return [task.result() for task in running]


async def _indexed(client: Client, sources: set[str]) -> dict[str, str]:
    """SHA-256 of the indexed documents of these sources, by id. A source without documents has none."""
    known = {source.source async for source in client.sources()} & sources
    if not known:
        return {}
    return {d.document_id: d.content_sha256 async for d in client.documents(sorted(known))}


async def _upload(client: Client, file: LocalFile, watcher: Watcher) -> FileResult:
    if not file.has_sound_name:
        return FileResult(file.document_id, Outcome.FAILED, reason="the file's name is not valid UTF-8")
    receipt = await client.ingest(
        file.location,
        source=file.source,
        path=file.path,
        progress=partial(watcher.progressed, file.document_id),
        deadline_seconds=WRITE_SECONDS,
    )
    return _done(file.document_id, receipt)


async def _reindex(client: Client, document_id: str, watcher: Watcher) -> FileResult:
    progress = partial(watcher.progressed, document_id)
    receipt = await client.reindex_document(document_id, progress=progress, deadline_seconds=WRITE_SECONDS)
    return _done(document_id, receipt)


async def _remove(client: Client, document_id: str) -> FileResult:
    await client.remove_document(document_id)
    return FileResult(document_id, Outcome.REMOVED)


def _done(document_id: str, receipt: IngestReceipt) -> FileResult:
    return FileResult(
        document_id,
        Outcome(IngestOutcome.Name(receipt.outcome).removeprefix("INGEST_OUTCOME_")),
        receipt.document.chunk_count,
        tuple(receipt.document.unreadable_pages),
        tuple(receipt.document.scanned_pages),
        receipt.document.hidden_characters,
        receipt.document.reference_marks,
        receipt.document.running_lines,
        receipt.guessed_encoding,
    )
