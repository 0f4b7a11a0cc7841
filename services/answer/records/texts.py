"""How the words of callers and of answers are recorded: as they are, hashed, or not at all."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.answer.verification.signing import SigningKey

DOMAIN = b"clausegate.audit.text.v1\n"
"""Goes before what is hashed with a key, so that nothing else that the key may make is taken for it."""
MAX_RECORDED_CHARACTERS = 8_000
"""Longer words of a caller are recorded up to here."""
IDENTIFIERS = frozenset({"timestamp", "query_id", "trace_id", "chunk_id", "model", "outcome"})
"""Strings of a debug record that are no words of anybody; every other one is taken for words."""


class TextMode(StrEnum):
    """How words are recorded; each is stricter than the one before."""

    PLAIN = "plain"
    HASH = "hash"
    """Equal texts can be told; short ones can be guessed unless a key was used, see `docs/audit.md`."""
    OMIT = "omit"


@dataclass(frozen=True, slots=True)
class Texts:
    """Makes of words what is recorded of them."""

    questions: TextMode = TextMode.PLAIN
    answers: TextMode = TextMode.PLAIN
    key: SigningKey | None = None
    """With it, hashes are HMACs, which only its holder can guess at."""

    def question(self, text: str) -> str:
        """What is recorded of a caller's words."""
        kept = text[:MAX_RECORDED_CHARACTERS] if self.questions is TextMode.PLAIN else text
        return self._recorded(kept, self.questions)

    def answer(self, text: str) -> str:
        """What is recorded of an answer: it repeats words of the question, so never more than of those."""
        modes = list(TextMode)
        return self._recorded(text, max(self.questions, self.answers, key=modes.index))

    def debug(self, value: object, name: str = "") -> object:
        """A part of a debug record: all its strings but identifiers are taken for words of the question."""
        if isinstance(value, Mapping):
            return {key: self.debug(part, key) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.debug(part, name) for part in value]
        return self.question(value) if isinstance(value, str) and name not in IDENTIFIERS else value

    def _recorded(self, text: str, mode: TextMode) -> str:
        if mode is TextMode.PLAIN or not text:
            return text
        if mode is TextMode.OMIT:
            return ""
        if self.key is None:
            return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        digest = hmac.digest(self.key.secret, DOMAIN + text.encode(), hashlib.sha256).hex()
        return f"hmac-sha256:{self.key.key_id}:{digest}"
