"""What a verification of audit logs is asked, and what it finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from services.answer.records.head import Head
from services.answer.records.lines import NOTHING

_ANCHOR = re.compile(r"(?P<chain>[A-Za-z0-9._-]{1,48}):(?P<sequence>[1-9][0-9]{0,17}):(?P<hash>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A record that is known from elsewhere, as a process logs it or `audit verify` prints it."""

    chain: str
    sequence: int
    hash: str

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """From `chain:sequence:hash`. Raises `ValueError`."""
        matched = _ANCHOR.fullmatch(text)
        if matched is None:
            raise ValueError("expected chain:sequence:hash, as a process logs it")
        return cls(matched["chain"], int(matched["sequence"]), matched["hash"])


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that cannot be explained by anything but damage or tampering."""

    what: str
    file: Path | None = None
    line: int | None = None
    """From 1."""


@dataclass(slots=True)
class ChainReport:
    """What was found of one chain."""

    chain: str
    head: Head | None = None
    records: int = 0
    first: int = 0
    """Sequence of the first record that is there; 0 for none."""
    last: int = 0
    last_hash: str = NOTHING
    first_time: datetime | None = None
    last_time: datetime | None = None
    removed: int = 0
    """Records up to this one were removed by retention."""
    sealed: int = 0
    """Records with a seal; checked when keys were given."""
    torn: int = 0
    """Lines that a process had not finished when it was killed, found at its next start."""
    unfinished_bytes: int = 0
    """At the end: a record that is being written, or that a process had not finished when it was killed."""
    steps_back: int = 0
    """How often a record is of a call that began before that of the record before it."""
    longest_step_back: timedelta = timedelta()
    violations: int = 0
    violation: Violation | None = None
    """The first one."""

    def violated(self, violation: Violation) -> None:
        """Count a violation, and keep the first."""
        self.violations += 1
        self.violation = self.violation or violation


@dataclass(slots=True)
class Report:
    """What was found of all chains."""

    chains: Sequence[ChainReport]
    violations: Sequence[Violation] = ()
    """What belongs to no chain."""

    @property
    def whole(self) -> bool:
        """Whether nothing is broken."""
        return not self.violations and not any(chain.violations for chain in self.chains)
