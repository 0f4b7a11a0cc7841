"""Ingests a folder, or what is archived again, through the gateway; a failure of one file stops no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome, IngestProgress, IngestReceipt
from cli.folders import LocalFile, Plan, compare
from cli.gateway_client import GatewayClient
from cli.rest import GatewayError

CONCURRENT_UPLOADS = 4
"""Enough to parse one file while another is embedded; the service bounds what it does at once."""


class Outcome(StrEnum):
    """What one file came to (LI-5)."""

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
    hidden_characters: int = 0
    reason: str = ""
    """Why it failed, one line; empty otherwise."""

    def as_json(self) -> dict[str, object]:
        """For `--json`, keys as in the protobuf messages."""
        return {
            "documentId": self.document_id,
            "outcome": self.outcome.value,
            "chunkCount": self.chunks,
            "unreadablePages": list(self.unreadable_pages),
            "hiddenCharacters": self.hidden_characters,
            "reason": self.reason,
        }


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
    gateway: GatewayClient, files: Sequence[LocalFile], choices: Choices, watcher: Watcher
) -> list[FileResult]:
    """Make the index show these files; only what differs is sent. Results come by document id.

    Raises `GatewayError` when not even the index can be listed.
    """
    indexed, hashes = await asyncio.gather(
        _indexed(gateway, {file.source for file in files}),
        asyncio.to_thread(lambda: [file.sha256() for file in files]),
    )
    plan = compare(files, hashes, indexed)
    if choices.force:
        plan = Plan((*plan.upload, *plan.unchanged), (), plan.vanished)
    watcher.planned(len(plan.upload) + len(plan.unchanged), len(plan.unchanged))
    results = [FileResult(file.document_id, Outcome.UNCHANGED) for file in plan.unchanged]
    slots = asyncio.Semaphore(CONCURRENT_UPLOADS)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_upload(gateway, file, slots, watcher)) for file in plan.upload]
        if choices.prune:
            tasks += [group.create_task(_remove(gateway, gone, slots, watcher)) for gone in plan.vanished]
    results += [task.result() for task in tasks]
    return sorted(results, key=lambda result: result.document_id)


async def reindex_originals(
    gateway: GatewayClient, sources: Sequence[str], watcher: Watcher
) -> list[FileResult]:
    """Let the service read the originals of these sources again, all when empty. Results come by document id.

    What its parser and chunker made already is unchanged. Raises `GatewayError` when there is no list.
    """
    document_ids = [document.document_id async for document in gateway.documents(list(sources))]
    watcher.planned(len(document_ids), 0)
    slots = asyncio.Semaphore(CONCURRENT_UPLOADS)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_reindex(gateway, each, slots, watcher)) for each in document_ids]
    return [task.result() for task in tasks]


async def _reindex(
    gateway: GatewayClient, document_id: str, slots: asyncio.Semaphore, watcher: Watcher
) -> FileResult:
    async with slots:
        try:
            receipt = await gateway.reindex(document_id, partial(watcher.progressed, document_id))
            result = _done(document_id, receipt)
        except GatewayError as error:
            result = FileResult(document_id, Outcome.FAILED, reason=str(error))
    watcher.finished(result)
    return result


async def _indexed(gateway: GatewayClient, sources: set[str]) -> dict[str, str]:
    """SHA-256 of the indexed documents of these sources, by id. A source without documents has none."""
    known = {source.source async for source in gateway.sources()} & sources
    if not known:
        return {}
    return {d.document_id: d.content_sha256 async for d in gateway.documents(sorted(known))}


async def _upload(
    gateway: GatewayClient, file: LocalFile, slots: asyncio.Semaphore, watcher: Watcher
) -> FileResult:
    async with slots:
        result = await _uploaded(gateway, file, watcher)
    watcher.finished(result)
    return result


async def _uploaded(gateway: GatewayClient, file: LocalFile, watcher: Watcher) -> FileResult:
    if not file.has_sound_name:
        return FileResult(file.document_id, Outcome.FAILED, reason="the file's name is not valid UTF-8")
    try:
        receipt = await gateway.ingest(file, partial(watcher.progressed, file.document_id))
    except (GatewayError, OSError) as error:
        return FileResult(file.document_id, Outcome.FAILED, reason=str(error))
    return _done(file.document_id, receipt)


def _done(document_id: str, receipt: IngestReceipt) -> FileResult:
    return FileResult(
        document_id,
        Outcome(IngestOutcome.Name(receipt.outcome).removeprefix("INGEST_OUTCOME_")),
        receipt.document.chunk_count,
        tuple(receipt.document.unreadable_pages),
        receipt.hidden_characters,
    )


async def _remove(
    gateway: GatewayClient, document_id: str, slots: asyncio.Semaphore, watcher: Watcher
) -> FileResult:
    async with slots:
        try:
            await gateway.remove_document(document_id)
            result = FileResult(document_id, Outcome.REMOVED)
        except GatewayError as error:
            result = FileResult(document_id, Outcome.FAILED, reason=str(error))
    watcher.finished(result)
    return result
