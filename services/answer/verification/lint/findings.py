"""What the lint reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LintRule(StrEnum):
    """What is looked for, see `clausegate.answer.v1.LintRule`."""

    NUMBER = "number"
    CURRENCY = "currency"
    PERCENTAGE = "percentage"
    DATE = "date"
    CLAUSE_NUMBER = "clause_number"
    NEGATION = "negation"
    MODAL = "modal"
    NAME = "name"
    UNSUPPORTED_WORDS = "unsupported_words"
    CONDITION = "condition"
    DENIED = "denied"
    RELATION = "relation"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a statement says and its quotes do not."""

    rule: LintRule
    text: str
    """The words at fault, as the statement or, for a negation that it drops, as the quote has them."""
