"""API keys: a file that holds the hash of each, and the check of what a caller presents.

A key is `cg_`, its id and a secret of 256 random bits. The file keeps the secret's SHA-256: nobody guesses
so many bits, so no slow hash is needed, and who reads the file can present nothing. It is the same file for
every process, mounted read-only, and read again as soon as it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from chassis.auth import Caller
from chassis.errors import CannotStart, Unauthenticated

logger = logging.getLogger(__name__)

VERSION = 1
"""Of the file's layout. A process refuses what it does not know: it could be a limit of a key."""
ID_BYTES = 8
SECRET_BYTES = 32
REFUSED = "A valid API key is needed: `authorization: Bearer <key>`."
_PRESENTED = re.compile(r"(?i:bearer) +cg_(?P<key_id>[0-9a-f]{16})_(?P<secret>[0-9a-f]{64})")
_KEY_ID = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ANY = re.compile(r".*", re.DOTALL)
_NAMES = {"key_id", "tenant", "subject", "sha256", "created", "revoked"}
_NO_HASH = "0" * 64


class ApiKeysBroken(CannotStart):
    """The file of API keys is missing or cannot be used; the message is one line that names it."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What the file says of one key."""

    key_id: str
    """16 hexadecimal digits; no secret."""
    caller: Caller
    """Whose it is."""
    sha256: str
    """Of the secret, 64 hexadecimal digits."""
    created: datetime
    revoked: datetime | None = None


def new_key(caller: Caller, now: datetime) -> tuple[ApiKey, str]:
    """A new key, and what its owner presents: the one copy of the secret that there ever is."""
    key_id, secret = secrets.token_hex(ID_BYTES), secrets.token_hex(SECRET_BYTES)
    return ApiKey(key_id, caller, _hash(secret), now), f"cg_{key_id}_{secret}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def to_json(keys: Sequence[ApiKey]) -> str:
    """The file's text."""
    entries = [
        {
            "key_id": key.key_id,
            "tenant": key.caller.tenant,
            "subject": key.caller.subject,
            "sha256": key.sha256,
            "created": key.created.isoformat(),
            "revoked": key.revoked.isoformat() if key.revoked else None,
        }
        for key in keys
    ]
    return json.dumps({"version": VERSION, "keys": entries}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> tuple[ApiKey, ...]:
    """The keys of a file, in its order. Raises `ValueError` saying what is wrong with which entry."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.keys() != {"version", "keys"}:
        raise ValueError("expected an object with version and keys")
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']!r} is not {VERSION}")
    if not isinstance(document["keys"], list):
        raise ValueError("keys is not a list")
    keys: dict[str, ApiKey] = {}
    for number, entry in enumerate(document["keys"]):
        try:
            key = _key_of(entry)
        except ValueError as error:
            raise ValueError(f"keys[{number}]: {error}") from error
        if key.key_id in keys:
            raise ValueError(f"keys[{number}]: the second with the id {key.key_id}")
        keys[key.key_id] = key
    return tuple(keys.values())


def _key_of(entry: object) -> ApiKey:
    if not isinstance(entry, dict) or entry.keys() != _NAMES:
        raise ValueError(f"expected an object with {', '.join(sorted(_NAMES))}")
    return ApiKey(
        key_id=_text(entry, "key_id", _KEY_ID),
        caller=Caller(_text(entry, "tenant"), _text(entry, "subject")),
        sha256=_text(entry, "sha256", _SHA256),
        created=_instant(entry, "created"),
        revoked=None if entry["revoked"] is None else _instant(entry, "revoked"),
    )


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
        """Raises `ApiKeysBroken`."""
        self._path = path
        self._seen = self._state()
        try:
            self._keys = self._read()
        except (OSError, ValueError) as error:
            raise ApiKeysBroken(f"CLAUSEGATE_API_KEYS_FILE: {path}: {_said(error)}") from error

    def caller_of(self, authorization: Sequence[str]) -> Caller:
        """Whose key the values of `authorization` hold.

        Raises `Unauthenticated`, in the same words whatever is wrong; the log says what. Looks at the file's
        state, which costs microseconds, so that the first call after a revocation is refused.
        """
        self._reread()
        presented = _PRESENTED.fullmatch(authorization[0]) if len(authorization) == 1 else None
        if presented is None:
            raise _refused("malformed" if authorization else "missing")
        key = self._keys.get(presented["key_id"])
        genuine = hmac.compare_digest(_hash(presented["secret"]), key.sha256 if key else _NO_HASH)
        if key is None or not genuine:
            raise _refused("unknown", presented["key_id"])
        if key.revoked:
            raise _refused("revoked", key.key_id)
        return key.caller

    def _reread(self) -> None:
        """Take the file's new version, if there is one; what cannot be used is logged once, and left."""
        state = self._state()
        if state == self._seen:
            return
        self._seen = state
        try:
            self._keys = self._read()
        except (OSError, ValueError) as error:
            logger.error(
                "API keys cannot be read again; those read before go on",
                extra={"file": str(self._path), "error": _said(error)},
            )
        else:
            logger.info("API keys read again", extra={"keys": len(self._keys)})

    def _state(self) -> tuple[int, int, int] | None:
        """Differs between versions of the file; None when there is none."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> dict[str, ApiKey]:
        return {key.key_id: key for key in from_json(self._path.read_text(encoding="utf-8"))}


def configured_keys(path: Path | None) -> ApiKeys | None:
    """The keys of the file that the settings name; None when they name none. Raises `ApiKeysBroken`."""
    return ApiKeys(path) if path else None


def _refused(why: str, key_id: str = "") -> Unauthenticated:
    logger.info("caller refused", extra={"why": why, "key_id": key_id})
    return Unauthenticated(REFUSED)


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
