"""API keys: a file that holds the hash of each, and the check of what a caller presents.

A key is `cg_`, its id and a secret of 256 random bits. The file keeps the secret's SHA-256: nobody guesses
so many bits, so no slow hash is needed, and who reads the file can present nothing. It is the same file for
every process, mounted read-only, and read again as soon as it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from chassis.access import Scope
from chassis.auth import EVERY_SOURCE, Caller, Refused, sources_named
from chassis.watched_file import WatchedFile, distinct_members

VERSION = 2
"""Layout of the file as it is written. A process refuses what it does not know: it could limit a key."""
UNLIMITED = 1
"""The layout before keys had scopes, sources and an expiry: its keys may do everything."""
PREFIX = "cg_"
ID_BYTES = 8
SECRET_BYTES = 32
_PRESENTED = re.compile(rf"{PREFIX}(?P<key_id>[0-9a-f]{{16}})_(?P<secret>[0-9a-f]{{64}})")
_KEY_ID = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ANY = re.compile(r".*", re.DOTALL)
_LIMITS = {"scopes", "sources", "expires"}
_NAMES = {"key_id", "tenant", "subject", "sha256", "created", "revoked"}
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What the file says of one key."""

    caller: Caller
    """Whose it is and what it opens; `credential_id` is the key's id, 16 hexadecimal digits and no secret."""
    sha256: str
    """Hash of the secret, 64 hexadecimal digits."""
    created: datetime
    expires: datetime | None = None
    """From then on it opens nothing; None: it does not expire."""
    revoked: datetime | None = None

    @property
    def key_id(self) -> str:
        """Names it to people and in the file."""
        return self.caller.credential_id

    def has_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


def new_key(caller: Caller, now: datetime, expires: datetime | None = None) -> tuple[ApiKey, str]:
    """A new key, and what its owner presents: the one copy of the secret that there ever is."""
    key_id, secret = secrets.token_hex(ID_BYTES), secrets.token_hex(SECRET_BYTES)
    caller = replace(caller, credential_id=key_id)
    return ApiKey(caller, _hash(secret), now, expires), f"{PREFIX}{key_id}_{secret}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def to_json(keys: Sequence[ApiKey]) -> str:
    """The file's text."""
    entries = [
        {
            "key_id": key.key_id,
            "tenant": key.caller.tenant,
            "subject": key.caller.subject,
            "scopes": sorted(key.caller.scopes),
            "sources": sorted(key.caller.sources) or [EVERY_SOURCE],
            "sha256": key.sha256,
            "created": key.created.isoformat(),
            "expires": key.expires.isoformat() if key.expires else None,
            "revoked": key.revoked.isoformat() if key.revoked else None,
        }
        for key in keys
    ]
    return json.dumps({"version": VERSION, "keys": entries}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> tuple[ApiKey, ...]:
    """The keys of a file, in its order. Raises `ValueError` saying what is wrong with which entry."""
    document = json.loads(text, object_pairs_hook=distinct_members)
    if not isinstance(document, dict) or document.keys() != {"version", "keys"}:
        raise ValueError("expected an object with version and keys")
    version = document["version"]
    if isinstance(version, bool) or version not in (UNLIMITED, VERSION):  # True equals 1
        raise ValueError(f"version {version!r} is neither {UNLIMITED} nor {VERSION}")
    if not isinstance(document["keys"], list):
        raise ValueError("keys is not a list")
    limited = version != UNLIMITED
    keys: dict[str, ApiKey] = {}
    for number, entry in enumerate(document["keys"]):
        try:
            key = _key_of(entry, limited=limited)
        except ValueError as error:
            raise ValueError(f"keys[{number}]: {error}") from error
        if key.key_id in keys:
            raise ValueError(f"keys[{number}]: the second with the id {key.key_id}")
        keys[key.key_id] = key
    return tuple(keys.values())


def _key_of(entry: object, *, limited: bool) -> ApiKey:
    names = _NAMES | _LIMITS if limited else _NAMES
    if not isinstance(entry, dict) or entry.keys() != names:
        raise ValueError(f"expected an object with {', '.join(sorted(names))}")
    return ApiKey(
        caller=Caller(
            tenant=_text(entry, "tenant"),
            subject=_text(entry, "subject"),
            scopes=_scopes(entry) if limited else frozenset(Scope),
            sources=sources_named(_texts(entry, "sources")) if limited else frozenset(),
            credential_id=_text(entry, "key_id", _KEY_ID),
        ),
        sha256=_text(entry, "sha256", _SHA256),
        created=_instant(entry, "created"),
        expires=_instant(entry, "expires") if entry.get("expires") is not None else None,
        revoked=_instant(entry, "revoked") if entry["revoked"] is not None else None,
    )


def _scopes(entry: Mapping[str, object]) -> frozenset[Scope]:
    named = _texts(entry, "scopes")
    known = [scope.value for scope in Scope]
    if not named or not set(named) <= set(known):
        raise ValueError(f"scopes is not one or more of {', '.join(known)}")
    return frozenset(Scope(name) for name in named)


def _texts(entry: Mapping[str, object], name: str) -> Collection[str]:
    values = entry[name]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} is not a list of texts")
    return values


def _text(entry: Mapping[str, object], name: str, pattern: re.Pattern[str] = _ANY) -> str:
    value = entry[name]
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{name} is not a text like {pattern.pattern}")
    return value


def _instant(entry: Mapping[str, object], name: str) -> datetime:
    try:
        instant = datetime.fromisoformat(_text(entry, name))
    except ValueError as error:
        raise ValueError(f"{name} is not a time in ISO 8601") from error
    if instant.tzinfo is None:
        raise ValueError(f"{name} has no time zone")
    return instant


class ApiKeys:
    """The keys of a file as it stands now."""

    def __init__(self, path: Path) -> None:
        """Raises `FileBroken`."""
        self._file = WatchedFile("CLAUSEGATE_API_KEYS_FILE", path, _by_id)

    def caller_of(self, presented: str, now: datetime) -> Caller:
        """Whose key this is. Raises `Refused`; the first call after a revocation is refused."""
        parts = _PRESENTED.fullmatch(presented)
        if parts is None:
            raise Refused("malformed")
        key = self._file.now().get(parts["key_id"])
        genuine = hmac.compare_digest(_hash(parts["secret"]), key.sha256 if key else _NO_HASH)
        if key is None or not genuine:
            raise Refused("unknown", parts["key_id"])
        if key.revoked:
            raise Refused("revoked", key.key_id)
        if key.has_expired(now):
            raise Refused("expired", key.key_id)
        return key.caller


def _by_id(text: str) -> Mapping[str, ApiKey]:
    return {key.key_id: key for key in from_json(text)}
