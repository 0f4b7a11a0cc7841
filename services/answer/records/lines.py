"""How a record stands in its chain: a line of JSON whose last fields name, number, link, seal and hash it.

What is hashed are the bytes of the line as they are, up to the field `hash`; so no canonical form of JSON is
needed, and `sed` with `sha256sum` can check a record. `docs/audit.md` shows it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.answer.verification.signing import SigningKey

NOTHING = "0" * 64
"""Stands for the record before the first."""
RECORD_DOMAIN = b"clausegate.audit.record.v1\n"
HEAD_DOMAIN = b"clausegate.audit.head.v1\n"
"""Go before what is sealed, so that nothing else that a key may sign is taken for it."""

_CHAIN = b', "chain": "'
_HASH_FIELD = len(b', "hash": "')
_CLOSE = (
    rb'(?:, "key_id": "(?P<key_id>[A-Za-z0-9._-]{1,64})"(?P<seal_field>, "seal": "(?P<seal>[0-9a-f]{64})"))?'
    rb', "hash": "(?P<hash>[0-9a-f]{64})"\}'
)
_TAIL = re.compile(
    rb', "chain": "(?P<chain>[A-Za-z0-9._-]{1,48})", "sequence": (?P<sequence>[1-9][0-9]{0,17})'
    rb', "previous": "(?P<previous>[0-9a-f]{64})"' + _CLOSE
)
_END = re.compile(_CLOSE)
_END_CHARACTERS = 300
"""More than the fields of `_CLOSE` have."""
_TIMESTAMP = re.compile(rb'\{"timestamp": "([^"]{1,40})"')
_TORN = re.compile(rb', "torn": \{"bytes": ([0-9]{1,18}), "sha256": "[0-9a-f]{64}"\}$')


class BrokenLine(ValueError):
    """A line is not as it was written; the message says what is wrong with it."""


class Keys:
    """The keys that seal: the first one seals, all of them check; none means that nothing is sealed."""

    def __init__(self, keys: Sequence[SigningKey] = ()) -> None:
        self.current = keys[0] if keys else None
        self._secrets: Mapping[str, bytes] = {key.key_id: key.secret for key in keys}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._secrets)

    def __contains__(self, key_id: object) -> bool:
        """Whether the key is known."""
        return key_id in self._secrets

    def check(self, seal: Seal | None, domain: bytes) -> None:
        """Raise `BrokenLine` unless there is a `seal`, made with one of these keys."""
        if seal is None:
            raise BrokenLine("is not sealed, and should be")
        secret = self._secrets.get(seal.key_id)
        if secret is None:
            raise BrokenLine(f"is sealed with the key {seal.key_id}, which is not among those given")
        if not hmac.compare_digest(_seal(secret, domain, seal.covered), seal.value):
            raise BrokenLine(f"has a seal that was not made with the key {seal.key_id}")


@dataclass(frozen=True, slots=True)
class Seal:
    """An HMAC-SHA-256 over `covered`."""

    key_id: str
    value: str
    """64 hexadecimal digits."""
    covered: bytes


@dataclass(frozen=True, slots=True)
class Position:
    """A record of a chain, by its number and its hash."""

    sequence: int = 0
    """From 1; 0 is before the first."""
    hash: str = NOTHING


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that has the hash that it states."""

    chain: str
    position: Position
    previous: str
    seal: Seal | None
    timestamp: datetime | None
    """When the call began; None where none can be read."""
    torn_bytes: int
    """Size of an unfinished line that was removed before this one; 0 if there was none."""


def chain_name(host: str, code: str) -> str:
    """The name of a new chain: who writes it, for people, and a random `code` of 16 characters."""
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', host)[:24]}-{code}"


def close(body: str, domain: bytes, key: SigningKey | None) -> tuple[bytes, str]:
    """A JSON object without its brace, sealed if there is a key, hashed and closed; and its hash."""
    covered = body.encode()
    if key:
        covered += f', "key_id": "{key.key_id}"'.encode()
        covered += f', "seal": "{_seal(key.secret, domain, covered)}"'.encode()
    digest = hashlib.sha256(covered).hexdigest()
    return covered + f', "hash": "{digest}"}}'.encode(), digest


def chained(
    record: Mapping[str, object], chain: str, after: Position, key: SigningKey | None
) -> tuple[bytes, Position]:
    """The line, with its end, of a record that follows `after` in its chain; and its own position."""
    sequence = after.sequence + 1
    body = json.dumps(record, ensure_ascii=False)[:-1]
    body += f', "chain": "{chain}", "sequence": {sequence}, "previous": "{after.hash}"'
    line, digest = close(body, RECORD_DOMAIN, key)
    return line + b"\n", Position(sequence, digest)


def read_closed(line: bytes) -> tuple[str, Seal | None]:
    """Hash and seal of a line that `close` made. Raises `BrokenLine` unless the hash is that of the line."""
    matched = _END.search(line, max(0, len(line) - _END_CHARACTERS))
    if matched is None or matched.end() != len(line):
        raise BrokenLine("does not end as it was written")
    return _checked(line, matched)


def read_entry(line: bytes) -> Entry:
    """The entry of a line without its end. Raises `BrokenLine` unless it has the hash that it states."""
    start = line.rfind(_CHAIN)
    matched = _TAIL.fullmatch(line, start) if start > 0 else None
    if matched is None:
        raise BrokenLine("is no record of a chain")
    digest, seal = _checked(line, matched)
    torn = _TORN.search(line, max(0, start - 150), start)
    return Entry(
        chain=matched["chain"].decode(),
        position=Position(int(matched["sequence"]), digest),
        previous=matched["previous"].decode(),
        seal=seal,
        timestamp=_timestamp(line),
        torn_bytes=int(torn[1]) if torn else 0,
    )


def _checked(line: bytes, matched: re.Match[bytes]) -> tuple[str, Seal | None]:
    stated = matched["hash"].decode()
    if hashlib.sha256(line[: matched.start("hash") - _HASH_FIELD]).hexdigest() != stated:
        raise BrokenLine("does not have the hash that it states: it was changed")
    if matched["seal"] is None:
        return stated, None
    covered = line[: matched.start("seal_field")]
    return stated, Seal(matched["key_id"].decode(), matched["seal"].decode(), covered)


def _timestamp(line: bytes) -> datetime | None:
    matched = _TIMESTAMP.match(line)
    try:
        return datetime.fromisoformat(matched[1].decode()) if matched else None
    except ValueError:
        return None


def _seal(secret: bytes, domain: bytes, covered: bytes) -> str:
    return hmac.digest(secret, domain + covered, hashlib.sha256).hex()
