"""Where a research query looks: a project's sources, or those sources and documents of it that are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chassis.errors import NotFound

EVERY_SOURCE = "-"
"""Stands for a project of all sources."""
_PLACE = re.compile(r"(?P<names>sources|document_ids)\[(?P<number>\d+)\]")


class NotInProject(NotFound):
    """A source, or the source of a document, is none of the project's."""

    reason = "SOURCE_NOT_FOUND"


@dataclass(frozen=True, slots=True)
class Scope:
    """Sources and documents to search; both empty means everything, both given means either."""

    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()


def scope_of(source_ids: Sequence[str], project_sources: Collection[str] | None) -> Scope:
    """The scope that `source_ids` name, at least one; None means a project of all sources.

    A document whose source is named as well adds nothing. Raises `NotInProject`, naming the field.
    """
    for i, name in enumerate(source_ids):
        if project_sources is not None and _source_of(name) not in project_sources:
            raise NotInProject(f"The project does not hold {name}.", field=f"source_ids[{i}]")
    sources = tuple(dict.fromkeys(name for name in source_ids if "/" not in name))
    documents = dict.fromkeys(name for name in source_ids if "/" in name)
    return Scope(sources, tuple(name for name in documents if _source_of(name) not in sources))


def named_field(field: str | None, scope: Scope, source_ids: Sequence[str]) -> str | None:
    """The field of a search at fault, as a field of the request whose `source_ids` made the scope."""
    place = _PLACE.fullmatch(field or "")
    if place is None:
        return field
    name = (scope.sources if place["names"] == "sources" else scope.document_ids)[int(place["number"])]
    return f"source_ids[{source_ids.index(name)}]" if name in source_ids else "project"


def _source_of(name: str) -> str:
    """A document's id begins with its source."""
    return name.split("/", 1)[0]
