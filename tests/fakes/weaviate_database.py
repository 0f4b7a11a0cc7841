"""What the fake Weaviate keeps, in memory: collections with tenants and their objects, and aliases.

Traps of the real server are kept, too: the first vector of a tenant fixes its dimension, deleted objects go
on counting in the mean length of BM25, a deleted collection leaves its alias dangling.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from tests.fakes.weaviate_schema import Property, filled_in, is_multi_vector

TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Refused(Exception):
    """A request that the real server refuses, too; `status` is what REST says."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Stored:
    """An object."""

    uuid: UUID
    number: int
    """Grows with every write of a tenant."""
    properties: Mapping[str, Any]
    vectors: Mapping[str, np.ndarray]
    """Of shape (n, d), by name; empty ones are left out."""
    terms: Mapping[str, Counter[str]]
    """The tokens of each property that can be searched, with how often they occur."""
    created: int
    updated: int
    """In ms since 1970."""


@dataclass
class Lengths:
    """Of a property in all objects ever written: deletions lower nothing until the real server compacts."""

    tokens: int = 0
    objects: int = 0
    """Those with a token."""

    def add(self, terms: Counter[str]) -> None:
        self.tokens += terms.total()
        self.objects += bool(terms)


class Tenant:
    """The objects of one tenant."""

    def __init__(self) -> None:
        self.objects: dict[UUID, Stored] = {}
        self.lengths: dict[str, Lengths] = defaultdict(Lengths)
        self.dimensions: dict[str, int] = {}
        self._written = 0

    def put(
        self,
        uuid: UUID,
        properties: Mapping[str, Any],
        vectors: Mapping[str, np.ndarray],
        searchable: Iterable[Property],
    ) -> None:
        """Write an object in place of the one with its id; one that changes nothing is not written."""
        for name, vector in vectors.items():
            self._check_dimension(uuid, name, vector)
        if self._has(uuid, properties, vectors):
            return
        terms = {
            each.name: Counter(each.tokens(properties[each.name]))
            for each in searchable
            if each.name in properties
        }
        for name, counted in terms.items():
            self.lengths[name].add(counted)
        self._written += 1
        now = time.time_ns() // 1_000_000
        old = self.objects.get(uuid)
        self.objects[uuid] = Stored(
            uuid, self._written, properties, vectors, terms, old.created if old else now, now
        )

    def in_order(self) -> list[Stored]:
        """All objects by id, as the real server lists them."""
        return sorted(self.objects.values(), key=lambda each: each.uuid)

    def _check_dimension(self, uuid: UUID, name: str, vector: np.ndarray) -> None:
        dimension = self.dimensions.setdefault(name, vector.shape[1])
        if vector.shape[1] != dimension:
            raise Refused(
                f"Validate vector index {name} for target multi vector {uuid}: new node has a multi vector "
                f"with length {vector.shape[1]} at position 0. Existing nodes have vectors with length "
                f"{dimension}"
            )

    def _has(self, uuid: UUID, properties: Mapping[str, Any], vectors: Mapping[str, np.ndarray]) -> bool:
        old = self.objects.get(uuid)
        return (
            old is not None
            and old.properties == properties
            and old.vectors.keys() == vectors.keys()
            and all(np.array_equal(old.vectors[name], vector) for name, vector in vectors.items())
        )


class Collection:
    """What a schema says, and its tenants."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.definition = filled_in(body)
        self.name: str = self.definition["class"]
        self.properties = {each["name"]: Property.read(each) for each in self.definition["properties"]}
        self.multi_vectors = [
            name for name, config in self.definition["vectorConfig"].items() if is_multi_vector(config)
        ]
        self.tenants: dict[str, Tenant] = {}
        self.inactive: set[str] = set()
        """Names of tenants whose objects cannot be reached."""

    @property
    def searchable(self) -> list[Property]:
        return [each for each in self.properties.values() if each.searchable]

    def property(self, name: str) -> Property:
        if name not in self.properties:
            raise Refused(
                f"no such prop with name '{name}' found in class '{self.name}' in the schema. "
                "Check your schema files for which properties in this class are available"
            )
        return self.properties[name]

    def add_tenants(self, names: Iterable[str]) -> None:
        """Those that are there stay as they are."""
        for number, name in enumerate(names):
            if not TENANT.fullmatch(name):
                raise Refused(f"tenant name at index {number}:  '{name}' is not a valid tenant name.")
            self.tenants.setdefault(name, Tenant())

    def tenant(self, name: str) -> Tenant:
        if not name:
            raise Refused(f"class {self.name} has multi-tenancy enabled, but request was without tenant")
        if name not in self.tenants:
            raise Refused(f'tenant not found: "{name}"')
        if name in self.inactive:
            raise Refused(f"tenant not active: '{name}'")
        return self.tenants[name]


class Database:
    """All collections and aliases."""

    def __init__(self) -> None:
        self.collections: dict[str, Collection] = {}
        self.aliases: dict[str, str] = {}
        self.read_only = ""
        """Why no object may be written, as when the disk is nearly full; empty when it may."""

    def check_writable(self) -> None:
        """Raises `Refused`."""
        if self.read_only:
            raise Refused(f"store is read-only due to: {self.read_only}", status=500)

    def create(self, body: Mapping[str, Any]) -> Collection:
        """A new collection."""
        collection = Collection(body)
        if collection.name in self.collections:
            raise Refused(f"class name {collection.name} already exists")
        if collection.name in self.aliases:
            raise Refused(f"alias name {collection.name} already exists")
        self.collections[collection.name] = collection
        return collection

    def collection(self, name: str) -> Collection:
        """By its name or that of an alias."""
        name = self.aliases.get(name, name)
        if name not in self.collections:
            raise Refused(f"could not find class {name} in schema")
        return self.collections[name]

    def place(self, name: str, tenant: str) -> tuple[Collection, Tenant]:
        """A collection, and what a tenant has in it."""
        collection = self.collection(name)
        return collection, collection.tenant(tenant)

    def create_alias(self, name: str, target: str) -> None:
        self._check_target(target)
        if name in self.aliases:
            raise Refused(
                f"validation: updating schema: TYPE_CREATE_ALIAS: create alias: {name}, alias already exists"
            )
        if name in self.collections:
            raise Refused(f"create alias: class {name} already exists", status=500)
        self.aliases[name] = target

    def move_alias(self, name: str, target: str) -> None:
        if name not in self.aliases:
            raise Refused("alias not found", status=404)
        self._check_target(target)
        self.aliases[name] = target

    def _check_target(self, name: str) -> None:
        if name not in self.collections:
            raise Refused(f'validation: target class "{name}" does not exist')
