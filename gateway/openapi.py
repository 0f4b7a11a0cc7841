"""The OpenAPI 3.1 document, made from the contracts and their comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from gateway.calls import MIN_SECONDS, TIMEOUT_HEADER
from gateway.contracts import VARIABLE, Binding, Contracts, Method
from gateway.forms import FILE_FIELD, TEXT_FIELDS
from gateway.messages import is_object, json_name
from gateway.openapi_access import FAILED, UNRESTRICTED, failures, requirements, schemes
from gateway.openapi_files import FILE_PARAMETERS, FILE_RESPONSES
from gateway.problems import PROBLEM_TYPE
from gateway.schemas import Schema, described_choice, field_schema, reference, schemas_of
from gateway.sse import EVENT_STREAM

INTRODUCTION = """\
Answers questions about licences and contracts from the documents alone. Every statement carries a verbatim, \
checked citation; where the documents are silent, the question is refused, and a refusal is a normal response.

Bodies are the proto3 JSON mapping of the gRPC messages: lowerCamelCase, 64-bit integers as strings, fields \
without presence always there. Unknown fields are rejected. Errors are problem documents (RFC 9457) with a \
`reason` and the fields at fault."""

PROBLEM = {"$ref": "#/components/schemas/Problem"}
READING_ORDER = (
    "QueryService",
    "ResearchService",
    "GroundingService",
    "RetrievalService",
    "IngestService",
    "DocumentService",
    "ProjectService",
    "ArticleService",
    "QueryGenerationService",
    "RewriteService",
    "ModelService",
    "IndexService",
)
"""The services as a newcomer meets them: asking, checking, documents, then what models write."""
NOT_AN_EVENT = "send_bytes"
"""The event of an upload that the gateway answers itself."""


def openapi_document(contracts: Contracts) -> Schema:
    """The whole document as JSON values."""
    tags = [
        {"name": _short(service), "description": contracts.comments.get(service, "")}
        for _, service in sorted(contracts.services, key=lambda names: READING_ORDER.index(_short(names[1])))
    ]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Clausegate", "version": "v1", "description": INTRODUCTION},
        "servers": [{"url": "/"}],
        "tags": [*tags, {"name": "Health", "description": "For those who run the gateway."}],
        "paths": {**_paths(contracts), **_health_paths()},
        "components": {
            "schemas": {**_schemas(contracts), **_problem_schemas(contracts)},
            "responses": failures(_content(PROBLEM, PROBLEM_TYPE)),
            "parameters": {"Timeout": _timeout_parameter()},
            "headers": {
                "TraceId": {"description": "The trace of the request.", "schema": {"type": "string"}}
            },
            "securitySchemes": schemes(),
        },
        "security": UNRESTRICTED,
    }


def _paths(contracts: Contracts) -> Schema:
    paths: Schema = {}
    for method in contracts.methods:
        for number, binding in enumerate(method.bindings, start=1):
            path = VARIABLE.sub(lambda match: f"{{{_camel(match[1])}}}", binding.template)
            paths.setdefault(path, {})[binding.verb.lower()] = _operation(contracts, method, binding, number)
    return paths


def _operation(contracts: Contracts, method: Method, binding: Binding, number: int) -> Schema:
    comment = contracts.comments.get(method.full_name, "")
    service = _short(method.service)
    operation: Schema = {
        "operationId": f"{service}_{method.name}" + (f"_{number}" if number > 1 else ""),
        "tags": [service],
        "summary": re.split(r"(?<=[.:;])\s", comment, maxsplit=1)[0].rstrip(".:;"),
        "description": comment,
        "parameters": [*_parameters(contracts, method, binding), {"$ref": "#/components/parameters/Timeout"}],
        "responses": {**_successes(contracts, method), **FAILED},
        "security": requirements(method.access),
    }
    if method.streams_requests:
        operation["requestBody"] = {"required": True, "content": _upload_content(contracts, method)}
    elif binding.has_body:
        operation["requestBody"] = {
            "required": True,
            "content": _content(reference(method.request_type)),
        }
        if binding.path_fields:
            named = ", ".join(f"`{_camel(name)}`" for name in binding.path_fields)
            operation["requestBody"]["description"] = f"May leave out {named}, which the path names."
    return operation


def _parameters(contracts: Contracts, method: Method, binding: Binding) -> Iterator[Schema]:
    if method.sends_file:
        yield from FILE_PARAMETERS
    for field in _fields(method):
        in_path = field.name in binding.path_fields
        if not in_path and (binding.has_body or is_object(field) or method.sends_file):
            continue
        schema = field_schema(field, contracts.comments)
        description = schema.pop("description")
        if f"{{{field.name}=**}}" in binding.template:
            description += " Its slashes are part of the path."
        yield {
            "name": json_name(field),
            "in": "path" if in_path else "query",
            "required": in_path,
            "description": description,
            "schema": schema,
        }


def _successes(contracts: Contracts, method: Method) -> Schema:
    return FILE_RESPONSES if method.sends_file else {"200": _success(contracts, method)}


def _success(contracts: Contracts, method: Method) -> Schema:
    content: Schema = {}
    events = list(_events(method))
    if not method.streams_responses:
        content = _content(reference(method.response_type))
    if method.sends_picture:
        content["image/png"] = {}
    if method.streams_requests:
        content = _content(reference(events[-1].message_type))
    if events:
        content[EVENT_STREAM] = _event_content(contracts, events)
    return {
        "description": "Done." if not events else "Done, or going on as events.",
        "headers": {"X-Trace-Id": {"$ref": "#/components/headers/TraceId"}},
        "content": content,
    }


def _event_content(contracts: Contracts, events: list[FieldDescriptor]) -> Schema:
    kinds = [
        _event_schema(event.name, reference(event.message_type), contracts.comments.get(event.full_name, ""))
        for event in events
    ]
    failure = "A failure after the first event; nothing follows."
    description = "Server-sent events, each named after what it holds; ids count from 1."
    return {
        "schema": {"description": description, "oneOf": [*kinds, _event_schema("error", PROBLEM, failure)]}
    }


def _event_schema(name: str, content: Schema, description: str) -> Schema:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": content}
    return {
        "type": "object",
        "description": description,
        "properties": {
            "event": {"const": name},
            "id": {"type": "string", "pattern": "^[0-9]+$"},
            "data": data,
        },
        "required": ["event", "id", "data"],
    }


def _events(method: Method) -> Iterator[FieldDescriptor]:
    """The fields of a stream's messages that become events; the last is the whole result."""
    if method.streams_responses and not method.sends_file:
        yield from (field for field in method.response_type.fields if field.name != NOT_AN_EVENT)


