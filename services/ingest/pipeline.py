"""The upload is the job: receive, read, index, archive, in an order that a crash at any moment cannot hurt.

1. Already visible (same bytes, same code) and archived: the receipt comes at once.
2. Bytes are spooled and hashed; a child process parses them, cuts chunks and makes the card.
3. The original is archived beside the old one.
4. The index makes the new version visible in one step.
5. The archive lets the old original go.

Until step 4 the old version answers, and repeating the upload completes whatever is missing.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import Exhausted, InvalidInput
from chassis.limits.concurrency import FairQueue
from chassis.limits.deadlines import in_time
from chassis.telemetry import stage
from corpus.documents import Document, Generation
from services.ingest.addresses import DocumentAddress
from services.ingest.archive import Archive
from services.ingest.archive_report import ArchiveReport
from services.ingest.chunking import CHUNKER_VERSION, ChunkLimits, Origin
from services.ingest.errors import DocumentConflict, DocumentNotFound, DocumentTooLarge
from services.ingest.index_client import IndexClient
from services.ingest.latest_progress import LatestProgress
from services.ingest.parsing.formats import PARSER_VERSION
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pool import ParserPool
from services.ingest.profile import PROFILE_VERSION
from services.ingest.reading import Job, Reading
from services.ingest.records import (
    Event,
    Outcome,
    Progress,
    Receipt,
    Report,
    SendBytes,
    Stage,
)
from services.ingest.spool import SpooledFile, spooled

RETRY_AFTER_SECONDS = 5.0
"""A document takes seconds; sooner makes no sense."""
logger = logging.getLogger(__name__)
_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a sender says of a file before its bytes."""

    tenant: str
    address: DocumentAddress
    content_sha256: str
    """Empty when not known."""
    size_bytes: int
    """0 when not known."""


@dataclass(frozen=True, slots=True)
class PipelineLimits:
    """How much is worked on, and how large it may be."""

    max_document_bytes: int
    silence_seconds: float
    """A sender that sends next to nothing for so long, see `chassis.limits.deadlines`, loses its turn."""
    concurrent_documents: int
    waiting_documents: int
    parsing: ParsingLimits
    chunks: ChunkLimits


def generation_of(content_sha256: str, limits: ChunkLimits) -> Generation:
    """Names a version: the same bytes, which the same code reads, cuts and makes a card of, have the same 32
    hexadecimal digits.
    """
    made_by = f"{content_sha256}\n{PARSER_VERSION}\n{CHUNKER_VERSION}\n{PROFILE_VERSION}\n{limits}"
    return Generation(hashlib.sha256(made_by.encode()).hexdigest()[:32])


