"""Who calls, and the credential that says so, for the time of one call.

Without configured credentials every caller is the tenant `default`, on this machine only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from chassis.access import Scope
from chassis.errors import SourceNotHeld

AUTHORIZATION = "authorization"
"""Metadata key, and HTTP header, that carries a credential."""
MAX_SUBJECT_CHARACTERS = 200
EVERY_SOURCE = "*"
"""What a credential says that holds all sources of its tenant; no source has such a name."""
# Names folders and tenants of stores: one part of a path, and none that differs from another by case alone.
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SOURCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def names_tenant(name: str) -> bool:
    """Whether a tenant may have this name."""
    return _TENANT.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of the data a call may see. Never taken from a request field."""

    tenant: str
    """Lower-case letters, digits, `-` and `_`, at most 64, the first a letter or digit."""
    subject: str
    """A person or program of the tenant, as records name it: one line of at most 200 characters."""
    scopes: frozenset[Scope] = frozenset(Scope)
    """What the caller may do."""
    sources: frozenset[str] = frozenset()
    """The sources that the caller may read and write; empty means all, those of the future among them."""
    credential_id: str = ""
    """Which credential said so, as logs name it; no secret. Empty for `LOCAL`, whom no limit counts."""
    is_ingest: bool = False
    """Whether the ingest service calls, for this caller: only it may write to the index."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what can name no tenant, subject or source."""
        if not names_tenant(self.tenant):
            raise ValueError("a tenant has 1 to 64 lower-case letters, digits, - and _, the first not - or _")
        if not 0 < len(self.subject) <= MAX_SUBJECT_CHARACTERS or not self.subject.isprintable():
            raise ValueError(f"a subject is one line of 1 to {MAX_SUBJECT_CHARACTERS} printable characters")
        if not all(map(_SOURCE.fullmatch, self.sources)):
            raise ValueError(
                "a source has 1 to 64 lower-case letters, digits, -, _ and ., the first a letter or digit"
            )

    @property
    def counted_as(self) -> tuple[str, str]:
        """Whose calls limits count together: all keys and tokens of a subject of a tenant."""
        return self.tenant, self.subject

    def may_use(self, source: str) -> bool:
        """Whether the caller may read and write the documents of a source."""
        return not self.sources or source in self.sources

    def check_source(self, source: str, field: str) -> None:
        """Raise `SourceNotHeld`, naming the field, for a source that the caller may not write to."""
        if not self.may_use(source):
            raise SourceNotHeld(source, field)


def sources_named(named: Collection[str]) -> frozenset[str]:
    """The `Caller.sources` of a credential that lists these.

    Raises `ValueError` for an empty list: whoever took the last source out did not mean all of them.
    """
    if not named:
        raise ValueError(f'sources is empty: name some, or "{EVERY_SOURCE}" for all')
    return frozenset() if EVERY_SOURCE in named else frozenset(named)


class Refused(Exception):
    """A credential opens nothing; why is for the log, callers are told the same of every one."""

    def __init__(self, why: str, credential_id: str = "", detail: str = "") -> None:
        """`why` is one of few words; `credential_id` is empty for what was not recognised."""
        super().__init__(why)
        self.why = why
        self.credential_id = credential_id
        self.detail = detail


LOCAL = Caller(tenant="default", subject="anonymous")

_caller: ContextVar[Caller] = ContextVar("caller")
_credential: ContextVar[str] = ContextVar("credential")


def current_caller() -> Caller:
    """The caller of the running RPC. Raises `LookupError` outside of any: nothing is done for nobody."""
    return _caller.get()


def set_caller(caller: Caller) -> None:
    """From now on, in this task, the call is `caller`'s. Each call runs in a task of its own."""
    _caller.set(caller)


def set_credential(authorization: str) -> None:
    """From now on, in this task, calls of other services carry this value of `authorization`."""
    _credential.set(authorization)


@contextmanager
def presenting(authorization: str) -> Iterator[None]:
    """Within it, calls of other services carry this value of `authorization` instead of the caller's own."""
    earlier = _credential.set(authorization)
    try:
        yield
    finally:
        _credential.reset(earlier)


def credential_metadata() -> tuple[tuple[str, str], ...]:
    """What a call made now says about its caller; nothing outside of a request that has a credential."""
    credential = _credential.get(None)
    return () if credential is None else ((AUTHORIZATION, credential),)