def _upload_content(contracts: Contracts, method: Method) -> Schema:
    header = method.request_type.fields_by_name["header"].message_type
    texts = {name: field_schema(header.fields_by_name[name], contracts.comments) for name in TEXT_FIELDS}
    file = {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "description": "The file's bytes.",
    }
    schema = {
        "type": "object",
        "properties": {**texts, FILE_FIELD: file},
        "required": [*TEXT_FIELDS, FILE_FIELD],
        "additionalProperties": False,
    }
    return _content(schema, "multipart/form-data")


def _schemas(contracts: Contracts) -> dict[str, Schema]:
    asked = [
        method.request_type
        for method in contracts.methods
        if not method.streams_requests and any(binding.has_body for binding in method.bindings)
    ]
    chosen = [field.enum_type for method in contracts.methods for field in _fields(method) if field.enum_type]
    answered = [method.response_type for method in contracts.methods if not method.streams_responses]
    events = [event.message_type for method in contracts.methods for event in _events(method)]
    return schemas_of([*asked, *chosen], [*answered, *events], contracts.comments)


def _reasons(contracts: Contracts) -> Schema:
    explained = {
        value.name.removeprefix("ERROR_REASON_"): contracts.comments.get(
            f"{contracts.reasons.full_name}.{value.name}", ""
        )
        for value in contracts.reasons.values
        if value.number
    }
    return described_choice("Why it failed; stable, for programs.", explained)


def _problem_schemas(contracts: Contracts) -> dict[str, Schema]:
    violation = {
        "type": "object",
        "properties": {
            "field": {"type": "string", "description": "Path of the field or name of the header."},
            "description": {"type": "string"},
        },
        "required": ["field", "description"],
    }
    properties = {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Where the reason is described.",
        },
        "title": {"type": "string", "description": "The reason in words."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What happened, for people."},
        "reason": {"$ref": "#/components/schemas/Reason"},
        "errors": {"type": "array", "items": violation, "description": "The fields at fault; may be empty."},
        "traceId": {"type": "string", "description": "The trace of the request; empty without tracing."},
        "retryAfterSeconds": {"type": "number", "description": "Set where trying again can help."},
    }
    required = [name for name in properties if name != "retryAfterSeconds"]
    return {
        "Problem": {
            "type": "object",
            "description": "A problem document (RFC 9457).",
            "properties": properties,
            "required": required,
        },
        "Reason": _reasons(contracts),
    }


def _health_paths() -> Schema:
    state: Schema = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    states = {"type": "object", "additionalProperties": {"type": "string"}}
    ready = {**state, "properties": {**state["properties"], "services": states}}
    return {
        "/healthz": _health_path("alive", "Whether the process lives", {"200": state}),
        "/readyz": _health_path("ready", "Whether all services serve", {"200": ready, "503": ready}),
    }


def _health_path(operation_id: str, summary: str, answers: dict[str, Schema]) -> Schema:
    responses = {
        status: {"description": "Yes." if status == "200" else "No.", "content": _content(schema)}
        for status, schema in answers.items()
    }
    return {
        "get": {
            "operationId": operation_id,
            "tags": ["Health"],
            "summary": summary,
            "responses": responses,
            "security": [],
        }
    }


def _timeout_parameter() -> Schema:
    return {
        "name": TIMEOUT_HEADER,
        "in": "header",
        "description": "Seconds the request may take; more than the gateway's limit is cut to it.",
        "schema": {"type": "number", "minimum": MIN_SECONDS},
    }


def _content(schema: Schema, media_type: str = "application/json") -> Schema:
    return {media_type: {"schema": schema}}


def _fields(method: Method) -> list[FieldDescriptor]:
    return list(method.request_type.fields)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def _short(full_name: str) -> str:
    return full_name.rpartition(".")[2]
