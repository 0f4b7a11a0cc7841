"""Values to messages and back: each field by its name, as the message's descriptor and the class's hints say.

A field without a counterpart, or with one of another kind, is a `TypeError` the first time that a class meets
a message: nothing is left out that the class's `WIRE` does not name. How to convert is worked out once for
every pair, since a search returns chunks by the dozen and ingest sends them by the thousand.

- An enum's member is the number of the same name. A number that the class does not know is read as its
  `UNKNOWN`, else as its `UNSPECIFIED`, else it is a `ValueError`; `UNKNOWN` is written as unspecified.
- None is a field that is not set. A message that is not set where the class takes no None is read as an
  empty one.
- `Timestamp` is a `datetime` with its zone, `Duration` a `timedelta` or a `float` of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

from corpus.wire import SAME, Wire

M = TypeVar("M", bound=Message)
V = TypeVar("V")
Convert = Callable[[Any], Any]


def _timestamp(instant: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(instant)
    return message


def _instant(message: Timestamp) -> datetime:
    return message.ToDatetime(UTC)


def _duration(time: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(time)
    return message


TIMES: Mapping[tuple[str, type], tuple[Convert, Convert]] = {
    (Timestamp.DESCRIPTOR.full_name, datetime): (_timestamp, _instant),
    (Duration.DESCRIPTOR.full_name, timedelta): (_duration, Duration.ToTimedelta),
    (Duration.DESCRIPTOR.full_name, float): (
        lambda seconds: _duration(timedelta(seconds=seconds)),
        lambda message: message.ToTimedelta().total_seconds(),
    ),
}
"""How each is written and read."""
SCALARS = {
    FieldDescriptor.CPPTYPE_BOOL: bool,
    FieldDescriptor.CPPTYPE_DOUBLE: float,
    FieldDescriptor.CPPTYPE_FLOAT: float,
    FieldDescriptor.CPPTYPE_INT32: int,
    FieldDescriptor.CPPTYPE_INT64: int,
}


def to_message(value: object, message: type[M]) -> M:
    """The value as a message. Raises `ValueError` for a number or an instant that the field cannot hold."""
    of: Any = type(value)
    written: M = _writer(of, message.DESCRIPTOR)(value)
    return written


def from_message(message: Message, of: type[V]) -> V:
    """The message as a value of the class `of`. Raises `ValueError` for what the class cannot hold."""
    kind: Any = of
    value: V = _reader(kind, message.DESCRIPTOR)(message)
    return value


class Pair(NamedTuple):
    """A field of a class and its counterpart."""

    ours: str
    hint: Any
    """The type of one item if `is_repeated`, without None if `is_optional`."""
    theirs: FieldDescriptor
    is_optional: bool


@cache
def _writer(of: type, descriptor: Descriptor) -> Callable[[Any], Any]:
    pairs, make = [*pairs_of(of, descriptor), *_derived(of, descriptor)], GetMessageClass(descriptor)
    names = [pair.theirs.name for pair in pairs]
    values_of = _getter([pair.ours for pair in pairs])
    converted = [
        (pair.theirs.name, convert) for pair in pairs if (convert := _field(pair, _item_writer)) is not None
    ]

    # There are as many values as names; to have `zip` check it makes a span take half as long again.
    if not converted:
        return lambda value: make(**dict(zip(names, values_of(value))))  # noqa: B905

    def write(value: Any) -> Any:
        values = dict(zip(names, values_of(value)))  # noqa: B905
        for name, convert in converted:
            if (unlike := values[name]) is not None:
                values[name] = convert(unlike)
        return make(**values)

    return write


@cache
def _reader(of: type, descriptor: Descriptor) -> Callable[[Any], Any]:
    pairs = pairs_of(of, descriptor)
    names = [pair.ours for pair in pairs]
    values_of = _getter([pair.theirs.name for pair in pairs])
    converted = [
        (at, convert) for at, pair in enumerate(pairs) if (convert := _field(pair, _item_reader)) is not None
    ]
    optional = [(at, pair.theirs.name) for at, pair in enumerate(pairs) if pair.is_optional]
    in_order = names == [field.name for field in fields(of) if not field.kw_only]
    if in_order and not converted and not optional:
        return lambda message: of(*values_of(message))

    def read(message: Any) -> Any:
        values = list(values_of(message))
        for at, name in optional:
            if not message.HasField(name):
                values[at] = None
        for at, convert in converted:
            if (unlike := values[at]) is not None:
                values[at] = convert(unlike)
        return of(*values) if in_order else of(**dict(zip(names, values, strict=True)))

    return read


def _getter(names: list[str]) -> Callable[[Any], Iterable[Any]]:
    """The attributes of these names in order; `attrgetter` returns a single one without a tuple."""
    get = attrgetter(*names) if names else lambda _: ()
    return get if len(names) != 1 else lambda source: (get(source),)


def _field(pair: Pair, item: Callable[[Any, FieldDescriptor], Convert | None]) -> Convert | None:
    """What `item` makes of a field, for one value or for all of a repeated one."""
    convert = item(pair.hint, pair.theirs)
    if not pair.theirs.is_repeated:
        return convert
    return tuple if convert is None else lambda values: tuple(map(convert, values))


def _item_writer(hint: Any, field: FieldDescriptor) -> Convert | None:
    if field.enum_type:
        return _numbers(hint, field).__getitem__
    if not field.message_type:
        return None
    times = TIMES.get((field.message_type.full_name, hint))
    return times[0] if times else _writer(hint, field.message_type)


def _item_reader(hint: Any, field: FieldDescriptor) -> Convert | None:
    if field.enum_type:
        return _Members(hint, field).__getitem__
    if not field.message_type:
        return None
    times = TIMES.get((field.message_type.full_name, hint))
    return times[1] if times else _reader(hint, field.message_type)


def pairs_of(of: type, descriptor: Descriptor) -> list[Pair]:
    """The fields of a class with their counterparts; raises `TypeError` unless all are there and fit."""
    wire: Wire = getattr(of, "WIRE", SAME)
    ours = [field.name for field in fields(of) if field.name not in wire.only_here]
    theirs = set(descriptor.fields_by_name) - wire.only_there - wire.derived
    if lone := {wire.names.get(name, name) for name in ours} ^ theirs:
        raise TypeError(f"{of.__qualname__} and {descriptor.full_name} do not share {sorted(lone)}")
    hints = get_type_hints(of)
    return [_pair(name, hints[name], descriptor.fields_by_name[wire.names.get(name, name)]) for name in ours]


def _derived(of: type, descriptor: Descriptor) -> list[Pair]:
    """The properties that are fields of the message."""
    names = getattr(of, "WIRE", SAME).derived
    hints = {name: get_type_hints(getattr(of, name).fget)["return"] for name in names}
    return [_pair(name, hint, descriptor.fields_by_name[name]) for name, hint in sorted(hints.items())]


def _pair(name: str, hint: Any, theirs: FieldDescriptor) -> Pair:
    kinds = get_args(hint)
    is_optional, is_repeated = NoneType in kinds, get_origin(hint) is tuple
    item = kinds[0] if is_optional or is_repeated else hint
    item = getattr(item, "__supertype__", item)
    has_presence = theirs.has_presence and not theirs.message_type
    fits = is_repeated == theirs.is_repeated and _fits(item, theirs)
    if not fits or (has_presence and not is_optional) or (is_optional and not theirs.has_presence):
        raise TypeError(f"{name}: {hint} does not fit {theirs.full_name}")
    return Pair(name, item, theirs, is_optional)


def _fits(item: Any, field: FieldDescriptor) -> bool:
    """Whether a class can stand for what the field holds one of."""
    if field.message_type:
        is_time = field.message_type.file.package == "google.protobuf"
        return (field.message_type.full_name, item) in TIMES if is_time else is_dataclass(item)
    if field.enum_type:
        return isinstance(item, type) and issubclass(item, Enum)
    text = bytes if field.type == FieldDescriptor.TYPE_BYTES else str
    return SCALARS.get(field.cpp_type, text) is item


def _numbers(of: type[Enum], field: FieldDescriptor) -> Mapping[Enum, int]:
    """The number of each member; raises `TypeError` unless both know the same names.

    The message alone knows deprecated ones: they are not sent any more.
    """
    values = [value for value in field.enum_type.values if not value.GetOptions().deprecated]
    prefix = values[0].name.removesuffix("UNSPECIFIED")
    known = {value.name.removeprefix(prefix): value.number for value in values}
    if lone := (known.keys() ^ set(of.__members__)) - {"UNKNOWN", "UNSPECIFIED"}:
        raise TypeError(f"{of.__qualname__} and {field.full_name} do not share {sorted(lone)}")
    return {member: known.get(name, 0) for name, member in of.__members__.items()}


class _Members(dict[int, Enum]):
    """The member of each number."""

    def __init__(self, of: type[Enum], field: FieldDescriptor) -> None:
        super().__init__({number: member for member, number in _numbers(of, field).items()})
        self._name = field.full_name
        self._other = of.__members__.get("UNKNOWN", of.__members__.get("UNSPECIFIED"))

    def __missing__(self, number: int) -> Enum:
        if self._other is None:
            raise ValueError(f"{self._name} has no meaning for {number}")
        return self._other
