"""JSON schemas of messages and enums, as OpenAPI 3.1 has them in its components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from gateway.messages import TYPE_NAMES, is_object, json_name

Schema = dict[str, Any]
Declared = Descriptor | EnumDescriptor

_INTEGERS = ("INT32", "SINT32", "SFIXED32", "UINT32", "FIXED32")
_LONG_INTEGERS = ("INT64", "SINT64", "SFIXED64", "UINT64", "FIXED64")
_SCALARS: Mapping[str, Schema] = {
    "STRING": {"type": "string"},
    "BOOL": {"type": "boolean"},
    "DOUBLE": {"type": "number", "format": "double"},
    "FLOAT": {"type": "number", "format": "float"},
    "BYTES": {"type": "string", "contentEncoding": "base64"},
    **{kind: {"type": "integer", "format": "int32"} for kind in _INTEGERS},
    **{kind: {"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"} for kind in _LONG_INTEGERS},
}
_WELL_KNOWN: Mapping[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
}


def schema_name(declared: Declared) -> str:
    """Its name among the schemas, e.g. `corpus.v1.Document`."""
    return str(declared.full_name).removeprefix("clausegate.")


def reference(declared: Declared) -> Schema:
    """A reference to its schema."""
    return {"$ref": f"#/components/schemas/{schema_name(declared)}"}


def reachable(roots: Iterable[Declared]) -> dict[str, Declared]:
    """The roots and all messages and enums in their fields, by full name."""
    found: dict[str, Declared] = {}
    waiting = list(roots)
    while waiting:
        declared = waiting.pop()
        if declared.full_name in found:
            continue
        found[declared.full_name] = declared
        for field in getattr(declared, "fields", ()):
            if is_object(field):
                waiting.append(field.message_type)
            elif field.enum_type is not None:
                waiting.append(field.enum_type)
    return found


def schemas_of(
    asked: Iterable[Declared], answered: Iterable[Declared], comments: Mapping[str, str]
) -> dict[str, Schema]:
    """Schemas of everything in requests and responses, by name.

    What only responses hold requires the fields that are always there; what requests hold takes no others,
    and null for a field that is not set.
    """
    requests, responses = reachable(asked), reachable(answered)
    schemas = {}
    for name, declared in sorted((requests | responses).items()):
        if isinstance(declared, EnumDescriptor):
            schema = _enum_schema(declared, comments)
        else:
            schema = _message_schema(declared, comments)
            if name in requests:
                schema["additionalProperties"] = False
                schema["properties"] = {
                    key: _or_null(property_schema) for key, property_schema in schema["properties"].items()
                }
            else:
                schema["required"] = [json_name(field) for field in declared.fields if not field.has_presence]
        schemas[schema_name(declared)] = schema
    return schemas


def field_schema(field: FieldDescriptor, comments: Mapping[str, str]) -> Schema:
    """The schema of a field's value, described by the field's comment."""
    schema = _value_schema(field)
    if field.is_repeated:
        schema = {"type": "array", "items": schema}
    return {**schema, "description": comments.get(field.full_name, "")}


def _value_schema(field: FieldDescriptor) -> Schema:
    if field.enum_type is not None:
        return reference(field.enum_type)
    if is_object(field):
        return reference(field.message_type)
    if field.message_type is not None:
        return _WELL_KNOWN[field.message_type.full_name]
    return _SCALARS[TYPE_NAMES[field.type]]


def _message_schema(message: Descriptor, comments: Mapping[str, str]) -> Schema:
    return {
        "type": "object",
        "description": comments.get(message.full_name, ""),
        "properties": {json_name(field): field_schema(field, comments) for field in message.fields},
    }


def _or_null(schema: Schema) -> Schema:
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    description = {"description": schema["description"]}
    return {"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}], **description}


def _enum_schema(enum: EnumDescriptor, comments: Mapping[str, str]) -> Schema:
    explained = {value.name: comments.get(f"{enum.full_name}.{value.name}", "") for value in enum.values}
    return described_choice(comments.get(enum.full_name, ""), explained)


def described_choice(description: str, explained: Mapping[str, str]) -> Schema:
    """A string that is one of several, each explained."""
    lines = "\n".join(f"- `{name}`: {text}" for name, text in explained.items())
    return {
        "type": "string",
        "enum": list(explained),
        "description": f"{description}\n\n{lines}",
        "x-enum-descriptions": dict(explained),
    }
