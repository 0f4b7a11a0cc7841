"""Builds the answer service from its settings and takes it down again; nothing else constructs clients."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from chassis.channel import open_channel
from chassis.server import Services
from clausegate.answer.v1.query_service_pb2 import DESCRIPTOR
from clausegate.answer.v1.query_service_pb2_grpc import add_QueryServiceServicer_to_server
from services.answer.audit import Records
from services.answer.querying import Querying
from services.answer.record_files import RecordFile, RecordWriter
from services.answer.retrieval_client import RETRIED_SERVICES, RetrievalClient
from services.answer.servicer import QueryServicer
from services.answer.settings import AnswerSettings
from services.answer.tokens import token_counter
from services.answer.tracking import Clock

MEGABYTE = 1_000_000
SYSTEM_CLOCK = Clock(now=lambda: datetime.now(UTC), seconds=time.monotonic, new_id=lambda: str(uuid4()))


@asynccontextmanager
async def answer(settings: AnswerSettings) -> AsyncIterator[Services]:
    """What the answer service offers to a server, alive until the context ends."""
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(RecordWriter())
        channel = await stack.enter_async_context(
            open_channel(settings.retrieval_address, retried_services=RETRIED_SERVICES)
        )
        querying = Querying(
            retrieval=RetrievalClient(channel, settings.retrieval_deadline_seconds),
            counter=token_counter(settings.tiktoken_cache_dir),
            policy=settings.policy(),
            records=_records(settings, writer),
            clock=SYSTEM_CLOCK,
        )
        servicer = QueryServicer(querying)
        yield Services(
            names=(DESCRIPTOR.services_by_name["QueryService"].full_name,),
            register=lambda server: add_QueryServiceServicer_to_server(servicer, server),
        )


def _records(settings: AnswerSettings, writer: RecordWriter) -> Records:
    logs = settings.data_dir / "logs"
    return Records(
        writer,
        queries=RecordFile(logs / "queries.jsonl", 50 * MEGABYTE, older_files=9, durable=True),
        debug=RecordFile(logs / "debug.jsonl", 10 * MEGABYTE, older_files=4, durable=False),
        query_text=settings.audit_query_text,
        echo=settings.log_queries,
    )
