"""The index key: by it the ingest service calls retrieval in its own name, for a caller.

Ingest and retrieval hold the same secret. Ingest signs one call at a time, for a minute: which call, for
whom, and in which sources. So whatever scopes a caller's credential has, it cannot write to the index past
ingest, and ingest cannot be made to write for a caller what that caller may not.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from chassis.access import Scope
from chassis.auth import Caller, Refused, presenting
from chassis.errors import CannotStart

PREFIX = "cgi_"
"""What a signed call presents begins with; no API key and no token does."""
LIFETIME_SECONDS = 60
SKEW_SECONDS = 60
"""What the clocks of two machines may differ by."""
_DOMAIN = b"clausegate.index.v1\n"
_KEY = re.compile(r"[0-9A-Fa-f]{64}")


class IndexKeyBroken(CannotStart):
    """The index key cannot be used; the message names file and line, never the key."""


def read_index_keys(text: str, origin: str) -> IndexKeys:
    """A key of 64 hexadecimal digits on each line; the first signs, all are accepted.

    Blank lines and those with `#` are skipped. Raises `IndexKeyBroken`, naming `origin`.
    """
    keys = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        if not _KEY.fullmatch(entry):
            raise IndexKeyBroken(f"{origin}, line {number}: expected 64 hexadecimal digits")
        keys.append(bytes.fromhex(entry))
    if not keys:
        raise IndexKeyBroken(f"{origin}: no key in it")
    return IndexKeys(keys)


def read_index_key_file(path: Path) -> IndexKeys:
    """The keys of a file, which is not read again later. Raises `IndexKeyBroken`."""
    try:
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a key"
        raise IndexKeyBroken(f"CLAUSEGATE_INDEX_KEY_FILE cannot be read: {path}: {why}") from None
    return read_index_keys(text, f"CLAUSEGATE_INDEX_KEY_FILE {path}")


def _now() -> datetime:
    return datetime.now(UTC)


class IndexKeys:
    """Signs calls with the first key, and accepts what any of them has signed."""

    def __init__(self, keys: Sequence[bytes], now: Callable[[], datetime] = _now) -> None:
        """`keys` has at least one."""
        self._keys = tuple(keys)
        self._now = now

    def speaking_for(self, caller: Caller, method: str) -> AbstractContextManager[None]:
        """Within it, one call of `method` (`/package.Service/Method`) can be made in ingest's own name."""
        return presenting(f"Bearer {self.sign(caller, method)}")

    def sign(self, caller: Caller, method: str) -> str:
        """What a call of `method` presents."""
        claims = {
            "method": method,
            "expires": int(self._now().timestamp()) + LIFETIME_SECONDS,
            "tenant": caller.tenant,
            "subject": caller.subject,
            "sources": sorted(caller.sources),
            "credential": caller.credential_id,
        }
        said = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
        return f"{PREFIX}{said}.{_signature(self._keys[0], said)}"

    def caller_of(self, presented: str, method: str) -> Caller:
        """For whom ingest makes this call. Raises `Refused`."""
        said, _, signature = presented.removeprefix(PREFIX).partition(".")
        if not said.isascii() or not any(
            hmac.compare_digest(_signature(key, said), signature) for key in self._keys
        ):
            raise Refused("forged", detail="index key")
        try:
            claims = json.loads(base64.urlsafe_b64decode(said))
        except (binascii.Error, ValueError) as error:
            raise Refused("malformed", detail="index key") from error
        if claims["method"] != method:
            raise Refused("foreign", detail="index key: method")
        left = claims["expires"] - self._now().timestamp()
        if not -SKEW_SECONDS < left <= LIFETIME_SECONDS + SKEW_SECONDS:
            raise Refused("expired", detail="index key")
        return Caller(
            tenant=claims["tenant"],
            subject=claims["subject"],
            scopes=frozenset({Scope.INGEST}),
            sources=frozenset(claims["sources"]),
            credential_id=claims["credential"],
            is_ingest=True,
        )


def _signature(key: bytes, said: str) -> str:
    return hmac.new(key, _DOMAIN + said.encode(), hashlib.sha256).hexdigest()
