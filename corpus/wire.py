"""How a class says that it differs from its message; see `codec`, which takes all else by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Wire:
    """The exceptions of one class, its class variable `WIRE`."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Fields that the message calls something else, by our name."""
    only_here: frozenset[str] = frozenset()
    """Fields that the message lacks. They have a default, which is what a message is read as."""
    derived: frozenset[str] = frozenset()
    """Properties that the message has as fields: written, and not read."""
    only_there: frozenset[str] = frozenset()
    """The message's fields that the class lacks: neither read nor written."""


SAME = Wire()
"""What holds for a class that says nothing."""
