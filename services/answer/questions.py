"""What is asked, and the limits of it."""

from __future__ import annotations

from dataclasses import dataclass

from chassis.errors import InvalidInput
from chassis.limits.size import check_names, holds_controls

MAX_QUERY_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it came, see `clausegate.answer.v1.QueryRequest`; `check` tells whether it is valid."""

    query: str
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    gate: bool = True
    grading: bool = True
    debug: bool = False
    max_cost_usd: float | None = None
    """What the models of this question may cost, in US dollars; None means no limit."""
    dry_run: bool = False
    everywhere: bool = False
    """Whether to search beyond the documents that the question names."""


def check(question: Question) -> None:
    """Raise `InvalidInput`, naming the field, unless the question keeps the limits of its request."""
    check_query(question.query)
    check_names("sources", question.sources)
    check_names("document_ids", question.document_ids)


def check_query(query: str, field: str = "query") -> None:
    """Raise `InvalidInput`, naming the field, unless the words of a question are some and not too many."""
    if not query.strip():
        raise InvalidInput("The question must not be empty.", field=field)
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"The question is longer than {MAX_QUERY_CHARACTERS:,} characters.", field=field)
    if holds_controls(query):
        raise InvalidInput("The question holds control characters.", field=field)
