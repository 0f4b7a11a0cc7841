"""Filters of the fake Weaviate: which objects pass, as its inverted indexes say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from weaviate.proto.v1 import base_pb2

from tests.fakes.weaviate_database import Collection, Refused, Stored, Tenant
from tests.fakes.weaviate_schema import TEXTS, Property, Unsupported

Filters = base_pb2.Filters
Passes = Callable[[Stored], bool]
Keys = Callable[[Stored], Sequence[Any]]
"""What an object is found by in one index, in the order of the index: bytes of tokens, numbers, or ids."""

ORDERED = {
    Filters.OPERATOR_GREATER_THAN: lambda key, bound: key > bound,
    Filters.OPERATOR_GREATER_THAN_EQUAL: lambda key, bound: key >= bound,
    Filters.OPERATOR_LESS_THAN: lambda key, bound: key < bound,
    Filters.OPERATOR_LESS_THAN_EQUAL: lambda key, bound: key <= bound,
}


def matching(collection: Collection, tenant: Tenant, filters: Filters | None) -> list[Stored]:
    """The objects that pass, in the order in which they were written."""
    passes = condition(filters, collection) if filters is not None else (lambda _: True)
    return sorted(filter(passes, tenant.objects.values()), key=lambda each: each.number)


def condition(filters: Filters, collection: Collection) -> Passes:
    """Whether an object passes."""
    parts = [condition(each, collection) for each in filters.filters]
    match filters.operator:
        case Filters.OPERATOR_AND:
            return lambda stored: all(part(stored) for part in parts)
        case Filters.OPERATOR_OR:
            return lambda stored: any(part(stored) for part in parts)
        case Filters.OPERATOR_NOT:
            (part,) = parts
            return lambda stored: not part(stored)
    if filters.target.WhichOneof("target") != "property":
        raise Unsupported(f"a filter on {filters.target}")
    keys, wanted = _index(filters.target.property, collection)
    return _comparison(filters, keys, wanted)


def _index(name: str, collection: Collection) -> tuple[Keys, Callable[[Any], list[Any]]]:
    """The keys of an object, and those of a value that is asked for."""
    if name == "_id":
        return (lambda stored: [stored.uuid]), (lambda value: [_uuid(value)])
    indexed = collection.property(name)
    if not indexed.filterable:
        if indexed.searchable:
            raise Unsupported("filters on a property that can be searched only")
        raise Refused(
            f"Filtering by property '{name}' requires inverted index. Is `indexFilterable` option of "
            f"property '{name}' enabled? Set it to `true` or leave empty"
        )
    return (lambda stored: _keys(indexed, stored.properties.get(name))), (lambda value: _keys(indexed, value))


def _keys(indexed: Property, value: Any) -> list[Any]:
    if value is None:
        return []
    if indexed.data_type in TEXTS:
        return [token.encode() for token in indexed.tokens(value)]
    values = value if isinstance(value, list) else [value]
    return [_uuid(each) if indexed.data_type == "uuid" else each for each in values]


def _uuid(text: Any) -> UUID:
    try:
        return UUID(str(text))
    except ValueError:
        raise Refused(f"parse uuid filter value: invalid UUID length: {len(str(text))}") from None


def _comparison(filters: Filters, keys: Keys, wanted: Callable[[Any], list[Any]]) -> Passes:
    value = _value(filters)
    match filters.operator:
        case Filters.OPERATOR_EQUAL:
            return _holds_all(keys, _some(wanted(value)))
        case Filters.OPERATOR_NOT_EQUAL:
            equal = _holds_all(keys, _some(wanted(value)))
            return lambda stored: not equal(stored)
        case Filters.OPERATOR_CONTAINS_ANY | Filters.OPERATOR_CONTAINS_NONE:
            any_of_them = _holds_any(keys, [each for each in map(wanted, value) if each])
            negative = filters.operator == Filters.OPERATOR_CONTAINS_NONE
            return lambda stored: negative != any_of_them(stored)
        case Filters.OPERATOR_CONTAINS_ALL:
            return _holds_all(keys, [key for each in value for key in wanted(each)])
    if filters.operator not in ORDERED:
        raise Unsupported(f"the filter {Filters.Operator.Name(filters.operator)}")
    (bound,) = wanted(value)
    compare = ORDERED[filters.operator]
    return lambda stored: any(compare(key, bound) for key in keys(stored))


def _holds_all(keys: Keys, wanted: Sequence[Any]) -> Passes:
    return lambda stored: set(wanted) <= set(keys(stored))


def _holds_any(keys: Keys, wanted: Sequence[Sequence[Any]]) -> Passes:
    """Whether an object has all keys of one of these; single ones, which may be many, are looked up."""
    single = {key for each in wanted if len(each) == 1 for key in each}
    several = [_holds_all(keys, each) for each in wanted if len(each) > 1]
    return lambda stored: not single.isdisjoint(keys(stored)) or any(passes(stored) for passes in several)


def _some(keys: list[Any]) -> list[Any]:
    if not keys:
        raise Refused(
            "invalid search term, only stopwords provided. "
            "Stopwords can be configured in class.invertedIndexConfig.stopwords"
        )
    return keys


def _value(filters: Filters) -> Any:
    match filters.WhichOneof("test_value"):
        case "value_text" | "value_int" as kind:
            return getattr(filters, kind)
        case "value_text_array" | "value_int_array" as kind:
            return list(getattr(filters, kind).values)
        case kind:
            raise Unsupported(f"a filter with {kind}")
