"""The REST side of the fake Weaviate: schema, tenants, aliases, and single objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from tests.fakes.weaviate_database import Database, Refused
from tests.fakes.weaviate_schema import Unsupported
from tests.fakes.weaviate_sockets import MESSAGE_BYTES
from tests.fakes.weaviate_wire import checked

VERSION = "1.39.0"

QUERY = ("tenant", "consistency_level", "class")
Answer = tuple[int, Any]
"""Status and JSON; None for an empty body."""


def answer(database: Database, method: str, target: str, body: Any) -> Answer:
    """Of a request with this target, path and query, and this JSON. Raises `Refused` and `Unsupported`."""
    parts = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := query.keys() - set(QUERY):
        raise Unsupported(f"{method} {parts.path} with {unknown}")
    for (known_method, pattern), handle in ROUTES.items():
        if method == known_method and (match := re.fullmatch(pattern, parts.path)):
            return handle(database, *match.groups(), **({"query": query} if query else {}), **_body(body))
    raise Unsupported(f"{method} {parts.path}")


def refusal(refused: Refused) -> Answer:
    return refused.status, {"error": [{"message": str(refused)}]}


def _body(body: Any) -> dict[str, Any]:
    return {} if body is None else {"body": body}


def _meta(database: Database) -> Answer:
    return 200, {
        "version": VERSION,
        "grpcMaxMessageSize": MESSAGE_BYTES,
        "hostname": "http://fake",
        "modules": {},
    }


def _schemas(database: Database) -> Answer:
    return 200, {"classes": [each.definition for each in database.collections.values()]}


def _create(database: Database, body: Mapping[str, Any]) -> Answer:
    return 200, database.create(body).definition


def _schema(database: Database, name: str) -> Answer:
    found = database.collections.get(database.aliases.get(name, name))
    return (200, found.definition) if found else (404, None)


def _drop(database: Database, name: str) -> Answer:
    """That there is none is no error; aliases of it stay."""
    database.collections.pop(name, None)
    return 200, None


def _add_tenants(database: Database, name: str, body: list[dict[str, str]]) -> Answer:
    if any(each.get("activityStatus", "HOT") != "HOT" for each in body):
        raise Unsupported("tenants that are not active")
    database.collection(name).add_tenants(each["name"] for each in body)
    return 200, body


def _set_tenants(database: Database, name: str, body: list[dict[str, str]]) -> Answer:
    inactive = database.collection(name).inactive
    for each in body:
        (inactive.discard if each["activityStatus"] == "HOT" else inactive.add)(each["name"])
    return 200, body


def _drop_tenants(database: Database, name: str, body: list[str]) -> Answer:
    """That there is none is no error."""
    for each in body:
        database.collection(name).tenants.pop(each, None)
    return 200, None


def _tenant(database: Database, name: str, tenant: str) -> Answer:
    return (200 if tenant in database.collection(name).tenants else 404), None


def _aliases(database: Database, query: Mapping[str, str] | None = None) -> Answer:
    wanted = (query or {}).get("class")
    return 200, {
        "aliases": [
            {"alias": alias, "class": target}
            for alias, target in database.aliases.items()
            if wanted in (None, target)
        ]
    }


def _create_alias(database: Database, body: Mapping[str, str]) -> Answer:
    database.create_alias(body["alias"], body["class"])
    return 200, body


def _alias(database: Database, name: str) -> Answer:
    if name not in database.aliases:
        return 404, None
    return 200, {"alias": name, "class": database.aliases[name]}


def _move_alias(database: Database, name: str, body: Mapping[str, str]) -> Answer:
    database.move_alias(name, body["class"])
    return _alias(database, name)


def _drop_alias(database: Database, name: str) -> Answer:
    return (404 if database.aliases.pop(name, None) is None else 204), None


def _insert(database: Database, body: Mapping[str, Any], query: Mapping[str, str] | None = None) -> Answer:
    """One object, if its id is free."""
    database.check_writable()
    if body.get("vector") or body.get("vectors"):
        raise Unsupported("vectors over REST")
    collection = database.collection(body["class"])
    properties = checked(body["properties"], collection)
    tenant = collection.tenant(body.get("tenant", ""))
    if UUID(body["id"]) in tenant.objects:
        raise Refused(f"id '{body['id']}' already exists")
    tenant.put(UUID(body["id"]), properties, {}, collection.searchable)
    return 200, body


def _delete(database: Database, name: str, uuid: str, query: Mapping[str, str] | None = None) -> Answer:
    """204, whether there was one or not."""
    database.check_writable()
    database.collection(name).tenant((query or {}).get("tenant", "")).objects.pop(UUID(uuid), None)
    return 204, None


ROUTES: dict[tuple[str, str], Callable[..., Answer]] = {
    ("GET", "/v1/meta"): _meta,
    ("GET", "/v1/schema"): _schemas,
    ("POST", "/v1/schema"): _create,
    ("GET", "/v1/schema/([^/]+)"): _schema,
    ("DELETE", "/v1/schema/([^/]+)"): _drop,
    ("POST", "/v1/schema/([^/]+)/tenants"): _add_tenants,
    ("PUT", "/v1/schema/([^/]+)/tenants"): _set_tenants,
    ("DELETE", "/v1/schema/([^/]+)/tenants"): _drop_tenants,
    ("HEAD", "/v1/schema/([^/]+)/tenants/([^/]+)"): _tenant,
    ("GET", "/v1/aliases"): _aliases,
    ("POST", "/v1/aliases"): _create_alias,
    ("GET", "/v1/aliases/([^/]+)"): _alias,
    ("PUT", "/v1/aliases/([^/]+)"): _move_alias,
    ("DELETE", "/v1/aliases/([^/]+)"): _drop_alias,
    ("POST", "/v1/objects"): _insert,
    ("DELETE", "/v1/objects/([^/]+)/([^/]+)"): _delete,
}
