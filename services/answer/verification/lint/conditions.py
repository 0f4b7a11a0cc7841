"""Finds conditions, and what holds only under them.

A condition is about the content words before it in its sentence, or, where the sentence begins with it, about
those behind its comma.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Token
from services.answer.verification.lint.vocabulary import CONDITION_MARKS, GENERIC
from services.answer.verification.lint.wording import is_content, stem_of

HELD = 6
"""Content words that a condition is taken to be about."""
OWN = 3
"""Content words that tell a condition."""
_REACH = 24
"""Tokens within which they are looked for."""
_ENDS = frozenset(".!?;")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: the stems it is about, those that tell it, and its first words."""

    held: tuple[str, ...]
    own: tuple[str, ...]
    text: str


def conditions_of(tokens: Sequence[Token]) -> Iterator[Condition]:
    """Every condition, in order."""
    for i, token in enumerate(tokens):
        following = tokens[i + 1].word if i + 1 < len(tokens) else ""
        if not _is_mark(token.word, following):
            continue
        behind = _sentence(tokens[i + 1 : i + 1 + _REACH])
        comma = next((at for at, one in enumerate(behind) if one.text == ","), len(behind))
        before = [] if token.starts else _sentence(tokens[max(0, i - _REACH) : i][::-1])
        held = _stems(before, HELD) if not token.starts else _stems(behind[comma:], HELD)
        # The last word of `for internal purposes only` leaves nothing out.
        if comma:
            yield Condition(held, _stems(behind[:comma], OWN), written(tokens[i : i + 4]))


def _is_mark(word: str, following: str) -> bool:
    needed = CONDITION_MARKS.get(word)
    return needed is not None and following in (needed or following)


def _sentence(tokens: Sequence[Token]) -> Sequence[Token]:
    end = next((at for at, one in enumerate(tokens) if one.text in _ENDS), len(tokens))
    return tokens[:end]


def _stems(tokens: Sequence[Token], at_most: int) -> tuple[str, ...]:
    words = (stem_of(one.word) for one in tokens if is_content(one) and one.word not in GENERIC)
    return tuple(dict.fromkeys(words))[:at_most]
