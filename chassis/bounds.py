"""What a process takes of its callers at most: how many calls, how long, how large, how slow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chassis.access import Load
from chassis.limits import LimitLaws


@dataclass(frozen=True, slots=True)
class Bounds:
    """As the settings say; the defaults are theirs, without limits of credentials."""

    laws: LimitLaws = field(default_factory=lambda: LimitLaws(running=1024))
    """How many calls of a credential, and of all callers."""
    seconds: Mapping[Load, float] = field(
        default_factory=lambda: {Load.READ: 600.0, Load.QUERY: 600.0, Load.WRITE: 3600.0}
    )
    """The most time that a call gets, and what it gets when it does not say."""
    stall_seconds: float = 60.0
    """How long a client may take or send nothing in the middle of a call."""
    head_bytes: int = 16_384
    """Metadata of a call, or line and headers of an HTTP request."""
    message_bytes: int = 4 * 2**20
    """One message of a call."""
    connections: int = 2048
    """Connections at once."""
    streams: int = 1024
    """Calls at once on one connection; a client keeps more to itself until one has ended."""
