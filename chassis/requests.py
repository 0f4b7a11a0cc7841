"""What every request is checked for, whatever it asks: choices that exist, and names that could be one's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from chassis.errors import InvalidInput
from chassis.limits.size import MAX_NAME_BYTES

_NAMES = ("_id", "_ids", "sources", "project", "document")


def check_request(request: object) -> None:
    """Raise `InvalidInput`, naming the field, for an enum number that nobody has defined, and for a name of
    more than `MAX_NAME_BYTES`.

    Proto3 keeps unknown numbers, and code that asks which of the known ones it is would take each for none.
    """
    if isinstance(request, Message):
        _check(request, "")


def _check(message: Message, path: str) -> None:
    if not _matters(message.DESCRIPTOR):
        return
    for field, value in message.ListFields():
        for where, element in _each(field, value, f"{path}{field.name}"):
            if field.enum_type is not None and element not in field.enum_type.values_by_number:
                raise InvalidInput("Must be one of the choices of this version.", field=where)
            if field.message_type is not None:
                _check(element, f"{where}.")
            elif _is_name(field) and len(element.encode()) > MAX_NAME_BYTES:
                raise InvalidInput(f"Must not be longer than {MAX_NAME_BYTES:,} bytes.", field=where)


def _each(field: FieldDescriptor, value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The value, or those of a list, each with its path; those of a map have none of this."""
    if not field.is_repeated:
        yield path, value
    elif not (field.message_type and field.message_type.GetOptions().map_entry):
        yield from ((f"{path}[{i}]", element) for i, element in enumerate(value))


@cache
def _matters(kind: Descriptor) -> bool:
    """Whether a message may hold an enum or a name, itself or within."""
    seen, waiting = {kind}, [kind]
    while waiting:
        for field in waiting.pop().fields:
            if field.enum_type is not None or _is_name(field):
                return True
            if field.message_type is not None and field.message_type not in seen:
                seen.add(field.message_type)
                waiting.append(field.message_type)
    return False


def _is_name(field: FieldDescriptor) -> bool:
    return bool(field.type == FieldDescriptor.TYPE_STRING) and field.name.endswith(_NAMES)
