"""Finds clauses that a document does not state as a fact: denied, doubted, or somebody's assertion.

`The Vendor denies that the Subscriber owns the Data`, `no representation that …`, `the Vendor alleges that
…`: the words behind `that` stand in the document, and say the opposite without those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Token
from services.answer.verification.lint.vocabulary import (
    ASSERTIONS,
    CONDITION_MARKS,
    DENIALS,
    NEGATIONS,
)
from services.answer.verification.lint.wording import is_content, stem_of

_REACH = 40
"""Tokens between a `that` and what governs it."""
_CLAUSE_REACH = 160
"""Tokens of its clause."""
_ENDS = frozenset(".!?;")
_LINKS = frozenset(("and", "but", "or", "while", "whereas", "however"))
_NO_CLAUSE = frozenset((*CONDITION_MARKS, "such", "so", "now", "in", "is", "of", "than"))
"""`Provided that` and `the event that` lead into a condition, `such that` into a consequence."""


@dataclass(frozen=True, slots=True)
class Governed:
    """A clause behind `that`, and what governs it."""

    stems: frozenset[str]
    """The stems of its content words."""
    by: str
    """The stem of the word that governs it."""
    denied: bool
    """Whether that denies it, so that a negation may say the same; else it is an assertion."""
    text: str
    """The words that govern it, to the `that`."""


def governed_in(tokens: Sequence[Token]) -> Iterator[Governed]:
    """Every clause that is no fact, in order."""
    for i, token in enumerate(tokens):
        if token.word != "that" or not i or tokens[i - 1].word in _NO_CLAUSE:
            continue
        at = _governor(tokens, i)
        if at is None:
            continue
        clause = tokens[i + 1 : _end_of_clause(tokens, i + 1)]
        stems = frozenset(stem_of(token.word) for token in clause if is_content(token))
        if len(stems) > 1:
            denied = tokens[at].word not in ASSERTIONS
            yield Governed(stems, stem_of(tokens[at].word), denied, written(tokens[at : i + 1][:6]))


def _governor(tokens: Sequence[Token], i: int) -> int | None:
    """The nearest word before token `i` that makes its clause no fact, unless another verb stands between."""
    for at in range(i - 1, max(-1, i - 1 - _REACH), -1):
        if tokens[at].text in _ENDS or _breaks(tokens, at):
            return None
        word = tokens[at].word
        if word in DENIALS or word in ASSERTIONS or word in NEGATIONS or word.endswith("n't"):
            return at
    return None


def _end_of_clause(tokens: Sequence[Token], i: int) -> int:
    """Where the clause ends that begins with token `i`: with its sentence, or before `, and`."""
    for at in range(i, min(len(tokens), i + _CLAUSE_REACH)):
        if tokens[at].text in _ENDS or _breaks(tokens, at):
            return at
    return min(len(tokens), i + _CLAUSE_REACH)


def _breaks(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].text == "," and at + 1 < len(tokens) and tokens[at + 1].word in _LINKS
