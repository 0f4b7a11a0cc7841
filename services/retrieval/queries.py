"""Requests, checked: a value that one of these functions returns needs no further look.

All raise `InvalidInput` with the path of the field at fault, or `NotFound` where it names nothing indexed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from chassis.errors import InvalidInput, NotFound, Precondition
from chassis.limits.size import check_count, check_text
from corpus.documents import DocumentId, Generation, Version
from services.retrieval.corpus import EVERYWHERE, Scope
from services.retrieval.store.port import Store

Item = TypeVar("Item")

MAX_QUERY_CHARACTERS = 8000
MAX_SCOPE = 100
MAX_PAGE = 1000
RETRY_AFTER_SECONDS = 1.0
"""When a caller may ask again for a version that is not visible yet."""


class SourceNotFound(NotFound):
    """No document of this source is indexed."""

    reason = "SOURCE_NOT_FOUND"


class DocumentNotFound(NotFound):
    """The document is not indexed."""

    reason = "DOCUMENT_NOT_FOUND"


class IndexBehind(Precondition):
    """The index does not show a version that the search must see."""

    reason = "INDEX_BEHIND"


class SearchMode(StrEnum):
    """How candidates are found."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"
    KEYWORD_FIRST = "keyword_first"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many hits of each leg to fuse, and how many candidates to return."""

    top_k: int = 12
    vector_k: int = 10
    keyword_k: int = 10


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search, see `clausegate.retrieval.v1.SearchRequest`."""

    text: str
    scope: Scope = EVERYWHERE
    mode: SearchMode = SearchMode.HYBRID
    limits: Limits = DEFAULT_LIMITS
    background: bool = False
    route: bool = True
    at_least: tuple[Version, ...] = ()


def question(text: str, field: str) -> str:
    """A question in the user's words: 1 to 8,000 characters, not only white space."""
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"Must not be longer than {MAX_QUERY_CHARACTERS:,} characters.", field=field)
    return visible(text, field)


def visible(text: str, field: str, limit: int | None = None) -> str:
    """Text with something in it and without control characters other than line breaks and tabs."""
    check_text(field, text, limit)
    return text


def at_most(values: Sequence[Item], limit: int, field: str) -> tuple[Item, ...]:
    """A list that is not longer than `limit`."""
    check_count(field, values, limit)
    return tuple(values)


def count(value: int, field: str, *, default: int, limit: int) -> int:
    """A number of results: 0 means `default`, more than `limit` means `limit`, below 0 is wrong."""
    if value < 0:
        raise InvalidInput("Must not be negative.", field=field)
    return min(value, limit) or default


def required_document_id(value: str) -> DocumentId:
    """A document id that is there."""
    if not value:
        raise InvalidInput("Must not be empty.", field="document_id")
    return DocumentId(value)


def version_of(document_id: str, generation: str, field: str) -> Version:
    """The version that two required fields below `field` name."""
    for name, value, limit in (("document_id", document_id, 1024), ("generation", generation, 64)):
        if not 1 <= len(value.encode()) <= limit:
            raise InvalidInput(f"Must have 1 to {limit:,} bytes.", field=f"{field}.{name}")
    return Version(DocumentId(document_id), Generation(generation))


def scope(sources: Sequence[str], document_ids: Sequence[str]) -> Scope:
    """Where to look; whether the names exist is for `check_scope` to say."""
    return Scope(
        tuple(dict.fromkeys(at_most(sources, MAX_SCOPE, "sources"))),
        tuple(map(DocumentId, dict.fromkeys(at_most(document_ids, MAX_SCOPE, "document_ids")))),
    )


async def check_scope(store: Store, checked: Scope) -> None:
    """Raise `SourceNotFound` or `DocumentNotFound` for the first name without live documents."""
    for number, source in enumerate(checked.sources):
        if not await store.covers(Scope(sources=(source,))):
            raise SourceNotFound(
                f"No document of this source is indexed: {source}", field=f"sources[{number}]"
            )
    for number, document_id in enumerate(checked.document_ids):
        if not await store.covers(Scope(document_ids=(document_id,))):
            field = f"document_ids[{number}]"
            raise DocumentNotFound(f"The document is not indexed: {document_id}", field=field)


async def check_versions(store: Store, versions: Sequence[Version]) -> None:
    """Raise `IndexBehind` for the first version that is not live."""
    for number, version in enumerate(versions):
        document = await store.document(version.document_id)
        if document is None or document.version != version:
            raise IndexBehind(
                f"This version of {version.document_id} is not visible to searches.",
                field=f"at_least[{number}]",
                retry_after_seconds=RETRY_AFTER_SECONDS,
            )
