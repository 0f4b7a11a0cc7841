"""What the contracts say of each RPC: which scopes open it, and which limits it counts against."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pool

from clausegate.rpc.v1 import access_pb2


class Scope(StrEnum):
    """What a credential may be used for."""

    QUERY = "query"
    INGEST = "ingest"
    ADMIN = "admin"
    """Everything."""


class Load(StrEnum):
    """What a call weighs."""

    READ = "read"
    WRITE = "write"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call an RPC, and what a call of it weighs."""

    scopes: frozenset[Scope]
    """One of them is needed."""
    load: Load
    ingest_only: bool = False
    """Whether the ingest service alone may make it, in its own name."""

    def allows(self, scopes: frozenset[Scope]) -> bool:
        """Whether a credential of these scopes may make the call."""
        return Scope.ADMIN in scopes or not self.scopes.isdisjoint(scopes)


UNDECLARED = Access(frozenset({Scope.ADMIN}), Load.READ)
"""Access to an RPC that declares none: forgetting it closes it."""
_LOADS = {access_pb2.LOAD_WRITE: Load.WRITE, access_pb2.LOAD_QUERY: Load.QUERY}


@lru_cache(maxsize=1024)  # bounded: a path is the caller's text
def access_of(path: str) -> Access:
    """The access of `/package.Service/Method`, by the descriptors that are loaded."""
    service, _, method = path.removeprefix("/").rpartition("/")
    pool: Any = descriptor_pool.Default()  # type: ignore[no-untyped-call]  # its stubs are not typed
    try:
        found = pool.FindMethodByName(f"{service}.{method}")
    except KeyError:
        return UNDECLARED
    return declared_access(found.GetOptions())


def declared_access(options: Any) -> Access:
    """What the options of a method (`google.protobuf.MethodOptions`) declare."""
    if not options.HasExtension(access_pb2.access):
        return UNDECLARED
    declared = options.Extensions[access_pb2.access]
    scopes = frozenset(
        Scope[access_pb2.Scope.Name(scope).removeprefix("SCOPE_")] for scope in declared.scopes
    )
    return Access(scopes or UNDECLARED.scopes, _LOADS.get(declared.load, Load.READ), declared.ingest_only)
