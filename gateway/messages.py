"""JSON to messages and back: the proto3 JSON mapping, strict in what it takes, complete in what it gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from google.protobuf import json_format
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from chassis.errors import InvalidInput
from gateway.errors import MalformedRequest

MAX_DEPTH = 32
"""Nested objects in a request; no contract comes near it."""
SHOWN_CHARACTERS = 100
"""Characters of an unknown field's name that its error shows."""
BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
"""The standard alphabet and that of URLs, padded or not; the library skips what is in neither."""

_BITS = {"INT32": 31, "SINT32": 31, "SFIXED32": 31, "INT64": 63, "SINT64": 63, "SFIXED64": 63}
_UNSIGNED_BITS = {"UINT32": 32, "FIXED32": 32, "UINT64": 64, "FIXED64": 64}
_EXPECTED = {
    "STRING": "a string of valid Unicode",
    "BOOL": "true or false",
    "DOUBLE": "a number",
    "FLOAT": "a number",
    "BYTES": "bytes in base64",
    "MESSAGE": "an object",
}
_EXPECTED_WELL_KNOWN = {
    "google.protobuf.Timestamp": "an RFC 3339 time such as 2025-01-31T12:00:00Z",
    "google.protobuf.Duration": "seconds such as 1.5s",
}
TYPE_NAMES: dict[int, str] = {
    number: name.removeprefix("TYPE_")
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}
"""Kinds of proto fields by number, e.g. `INT64`."""


