"""Values of the fake Weaviate on the wire of gRPC, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import numpy as np
from google.protobuf.message import Message
from weaviate.proto.v1 import base_pb2, batch_pb2, properties_pb2, search_get_pb2

from tests.fakes.weaviate_database import Collection, Refused, Stored
from tests.fakes.weaviate_schema import TEXTS, Property, Unsupported

Vectors = base_pb2.Vectors
FROM_CLIENTS = ("uses_123_api", "uses_125_api", "uses_127_api", "consistency_level")
"""What every client says, and what one node has no use for."""


def check_known(message: Message, *fields: str) -> None:
    """Raise for a field that is set and none of these."""
    for field, _ in message.ListFields():
        if field.name not in fields and field.name not in FROM_CLIENTS:
            raise Unsupported(f"{field.name} of {type(message).__name__}")


def read_properties(sent: batch_pb2.BatchObject.Properties, collection: Collection) -> dict[str, Any]:
    """The properties of an object, checked against the schema; those that are null are left out."""
    check_known(
        sent, "non_ref_properties", "int_array_properties", "text_array_properties", "empty_list_props"
    )
    values: dict[str, Any] = {name: [] for name in sent.empty_list_props}
    for each in (*sent.int_array_properties, *sent.text_array_properties):
        values[each.prop_name] = list(each.values)
    for name, value in sent.non_ref_properties.fields.items():
        values[name] = _scalar(value)
    return checked(values, collection)


def checked(values: Mapping[str, Any], collection: Collection) -> dict[str, Any]:
    """The same values as they are kept. Raises `Refused` for one that its property cannot hold."""
    typed = {name: _typed(collection.property(name), value) for name, value in values.items()}
    return {name: value for name, value in typed.items() if value is not None}


def _scalar(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind not in ("null_value", "number_value", "string_value"):
        raise Unsupported(f"a property sent as {kind}")
    return None if kind == "null_value" else getattr(value, kind)


def _typed(into: Property, value: Any) -> Any:
    if value is None or (value == [] and into.data_type.endswith("[]")):
        return value
    return {"text": _text, "blob": _text, "uuid": _uuid, "int": _int, "int[]": _ints, "text[]": _texts}[
        into.data_type
    ](into, value)


def _text(into: Property, value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(f"invalid text property '{into.name}': not a string, but {type(value).__name__}")
    return value


def _uuid(into: Property, value: Any) -> str:
    try:
        return str(UUID(value))
    except (AttributeError, TypeError, ValueError):
        raise Refused(
            f"invalid uuid property '{into.name}': requires a string of UUID format, but the given value is "
            f"'{value}'"
        ) from None


def _int(into: Property, value: Any) -> int:
    if isinstance(value, str | bool) or int(value) != value:
        raise Refused(
            f"invalid integer property '{into.name}': requires an integer, the given value is '{value}'"
        )
    return int(value)


def _ints(into: Property, value: Any) -> list[int]:
    return [_int(into, each) for each in value]


def _texts(into: Property, value: Any) -> list[str]:
    return [_text(into, each) for each in value]


def read_vectors(sent: Iterable[Vectors], collection: Collection) -> dict[str, np.ndarray]:
    """The vectors of an object by name, each of shape (n, d)."""
    vectors = {}
    for each in sent:
        if each.name not in collection.multi_vectors:
            raise Unsupported(f"a vector {each.name!r}, which the collection does not have as several")
        vectors[each.name] = read_matrix(each)
        if not np.allclose(np.linalg.norm(vectors[each.name], axis=1), 1, atol=1e-3):
            # The real server normalises them in its graph and not where it scores them exactly.
            raise Unsupported("vectors that are not of unit norm")
    return vectors


def read_matrix(sent: Vectors) -> np.ndarray:
    """Raises `Refused` for a flat vector."""
    if sent.type != Vectors.VECTOR_TYPE_MULTI_FP32:
        raise Refused(
            "near_vector: provided vector is a regular vector but vector index supports multi vectors"
        )
    dimension = int.from_bytes(sent.vector_bytes[:2], "little")
    return np.frombuffer(sent.vector_bytes[2:], "<f4").reshape(-1, dimension)


def vectors_reply(name: str, vectors: np.ndarray) -> Vectors:
    sent = vectors.shape[1].to_bytes(2, "little") + vectors.astype("<f4").tobytes()
    return Vectors(name=name, vector_bytes=sent, type=Vectors.VECTOR_TYPE_MULTI_FP32)


def properties_reply(
    collection: Collection, stored: Stored, names: Iterable[str]
) -> search_get_pb2.PropertiesResult:
    """What an object has of these properties; null where it has nothing."""
    values = {name: _value(collection.property(name), stored.properties.get(name)) for name in names}
    return search_get_pb2.PropertiesResult(
        target_collection=collection.name, non_ref_props=properties_pb2.Properties(fields=values)
    )


def _value(of: Property, value: Any) -> properties_pb2.Value:
    if value is None:
        return properties_pb2.Value(null_value=0)
    if of.data_type in ("text", "blob", "uuid", "int"):
        return properties_pb2.Value(**{f"{of.data_type}_value": value})
    if of.data_type in TEXTS:
        values = properties_pb2.ListValue(text_values=properties_pb2.TextValues(values=value))
    else:
        packed = np.array(value, "<i8").tobytes()
        values = properties_pb2.ListValue(int_values=properties_pb2.IntValues(values=packed))
    return properties_pb2.Value(list_value=values)
