"""Conditions on objects, in the words of the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from weaviate.collections.classes.filters import Filter, FilterReturn

from services.retrieval.corpus import Scope
from services.retrieval.store.weaviate.keys import key_of
from services.retrieval.store.weaviate.objects import HEADING


def within(scope: Scope) -> list[FilterReturn]:
    """Objects of documents in scope."""
    parts = (("source_key", scope.sources), ("document_key", scope.document_ids))
    return [one_of(name, map(key_of, wanted)) for name, wanted in parts if wanted]


def ids(keys: Sequence[UUID]) -> FilterReturn:
    """Objects with one of these ids, of which there is at least one."""
    return Filter.by_id().contains_any(list(keys))


def of(name: str, key: UUID) -> FilterReturn:
    """Objects with this key."""
    return Filter.by_property(name).equal(key)


def one_of(name: str, keys: Iterable[UUID]) -> FilterReturn:
    """Objects with one of these keys, of which there is at least one."""
    return Filter.by_property(name).contains_any(list(keys))


def other_than(name: str, keys: Sequence[UUID]) -> list[FilterReturn]:
    """Objects with none of these keys."""
    return [Filter.by_property(name).not_equal(key) for key in keys]


def holding(stem: str) -> FilterReturn:
    """Chunks with this stem in text, heading chain or table header."""
    return Filter.by_property("stems").contains_any([stem, HEADING + stem])


def all_of(filters: Sequence[FilterReturn]) -> FilterReturn | None:
    """All of these; None for none, which is no condition."""
    return Filter.all_of(list(filters)) if filters else None
