"""Hints for generating queries, by category: read once from a small TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from chassis.errors import CannotStart, InvalidInput

PACKAGED = Path(__file__).with_name("category_hints.toml")
MAX_HINT_CHARACTERS = 200
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")

Hints = Mapping[str, tuple[str, ...]]
"""The hints of each category, in the order of the file."""


class HintsBroken(CannotStart):
    """The file of hints cannot be used; the message names file and entry."""


def load_hints(path: Path | None) -> Hints:
    """The hints of a file; None means the packaged one. Raises `HintsBroken`."""
    file = path or PACKAGED
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise HintsBroken(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise HintsBroken(f"{file} is not TOML in UTF-8: {error}") from error
    return {name: _hints(file, name, value) for name, value in read.items()}


def hints_for(category: str, hints: Hints) -> tuple[str, ...]:
    """The hints of a category, none for the empty one. Raises `InvalidInput` for an unknown one."""
    if not category:
        return ()
    if category not in hints:
        raise InvalidInput(f"Unknown category. Known are: {', '.join(hints) or 'none'}.", field="category")
    return hints[category]


def _hints(file: Path, name: str, value: object) -> tuple[str, ...]:
    if not _NAME.fullmatch(name):
        raise HintsBroken(f"{file}: the name `{name}` must be capitals, digits and `_`, at most 64")
    if not isinstance(value, list) or not value:
        raise HintsBroken(f"{file}: `{name}` must be a list of hints")
    for i, hint in enumerate(value):
        if (
            not isinstance(hint, str)
            or not hint.isprintable()
            or not 0 < len(hint.strip()) <= MAX_HINT_CHARACTERS
        ):
            raise HintsBroken(
                f"{file}: `{name}`, hint {i + 1}: must be one line of 1 to {MAX_HINT_CHARACTERS} characters"
            )
    return tuple(hint.strip() for hint in value)