class Pipeline:
    """Ingests documents, a bounded number at a time, and never the same one twice at once."""

    def __init__(
        self, limits: PipelineLimits, parsers: ParserPool, index: IndexClient, archive: Archive, folder: Path
    ) -> None:
        """Spool uploads below `folder`."""
        self.report = ArchiveReport(archive, index)
        self._limits = limits
        self._parsers = parsers
        self._index = index
        self._archive = archive
        self._folder = folder
        self._queue = FairQueue("documents", limits.concurrent_documents)
        self._running: set[tuple[str, str]] = set()

    async def ingest(self, announced: Announcement, upload: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """Yield `SendBytes`, progress, and the receipt last; for an unchanged document the receipt alone.

        `upload` is read only after `SendBytes`. Closing the iterator cancels the work. Raises `InvalidInput`,
        `DocumentError`, `DocumentConflict`, `Exhausted`, and what the index raises.
        """
        self._check(announced)
        with self._alone(announced.tenant, announced.address.document_id):
            live = await self._index.find(announced.address.document_id)
            if announced.content_sha256 and await self._is_unchanged(
                announced, live, announced.content_sha256
            ):
                yield await self._unchanged(announced.tenant, live)
                return
            async with self._queue.turn():
                yield SendBytes()
                async with aclosing(self._events(announced, live, upload)) as events:
                    async for event in events:
                        yield event

    async def reindex(self, tenant: str, document_id: str) -> AsyncIterator[Progress | Receipt]:
        """Ingest the archived original of a document again; progress, and the receipt last.

        A version that this release would make alike is unchanged: the receipt comes alone. One that the index
        has lost is created. Closing the iterator cancels the work. Raises `DocumentNotFound` for the document
        or its original, `OriginalDamaged`, and what `ingest` raises.
        """
        with self._alone(tenant, document_id):
            live = await self._index.find(document_id)
            content_sha256 = live.content_sha256 if live else await self._archived(tenant, document_id)
            source, _, path = document_id.partition("/")
            announced = Announcement(tenant, DocumentAddress(source, path), content_sha256, 0)
            if await self._is_unchanged(announced, live, content_sha256):
                yield await self._unchanged(tenant, live)
                return
            async with (
                self._queue.turn(),
                aclosing(self._archive.read(tenant, content_sha256)) as original,
                aclosing(self._events(announced, live, original)) as events,
            ):
                async for event in events:
                    yield event

    async def remove(self, tenant: str, document_id: str) -> str:
        """Remove a document from index and archive; the new index revision.

        Raises `DocumentNotFound`, `DocumentConflict` while it is uploaded, and what the index raises.
        """
        with self._alone(tenant, document_id):
            await self.report.hide(tenant, document_id)
            try:
                revision = await self._index.remove(document_id)
            except DocumentNotFound:
                # An earlier call may have been cut off between the two.
                await self._archive.release(tenant, document_id)
                raise
            except BaseException:
                await self._archive.set_visible(tenant, document_id, visible=True)
                raise
            await self._archive.release(tenant, document_id)
        return revision

    async def originals(self, tenant: str) -> Mapping[str, str]:
        """The SHA-256 of the archived original of each document that the index is to show, by id."""
        return await self._archive.originals(tenant)

    async def _archived(self, tenant: str, document_id: str) -> str:
        """The SHA-256 of the original of a document that the index lacks. Raises `DocumentNotFound`."""
        originals = await self._archive.originals(tenant)
        if document_id not in originals:
            raise DocumentNotFound("The document is neither indexed nor archived.", field="document_id")
        return originals[document_id]

    def _check(self, announced: Announcement) -> None:
        if not _SHA256.fullmatch(announced.content_sha256):
            raise InvalidInput("Must be 64 lower-case hexadecimal digits.", field="content_sha256")
        if announced.size_bytes < 0:
            raise InvalidInput("Must not be negative.", field="size_bytes")
        if announced.size_bytes > self._limits.max_document_bytes:
            raise DocumentTooLarge(
                f"The file is larger than {self._limits.max_document_bytes:,} bytes.", field="size_bytes"
            )

    @contextmanager
    def _alone(self, tenant: str, document_id: str) -> Iterator[None]:
        """Refuse a second write of a document that is being written, and more writes than may wait."""
        key = (tenant, document_id)
        if key in self._running:
            raise DocumentConflict("Another upload of this document runs now.")
        if len(self._running) >= self._limits.concurrent_documents + self._limits.waiting_documents:
            raise Exhausted("Too many uploads are waiting.", retry_after_seconds=RETRY_AFTER_SECONDS)
        self._running.add(key)
        try:
            yield
        finally:
            self._running.discard(key)

    async def _is_unchanged(
        self, announced: Announcement, live: Document | None, content_sha256: str
    ) -> bool:
        return (
            live is not None
            and live.content_sha256 == content_sha256
            and live.generation == generation_of(content_sha256, self._limits.chunks)
            and await self._archive.holds(announced.tenant, live.document_id, content_sha256)
            and await self._index.is_intact(live.document_id)
        )

    async def _unchanged(self, tenant: str, live: Document | None) -> Receipt:
        """The receipt of what is there; an earlier call may have been cut off before its last step."""
        assert live is not None
        await self._archive.release(tenant, live.document_id, but=live.content_sha256)
        return Receipt(Outcome.UNCHANGED, live, await self._index.revision())

    async def _events(
        self, announced: Announcement, live: Document | None, content: AsyncIterator[bytes]
    ) -> AsyncGenerator[Progress | Receipt, None]:
        """Progress until the receipt; closing the iterator ends the work first."""
        progress = LatestProgress()
        work = asyncio.create_task(self._work(announced, live, content, progress.report))
        async with aclosing(progress.until(work)) as events:
            async for event in events:
                yield event
        yield work.result()

    async def _work(
        self,
        announced: Announcement,
        live: Document | None,
        upload: AsyncIterator[bytes],
        report: Report,
    ) -> Receipt:
        limit = self._limits.max_document_bytes
        arriving = in_time(upload, self._limits.silence_seconds, field="data")
        async with spooled(arriving, self._folder, limit, announced.content_sha256) as file:
            if await self._is_unchanged(announced, live, file.content_sha256):
                return await self._unchanged(announced.tenant, live)
            origin = self._origin(announced.address, file)
            reading = await self._read(file, origin, report)
            return await self._publish(announced, file, origin, reading, report)

    def _origin(self, address: DocumentAddress, file: SpooledFile) -> Origin:
        return Origin(
            document_id=address.document_id,
            source=address.source,
            path=address.path,
            generation=generation_of(file.content_sha256, self._limits.chunks),
            file_name=address.file_name,
        )

    async def _read(self, file: SpooledFile, origin: Origin, report: Report) -> Reading:
        def report_reading(name: str, done: int, total: int) -> None:
            report(Progress(Stage(name), done, total))

        job = Job(file.path, origin, self._limits.parsing, self._limits.chunks)
        with stage("parse"):
            reading = await self._parsers.read(job, report_reading)
        if reading.profile_failure:
            extra = {"document": origin.document_id, "failure": reading.profile_failure}
            logger.error("no card could be made of a document", extra=extra)
        return reading

    async def _publish(
        self, announced: Announcement, file: SpooledFile, origin: Origin, reading: Reading, report: Report
    ) -> Receipt:
        """Archive, then flip the index, then let the old original go: see the module's order."""
        document = _record(origin, file, reading)
        content = file.content_sha256
        with stage("archive"):
            await self._archive.keep(announced.tenant, origin.document_id, content, file.path)
        total = len(reading.chunks)
        with stage("index"):
            indexed = await self._index.replace(
                document,
                reading.chunks,
                reading.definitions,
                lambda stored: report(Progress(Stage.INDEXING, stored, total)),
            )
        await self._archive.release(announced.tenant, origin.document_id, but=content)
        outcome = Outcome.UPDATED if indexed.replaced else Outcome.CREATED
        return Receipt(outcome, indexed.document, indexed.index_revision, reading.guessed_encoding)


def _record(origin: Origin, file: SpooledFile, reading: Reading) -> Document:
    return Document(
        document_id=origin.document_id,
        source=origin.source,
        path=origin.path,
        title=reading.title,
        format=reading.format,
        content_sha256=file.content_sha256,
        generation=origin.generation,
        size_bytes=file.size_bytes,
        page_count=reading.page_count,
        unreadable_pages=reading.unreadable_pages,
        chunk_count=len(reading.chunks),
        definition_count=len(reading.definitions),
        hidden_characters=reading.hidden_characters,
        scanned_pages=reading.scanned_pages,
        reference_marks=reading.reference_marks,
        running_lines=reading.running_lines,
        profile=reading.profile,
    )
