"""What is asked, and the limits of it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from chassis.errors import InvalidInput

MAX_QUERY_CHARACTERS = 8_000
MAX_SCOPE = 100
MAX_SCOPE_BYTES = 1_024
"""The longest document id there is."""
_ALLOWED_CONTROLS = "\n\r\t"


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it came, see `clausegate.answer.v1.QueryRequest`; `check` tells whether it is valid."""

    query: str
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    gate: bool = True
    grading: bool = True
    debug: bool = False


def check(question: Question) -> None:
    """Raise `InvalidInput`, naming the field, unless the question keeps the limits of its request."""
    _check_query(question.query)
    _check_scope("sources", question.sources)
    _check_scope("document_ids", question.document_ids)


def _check_query(query: str) -> None:
    if not query.strip():
        raise InvalidInput("The question must not be empty.", field="query")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"The question is longer than {MAX_QUERY_CHARACTERS:,} characters.", field="query")
    if any(unicodedata.category(c) == "Cc" and c not in _ALLOWED_CONTROLS for c in query):
        raise InvalidInput("The question holds control characters.", field="query")


def _check_scope(field: str, names: tuple[str, ...]) -> None:
    if len(names) > MAX_SCOPE:
        raise InvalidInput(f"At most {MAX_SCOPE} may be given.", field=field)
    for i, name in enumerate(names):
        if not name or len(name.encode()) > MAX_SCOPE_BYTES:
            raise InvalidInput(f"Must have 1 to {MAX_SCOPE_BYTES:,} bytes.", field=f"{field}[{i}]")
