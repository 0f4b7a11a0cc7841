"""Finds the documents that a user means by a part of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from clausegate import ClausegateError, Client
from clausegate.corpus.v1.document_pb2 import Document
from cli.errors import CommandError
from corpus.codec import from_message
from corpus.documents import Document as DomainDocument
from corpus.labels import labels_of

MOST_OFFERED = 5
LIKENESS = 0.7
"""How alike two names are, 0 to 1, for one to be offered for the other."""


class DocumentUnclear(CommandError):
    """A name is that of several documents; the message tells some of them."""


class DocumentUnknown(CommandError):
    """A name is that of no document; told as services tell of an unknown id, with the nearest names."""

    def __init__(self, number: int, advice: str) -> None:
        """`number` of the names, from 0."""
        self._field, self._advice = f"documentIds[{number}]", advice
        super().__init__(f"DOCUMENT_NOT_FOUND: {self._field}: {advice}")

    def problem(self) -> Mapping[str, object]:
        """Reason and field."""
        return {
            "title": "Document not found",
            "detail": self._advice,
            "reason": "DOCUMENT_NOT_FOUND",
            "errors": [{"field": self._field, "description": self._advice}],
        }


async def documents_named(client: Client, names: Iterable[str]) -> list[str]:
    """The ids of documents, each named by its id or by a part of its id, title or label that is its alone.

    Raises `DocumentUnclear` and `DocumentUnknown`.
    """
    asked = list(names)
    if all([await _exists(client, name) for name in asked]):
        return asked
    documents = [document async for document in client.documents()]
    labels = labels_of(from_message(document, DomainDocument) for document in documents)
    known = {document.document_id: _names(document, labels) for document in documents}
    return [_named(number, name, known, labels) for number, name in enumerate(asked)]


async def _exists(client: Client, document_id: str) -> bool:
    try:
        await client.get_document(document_id)
    except ClausegateError as error:
        if error.reason != "DOCUMENT_NOT_FOUND":
            raise
        return False
    return True


def _names(document: Document, labels: Mapping[str, str]) -> tuple[str, ...]:
    names = (document.document_id, document.title, labels[document.document_id])
    return tuple(name.casefold() for name in names)


def _named(number: int, name: str, known: Mapping[str, tuple[str, ...]], labels: Mapping[str, str]) -> str:
    wanted = name.casefold()
    if name in known:
        return name
    holding = [document_id for document_id, names in known.items() if any(wanted in each for each in names)]
    if len(holding) == 1:
        return holding[0]
    if holding:
        raise DocumentUnclear(
            f"--document: {len(holding):,} documents have `{name}` in their names: "
            f"{_offered(holding, labels)}; write more of it"
        )
    nearest = list(_nearest(wanted, known))
    offer = f"; nearest: {_offered(nearest, labels)}" if nearest else "; `clausegate documents` lists them"
    raise DocumentUnknown(number, f"no document has `{name}` in its name{offer}")


def _nearest(wanted: str, known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The documents of which a file's name, a title or a word of either is most like it."""
    holders: dict[str, list[str]] = {}
    for document_id, names in known.items():
        file = names[0].rpartition("/")[2]
        for name in {*names, file, *re.findall(r"\w{4,}", " ".join((file, *names[1:])))}:
            holders.setdefault(name, []).append(document_id)
    alike = get_close_matches(wanted, holders, MOST_OFFERED, LIKENESS)
    yield from dict.fromkeys(document_id for name in alike for document_id in holders[name])


def _offered(document_ids: Iterable[str], labels: Mapping[str, str]) -> str:
    offered = list(document_ids)
    shown = [f"{document_id} ({labels[document_id]})" for document_id in offered[:MOST_OFFERED]]
    return "; ".join([*shown, *(["…"] if len(offered) > MOST_OFFERED else [])])
