"""The methods that REST offers, read from the committed descriptor set.

Descriptors carry the `google.api.http` annotations and the comments of the protos, so routes and
documentation follow the contracts without a line of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from google.api import annotations_pb2, http_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message

from chassis.access import Access, declared_access

CONTRACTS = Path(__file__).with_name("contracts.binpb")

VARIABLE = re.compile(r"\{([a-z_][a-z0-9_]*)(?:=(\*\*?))?\}")
"""A path variable of `google.api.http`: one segment, or with `=**` all that are left."""


class UnsupportedContract(ValueError):
    """An annotation asks for something that the bridge does not do; found when the gateway starts."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One route of a method."""

    verb: str
    """HTTP method in upper case."""
    template: str
    """The path as annotated, e.g. `/v1/documents/{document_id=**}`."""
    has_body: bool
    """Whether the JSON body is the request; otherwise path and query parameters are."""

    @property
    def path(self) -> str:
        """The path in Starlette's notation, e.g. `/v1/documents/{document_id:path}`."""
        return VARIABLE.sub(lambda m: f"{{{m[1]}:path}}" if m[2] == "**" else f"{{{m[1]}}}", self.template)

    @property
    def path_fields(self) -> tuple[str, ...]:
        """Names of the request fields in the path."""
        return tuple(match[1] for match in VARIABLE.finditer(self.template))


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC with at least one route."""

    service: str
    """Full name, e.g. `clausegate.answer.v1.QueryService`."""
    name: str
    request: type[Message]
    response: type[Message]
    streams_requests: bool
    streams_responses: bool
    access: Access
    """Which scopes open it."""
    bindings: tuple[Binding, ...]

    @property
    def request_type(self) -> Descriptor:
        """Descriptor of the request."""
        return cast(Descriptor, self.request.DESCRIPTOR)

    @property
    def response_type(self) -> Descriptor:
        """Descriptor of the response."""
        return cast(Descriptor, self.response.DESCRIPTOR)

    @property
    def full_name(self) -> str:
        """Name with its service, the key of its comment."""
        return f"{self.service}.{self.name}"

    @property
    def rpc_path(self) -> str:
        """What gRPC calls it on the wire."""
        return f"/{self.service}/{self.name}"

    @property
    def sends_file(self) -> bool:
        """Whether what it streams is a file: what the file is first, then its bytes."""
        return self.streams_responses and "data" in self.response_type.fields_by_name

    @property
    def sends_picture(self) -> bool:
        """Whether its response is a picture, and what is known of it."""
        return "png" in self.response_type.fields_by_name

    @property
    def area(self) -> str:
        """The area that serves it: `ingest`, `retrieval` or `answer`."""
        return self.service.split(".")[1]


@dataclass(frozen=True, slots=True)
class Contracts:
    """The methods with routes, in order of their files, and the comments of the protos."""

    methods: tuple[Method, ...]
    comments: Mapping[str, str]
    """By the full name of what they explain."""
    reasons: EnumDescriptor
    """Every reason that an error can have."""

    @property
    def services(self) -> tuple[tuple[str, str], ...]:
        """(area, full name) of every service with routes, each once."""
        return tuple(dict.fromkeys((method.area, method.service) for method in self.methods))


@cache
def load_contracts(path: Path = CONTRACTS) -> Contracts:
    """Read a `FileDescriptorSet` with source comments, once a process. Raises `UnsupportedContract`."""
    files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
    pool: Any = descriptor_pool.DescriptorPool()  # Any: its stubs are not typed
    for file in files:
        pool.Add(file)
    methods = tuple(method for file in files for method in _methods(file, pool))
    comments = {name: text for file in files for name, text in _comments(file) if text}
    return Contracts(methods, comments, pool.FindEnumTypeByName("clausegate.rpc.v1.ErrorReason"))


def _methods(file: Any, pool: Any) -> Iterator[Method]:
    for service in file.service:
        for method in service.method:
            if not method.options.HasExtension(annotations_pb2.http):
                continue
            rule = method.options.Extensions[annotations_pb2.http]
            yield Method(
                service=f"{file.package}.{service.name}",
                name=method.name,
                request=_message_class(pool, method.input_type),
                response=_message_class(pool, method.output_type),
                streams_requests=method.client_streaming,
                streams_responses=method.server_streaming,
                access=declared_access(method.options),
                bindings=tuple(binding_of(http_rule) for http_rule in (rule, *rule.additional_bindings)),
            )


def _message_class(pool: Any, name: str) -> type[Message]:
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name.lstrip(".")))


def binding_of(rule: http_pb2.HttpRule) -> Binding:
    """The route that an annotation asks for. Raises `UnsupportedContract`."""
    verb = rule.WhichOneof("pattern")
    if verb in (None, "custom") or rule.body not in ("", "*") or rule.response_body:
        raise UnsupportedContract(f"unsupported google.api.http rule: {rule}")
    template = getattr(rule, verb)
    if re.search(r"[{}*]", VARIABLE.sub("", template)):
        raise UnsupportedContract(f"unsupported path template: {template}")
    return Binding(verb.upper(), template, rule.body == "*")


# Numbers of the fields that hold declarations within descriptor.proto, by which comments are addressed.
_OF_FILE = {4: "message_type", 5: "enum_type", 6: "service"}
_OF_DECLARATION = {
    "message_type": {2: "field", 3: "nested_type", 4: "enum_type", 8: "oneof_decl"},
    "nested_type": {2: "field", 3: "nested_type", 4: "enum_type", 8: "oneof_decl"},
    "enum_type": {2: "value"},
    "service": {2: "method"},
}


def _comments(file: Any) -> Iterator[tuple[str, str]]:
    for location in file.source_code_info.location:
        name = _declared_name(file, list(location.path))
        if name:
            yield name, _unwrapped(location.leading_comments)


def _declared_name(file: Any, path: list[int]) -> str:
    """Full name of the declaration that a path of numbers leads to; empty when it leads to anything else."""
    names, here, kinds = [file.package], file, _OF_FILE
    while path:
        if len(path) == 1 or path[0] not in kinds:
            return ""
        kind, index = kinds[path[0]], path[1]
        here = getattr(here, kind)[index]
        names.append(here.name)
        kinds, path = _OF_DECLARATION.get(kind, {}), path[2:]
    return ".".join(names) if len(names) > 1 else ""


def _unwrapped(comment: str) -> str:
    """A comment as paragraphs: its line breaks are those of the proto's margin."""
    paragraphs = re.split(r"\n\s*\n", comment.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
