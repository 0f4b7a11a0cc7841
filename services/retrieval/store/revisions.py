"""Revisions of a part of an index: they name the state of its documents, in every store alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

DIGITS = 32
"""Hexadecimal."""


def revision_of(documents: Iterable[tuple[str, ...]]) -> str:
    """The revision of some documents, each given by its id, generation and time; in any order."""
    state = json.dumps(sorted(documents))
    return hashlib.sha256(state.encode()).hexdigest()[:DIGITS]
