"""Builds the ingest service from its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from chassis.channel import open_channel
from chassis.folders import owned
from chassis.server import Services
from clausegate.ingest.v1 import ingest_service_pb2, ingest_service_pb2_grpc
from services.ingest.archive import Archive
from services.ingest.chunking import ChunkLimits
from services.ingest.index_client import READ_SERVICES, IndexClient
from services.ingest.originals import Originals
from services.ingest.pages import Pages
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pool import ChildLimits, artist_pool, parser_pool
from services.ingest.pipeline import Pipeline, PipelineLimits
from services.ingest.servicer import IngestServicer
from services.ingest.settings import IngestSettings
from services.ingest.spool import prepare_spool

ARTISTS = 2
"""Pages that are drawn at a time: each by a process of its own, so that no upload waits for them."""
DRAW_SECONDS = 20.0
"""What a page may take; contracts take a tenth of a second."""
SERVICE = ingest_service_pb2.DESCRIPTOR.services_by_name["IngestService"].full_name


@asynccontextmanager
async def ingest(settings: IngestSettings) -> AsyncIterator[Services]:
    """The ingest service, ready to be served; leaving it ends its parser processes and its channel.

    Raises `DataInUse` while another process owns the archive, and `IndexKeyBroken`, also without a key where
    callers need credentials.
    """
    folder = settings.data_dir / "archive"
    spool = folder / ".spool"  # beside the tenants' folders, and no tenant's name begins so
    keys = settings.required_index_keys()
    async with AsyncExitStack() as stack:
        stack.enter_context(owned(folder))
        prepare_spool(spool)
        parsers = await stack.enter_async_context(
            parser_pool(settings.max_concurrent_documents, _child_limits(settings), spool)
        )
        briefly = replace(_child_limits(settings), silence_seconds=DRAW_SECONDS)
        artists = await stack.enter_async_context(artist_pool(ARTISTS, briefly, spool))
        channel = await stack.enter_async_context(
            open_channel(settings.retrieval_address, settings.tls_files(), retried_services=READ_SERVICES)
        )
        index = IndexClient(channel, settings.read_deadline_seconds, settings.index_deadline_seconds, keys)
        archive = Archive(folder)
        pipeline = Pipeline(_pipeline_limits(settings), parsers, index, archive, spool)
        originals = Originals(archive, index)
        servicer = IngestServicer(pipeline, originals, Pages(originals, archive, artists, spool))
        await stack.enter_async_context(pipeline.report.kept_up())
        yield Services(
            names=(SERVICE,),
            register=lambda server: ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(
                servicer, server
            ),
            before_others=pipeline.report.compare_all,
        )


def _child_limits(settings: IngestSettings) -> ChildLimits:
    return ChildLimits(
        memory_bytes=settings.parser_memory_bytes,
        cpu_seconds=settings.parser_cpu_seconds,
        silence_seconds=settings.parser_silence_seconds,
        idle_seconds=settings.parser_idle_seconds,
    )


def _pipeline_limits(settings: IngestSettings) -> PipelineLimits:
    return PipelineLimits(
        max_document_bytes=settings.max_document_bytes,
        silence_seconds=settings.upload_silence_seconds,
        concurrent_documents=settings.max_concurrent_documents,
        waiting_documents=settings.max_waiting_documents,
        parsing=ParsingLimits(
            max_pages=settings.max_document_pages,
            max_characters=settings.max_document_characters,
            max_unpacked_bytes=settings.max_unpacked_bytes,
        ),
        chunks=ChunkLimits(
            target_words=settings.chunk_target_words,
            max_words=settings.chunk_max_words,
            min_words=settings.chunk_min_words,
            overlap_sentences=settings.chunk_overlap_sentences,
        ),
    )
