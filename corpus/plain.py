"""Values from what JSON keeps of `dataclasses.asdict`: the way back, told by the hints of the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

V = TypeVar("V")


def from_plain(plain: Mapping[str, Any], of: type[V]) -> V:
    """The value of the class `of`. Fields that the class does not have, of a later release, are passed over.

    Raises `KeyError`, `TypeError` or `ValueError` for what is no such value.
    """
    kind: Any = of
    hints = _hints(kind)
    value: V = kind(**{name: _value(plain[name], hint) for name, hint in hints.items() if name in plain})
    return value


@cache
def _hints(of: Any) -> dict[str, Any]:
    return get_type_hints(of)


def _value(plain: Any, hint: Any) -> Any:
    kinds = get_args(hint)
    if NoneType in kinds:
        return None if plain is None else _value(plain, kinds[0])
    if get_origin(hint) is tuple:
        return tuple(_value(item, kinds[0]) for item in plain)
    make: Any = hint
    return from_plain(plain, make) if is_dataclass(hint) else make(plain)