def parse_json(body: bytes) -> object:
    """The value that `body` holds as JSON in UTF-8.

    Raises `MalformedRequest` for anything else, names given twice, and numbers that JSON does not have.
    """
    try:
        return json.loads(body.decode(), object_pairs_hook=_distinct, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise MalformedRequest(f"The body is not valid UTF-8 at byte {error.start}.") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise MalformedRequest(f"The body is not valid JSON at {place}.") from error
    except (ValueError, RecursionError) as error:
        raise MalformedRequest("The body holds a number or a nesting beyond any field.") from error


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedRequest("The name is given twice in one object.", field=shown(twice))
    return members


def _no_constant(name: str) -> NoReturn:
    raise MalformedRequest(f"{name} is not JSON.")


def fill(message: Message, value: object, path: str = "", depth: int = MAX_DEPTH) -> None:
    """Set the fields of `message` from a JSON object; null leaves a field unset.

    Raises `MalformedRequest` for an unknown field and `InvalidInput` for a value of the wrong type, both
    naming the field by its path, e.g. `atLeast[0].generation`.
    """
    if not isinstance(value, dict):
        raise MalformedRequest("Must be an object.", field=path or None)
    if depth == 0:
        raise MalformedRequest(f"Objects are nested deeper than {MAX_DEPTH}.", field=path)
    given: set[str] = set()
    for name, item in value.items():
        field = field_named(message, name)
        where = f"{path}.{json_name(field) if field else shown(name)}".lstrip(".")
        if field is None:
            raise MalformedRequest("There is no such field.", field=where)
        choice = field.containing_oneof.name if field.containing_oneof else field.name
        if choice in given:
            raise MalformedRequest("Is given twice, or beside a field that excludes it.", field=where)
        if item is not None:
            given.add(choice)
            _set(message, field, item, where, depth)


def field_named(message: Message, name: str) -> FieldDescriptor | None:
    """The field that JSON calls `name`, either in lowerCamelCase or as the proto writes it."""
    # Not `fields_by_name`: it fails with SystemError on a name with unpaired surrogates (protobuf 6.33).
    fields = message.DESCRIPTOR.fields
    return next((field for field in fields if name in (json_name(field), field.name)), None)


def json_name(field: FieldDescriptor) -> str:
    """The field's name in JSON, in lowerCamelCase."""
    name: str = field.json_name  # type: ignore[attr-defined]  # the stubs do not know it
    return name


def shown(name: str) -> str:
    """A foreign name as an error may repeat it: short, and valid Unicode."""
    return name[:SHOWN_CHARACTERS].encode("utf-8", "backslashreplace").decode()


def _set(message: Message, field: FieldDescriptor, item: object, where: str, depth: int) -> None:
    if not field.is_repeated:
        if is_object(field):
            fill(_submessage(message, field), item, where, depth - 1)
        else:
            _convert(message, field, item, where)
        return
    if not isinstance(item, list):
        raise InvalidInput("Must be a list.", field=where)
    for index, element in enumerate(item):
        element_path = f"{where}[{index}]"
        if is_object(field):
            fill(getattr(message, field.name).add(), element, element_path, depth - 1)
        else:
            scratch = type(message)()
            _convert(scratch, field, [element], element_path)
            getattr(message, field.name).extend(getattr(scratch, field.name))


def is_object(field: FieldDescriptor) -> bool:
    """Whether the field's JSON is an object of ours, rather than one value."""
    return field.message_type is not None and not field.message_type.full_name.startswith("google.protobuf.")


def _submessage(message: Message, field: FieldDescriptor) -> Message:
    part: Message = getattr(message, field.name)
    part.SetInParent()
    return part


def _convert(message: Message, field: FieldDescriptor, item: object, where: str) -> None:
    if not _is_sound(field, item):
        raise InvalidInput(f"Must be {expected(field)}.", field=where)
    try:
        json_format.ParseDict({json_name(field): item}, message)
    except (json_format.ParseError, AttributeError) as error:
        raise InvalidInput(f"Must be {expected(field)}.", field=where) from error


def _is_sound(field: FieldDescriptor, item: object) -> bool:
    """False for what the library takes, or mends, and we do not: foreign enum values, broken base64."""
    values = item if field.is_repeated and isinstance(item, list) else [item]
    if field.enum_type is not None:
        return all(_is_value(field.enum_type, value) for value in values)
    if TYPE_NAMES[field.type] == "BYTES":
        return all(isinstance(value, str) and BASE64.fullmatch(value) for value in values)
    return True


def _is_value(enum: EnumDescriptor, item: object) -> bool:
    """Whether `item` names a value or is its number. The library takes booleans and unknown numbers too."""
    return not isinstance(item, bool) and any(item in (value.name, value.number) for value in enum.values)


def expected(field: FieldDescriptor) -> str:
    """What a value of the field looks like, for people."""
    kind = TYPE_NAMES[field.type]
    if field.enum_type is not None:
        return f"one of {', '.join(value.name for value in field.enum_type.values)}"
    if kind in _BITS:
        return f"an integer from {-(2 ** _BITS[kind])} to {2 ** _BITS[kind] - 1}"
    if kind in _UNSIGNED_BITS:
        return f"an integer from 0 to {2 ** _UNSIGNED_BITS[kind] - 1}"
    if field.message_type is not None:
        return _EXPECTED_WELL_KNOWN.get(field.message_type.full_name, _EXPECTED["MESSAGE"])
    return _EXPECTED[kind]


def query_object(message: Message, parameters: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Query parameters as the JSON object that `fill` takes: repeated fields from repeated parameters.

    Raises `MalformedRequest` for a parameter that names no field, or a field that holds objects, and
    `InvalidInput` for a field of one value given twice.
    """
    result: dict[str, object] = {}
    for name, text in parameters:
        field = field_named(message, name)
        if field is None or is_object(field):
            raise MalformedRequest("There is no such query parameter.", field=shown(name))
        value: object = (
            {"true": True, "false": False}.get(text, text) if TYPE_NAMES[field.type] == "BOOL" else text
        )
        if field.is_repeated:
            values: Any = result.setdefault(json_name(field), [])
            values.append(value)
        elif json_name(field) in result:
            raise InvalidInput("Must be given once.", field=json_name(field))
        else:
            result[json_name(field)] = value
    return result


def to_object(message: Message) -> dict[str, Any]:
    """A message as a JSON object in lowerCamelCase, fields without presence always there."""
    return json_format.MessageToDict(message, always_print_fields_with_no_presence=True)


def to_json(value: object) -> bytes:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
