"""Claim lint, without a model: what a statement says beyond its quotes.

Read `checking` first. `tokens` cuts text, `quantities`, `dates` and `factors` find numbers, amounts, dates,
clause numbers and what multiplies them, `polarity` negations and modals, `governing` clauses that are denied
or somebody's word, `conditions` what holds only sometimes, `relations` prepositions and opposites, and
`wording` names, links and words. `caveats` says what all of this cannot tell.
"""

from services.answer.verification.lint.caveats import (
    Caveat,
    caveats,
    joined_halves,
    replaced_words,
    says_something,
    unknown_beginnings,
)
from services.answer.verification.lint.checking import lint
from services.answer.verification.lint.findings import Finding, LintRule

__all__ = [
    "Caveat",
    "Finding",
    "LintRule",
    "caveats",
    "joined_halves",
    "lint",
    "replaced_words",
    "says_something",
    "unknown_beginnings",
]
