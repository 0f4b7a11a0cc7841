"""Whether a model's words say more than the quotes that they rest on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.answer.legible import legible
from services.answer.verification.lint import lint, replaced_words

FORBIDDEN_PHRASES = (
    "typical practice",
    "typically",
    "usually",
    "generally",
    "normally",
    "commonly",
    "customarily",
    "likely",
    "probably",
    "presumably",
    "apparently",
    "in most cases",
    "as a rule",
    "it seems",
    "it appears",
)
"""Words of guesses and generalities. The prompt forbids them, and a statement with one does not leave unless
its quote says it too."""
_GUESS = re.compile(rf"\b(?:{'|'.join(FORBIDDEN_PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)


def overstates(text: str, quotes: Sequence[str], question: str = "") -> bool:
    """Whether a text says more than its quotes, or has a word in the place of one of theirs."""
    replaced = replaced_words(text, quotes, question)
    return guesses(text, quotes) or bool(replaced) or bool(lint(text, quotes, question))


def guesses(text: str, quotes: Sequence[str]) -> bool:
    """Whether a text holds a forbidden phrase that none of its quotes holds."""
    phrases = {" ".join(match.group().lower().split()) for match in _GUESS.finditer(text)}
    said = {" ".join(match.group().lower().split()) for quote in quotes for match in _GUESS.finditer(quote)}
    return not phrases <= said


def plain(text: str) -> str:
    """A model's words on one line, without characters that nobody sees."""
    return " ".join(legible(text).split())
