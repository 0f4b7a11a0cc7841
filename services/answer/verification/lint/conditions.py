"""Finds conditions, and what holds only under them.

A condition is about what stands before it in its sentence, or, where the sentence begins with it, about what
stands behind its comma.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Token
from services.answer.verification.lint.vocabulary import CONDITION_MARKS, CONSENTS, GENERIC
from services.answer.verification.lint.wording import is_content, stem_of

HELD = 6
"""Content words next to a condition that it is certainly about."""
OWN = 3
"""Content words that tell a condition."""
_REACH = 24
"""Tokens within which those are looked for."""
_MAIN_REACH = 160
"""Tokens of the sentence that may hold only under a condition."""
_CONSENT_REACH = 4
"""Tokens between `with` and `consent`."""
_ENDS = frozenset(".!?;")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: the stems it is about, those that tell it, and its first words."""

    mark: str
    held: tuple[str, ...]
    """The nearest of them."""
    main: frozenset[str]
    """All of the sentence that stand on that side of the condition."""
    own: tuple[str, ...]
    text: str


def conditions_of(tokens: Sequence[Token]) -> Iterator[Condition]:
    """Every condition, in order."""
    for i, token in enumerate(tokens):
        if not _is_mark(tokens, i):
            continue
        behind = _sentence(tokens[i + 1 : i + 1 + _REACH])
        comma = next((at for at, token in enumerate(behind) if token.text == ","), len(behind))
        # The last word of `for internal purposes only` leaves nothing out.
        if not comma:
            continue
        if token.starts:
            near, main = behind[comma:], _sentence(tokens[i + 1 + comma : i + 1 + _MAIN_REACH])
        else:
            main = _sentence(tokens[max(0, i - _MAIN_REACH) : i][::-1])
            near = main[:_REACH]
        own = _stems(behind[:comma], OWN)
        yield Condition(
            token.word, _stems(near, HELD), frozenset(_stems(main)), own, written(tokens[i : i + 4])
        )


def _is_mark(tokens: Sequence[Token], i: int) -> bool:
    word, behind = tokens[i].word, [token.word for token in tokens[i + 1 : i + 1 + _CONSENT_REACH]]
    if word == "with":
        return not CONSENTS.isdisjoint(behind)
    if word == "should":
        # `Should a report be late, …`
        return tokens[i].starts
    if word == "but":
        return behind[:1] == ["not"]
    needed = CONDITION_MARKS.get(word)
    return needed is not None and (not needed or (bool(behind) and behind[0] in needed))


def _sentence(tokens: Sequence[Token]) -> Sequence[Token]:
    end = next((at for at, token in enumerate(tokens) if token.text in _ENDS), len(tokens))
    return tokens[:end]


def _stems(tokens: Sequence[Token], at_most: int | None = None) -> tuple[str, ...]:
    words = (stem_of(token.word) for token in tokens if is_content(token) and token.word not in GENERIC)
    return tuple(dict.fromkeys(words))[:at_most]
