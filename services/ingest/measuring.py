"""Counts what is ingested."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from chassis.telemetry import counter, error_type
from services.ingest.records import Event, Outcome, Receipt

E = TypeVar("E", bound=Event)

_documents = counter(__name__, "clausegate.ingest.documents", "Documents by how they ended.", "{document}")
_chunks = counter(__name__, "clausegate.ingest.chunks", "Chunks that were made visible.", "{chunk}")
_bytes = counter(__name__, "clausegate.ingest.size", "Originals that were made visible.", "By")


async def counted(events: AsyncIterator[E]) -> AsyncIterator[E]:
    """Pass on the events of one document, and count how it ends."""
    ended = False
    try:
        async for event in events:
            if isinstance(event, Receipt):
                ended = True
                _count(event)
            yield event
    except BaseException as error:
        if not ended:
            _documents.add(1, {"clausegate.ingest.outcome": "failed", "error.type": error_type(error)})
        raise


def _count(receipt: Receipt) -> None:
    _documents.add(1, {"clausegate.ingest.outcome": receipt.outcome.name.lower()})
    if receipt.outcome is not Outcome.UNCHANGED:
        _chunks.add(receipt.document.chunk_count)
        _bytes.add(receipt.document.size_bytes)
