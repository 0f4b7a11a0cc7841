"""What the fake Weaviate may do with a call instead of answering it well."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slow:
    """Answers well, after this time."""

    seconds: float


@dataclass(frozen=True)
class Hangs:
    """Does what was asked, but says nothing until the caller has left."""


@dataclass(frozen=True)
class Fails:
    """Does nothing and says this: `status` over REST, `code` (a name of gRPC's) over gRPC."""

    message: str = "internal error"
    status: int = 500
    code: str = "UNKNOWN"


@dataclass(frozen=True)
class Garbage:
    """Does nothing, and answers with bytes that are no message."""

    content: bytes = b"\xff<html>Sign in</html>"


@dataclass(frozen=True)
class RejectsObjects:
    """Rejects the first of every so many objects of a batch; the others are stored, or deleted."""

    message: str
    every: int = 1

    def rejects(self, index: int) -> str | None:
        """What is said of the object with this index, if it is rejected."""
        return None if index % self.every else self.message


Behaviour = Slow | Hangs | Fails | Garbage | RejectsObjects

DISK_FULL = "disk usage too high. Set to read-only at 95.00%, threshold set to 90.00%"
"""Why a server is read-only, see `Database.read_only`."""
