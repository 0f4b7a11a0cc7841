"""Gives documents the names by which people know them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from clausegate import ClausegateError, Client
from clausegate.corpus.v1.document_pb2 import Document
from corpus.codec import from_message
from corpus.documents import Document as DomainDocument
from corpus.labels import labels_of


async def labels_for(client: Client, document_ids: Iterable[str]) -> Mapping[str, str]:
    """What to call documents that are shown together, by id; those that are gone are left out."""
    found = await asyncio.gather(*(_document(client, document_id) for document_id in {*document_ids}))
    return labels_of(from_message(document, DomainDocument) for document in found if document)


async def _document(client: Client, document_id: str) -> Document | None:
    try:
        return await client.get_document(document_id)
    except ClausegateError as error:
        if error.reason != "DOCUMENT_NOT_FOUND":
            raise
        return None
