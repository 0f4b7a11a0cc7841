"""JSON Web Tokens (RFC 7519) of one issuer: whose a token is and what it opens.

What RFC 8725 asks for: the algorithm is the key's, never the token's; keys come from the operator's settings
alone, whatever a token's header points to; and a token is for one use, which its issuer, audience and type
say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from jwt import PyJWK
from jwt.api_jws import PyJWS
from jwt.exceptions import PyJWTError
from jwt.utils import base64url_decode

from chassis.access import Scope
from chassis.auth import MAX_SUBJECT_CHARACTERS, Caller, Refused, sources_named
from chassis.token_rules import TokenRules
from chassis.watched_file import distinct_members

MAX_TOKEN_CHARACTERS = 8_192
TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""What a header may say of its token's use (RFC 9068), in lower case: others are no access tokens."""
MAX_SECONDS = 1e12
"""Since 1970: no time of a token lies some 30,000 years ahead, and no infinity or enormous integer is one."""
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_SIGNATURES = PyJWS()


class KeySource(Protocol):
    """The issuer's keys."""

    async def find(self, key_id: str) -> PyJWK | None:
        """The key of an id. Raises `Unavailable` when no key could ever be read."""


class Tokens:
    """The tokens of one issuer."""

    def __init__(self, keys: KeySource, rules: TokenRules) -> None:
        self._keys = keys
        self._rules = rules

    async def caller_of(self, presented: str, now: datetime) -> Caller:
        """Whose token this is. Raises `Refused`, and `Unavailable` when no key could ever be read."""
        key = await self._keys.find(_key_id(presented))
        if key is None:
            raise Refused("unknown")
        return _caller(_Claims(_signed(presented, key)), self._rules, now.timestamp())


def _key_id(presented: str) -> str:
    """Which key a token says that it is signed with; nothing else of its header is believed."""
    if len(presented) > MAX_TOKEN_CHARACTERS or not _COMPACT.fullmatch(presented):
        raise Refused("malformed")
    try:
        header = _SIGNATURES.get_unverified_header(presented)
        json.loads(base64url_decode(presented.partition(".")[0]), object_pairs_hook=distinct_members)
    except (PyJWTError, ValueError, RecursionError) as error:
        raise Refused("malformed", detail="header") from error
    kind, key_id = header.get("typ", "JWT"), header.get("kid")
    if "crit" in header or "b64" in header:  # extensions that must be understood; we know none
        raise Refused("foreign", detail="crit")
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        raise Refused("foreign", detail="typ")
    if not isinstance(key_id, str):
        raise Refused("unknown", detail="no kid")
    return key_id


def _signed(presented: str, key: PyJWK) -> Mapping[str, object]:
    """What a token says, when the key has signed it with the key's algorithm.

    One that names a claim twice says two things (RFC 7519, 4): whoever checks it elsewhere
    may have read the other.
    """
    try:
        signed = _SIGNATURES.decode_complete(presented, key, algorithms=[key.algorithm_name])
        claims = json.loads(signed["payload"], object_pairs_hook=distinct_members)
    except PyJWTError as error:
        raise Refused("forged") from error
    except (ValueError, RecursionError) as error:
        raise Refused("malformed", detail="claims") from error
    if not isinstance(claims, dict):
        raise Refused("malformed", detail="claims")
    return claims


@dataclass(frozen=True, slots=True)
class _Claims:
    """What a genuine token says; each method raises `Refused` for a claim that is not as asked."""

    said: Mapping[str, object]

    @property
    def credential_id(self) -> str:
        """Names the subject, whose tokens come and go; empty for one that could not be named."""
        subject = self.said.get("sub")
        fits = isinstance(subject, str) and len(subject) <= MAX_SUBJECT_CHARACTERS and subject.isprintable()
        return f"jwt:{subject}" if fits else ""

    def unfit(self, what: str) -> Refused:
        """The error for a claim that breaks the rules."""
        return Refused("unfit", self.credential_id, what)

    def text(self, name: str) -> str:
        """A claim that is not empty."""
        value = self.said.get(name)
        if not isinstance(value, str) or not value:
            raise self.unfit(name)
        return value

    def texts(self, name: str) -> list[str]:
        """One text or a list of them."""
        value = self.said.get(name)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
            raise self.unfit(name)
        return values

    def seconds(self, name: str) -> float:
        """A time since 1970; true is no number."""
        value = self.said.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MAX_SECONDS:
            raise self.unfit(name)
        return value

    def scopes(self, name: str) -> frozenset[Scope]:
        """Ours, in a list or separated by spaces (RFC 8693); a token may name others, and without the claim
        it has none."""
        value = self.said.get(name, "")
        named = value.split() if isinstance(value, str) else self.texts(name)
        return frozenset(scope for scope in Scope if scope in named)

    def sources(self, name: str) -> frozenset[str]:
        """Those of `Caller`; without the name of a claim all."""
        if not name:
            return frozenset()
        try:
            return sources_named(self.texts(name))
        except ValueError as error:
            raise self.unfit(name) from error


def _caller(claims: _Claims, rules: TokenRules, now: float) -> Caller:
    """Raises `Refused`."""
    if claims.text("iss") != rules.issuer:
        raise Refused("foreign", claims.credential_id, "iss")
    if rules.audience not in claims.texts("aud"):
        raise Refused("foreign", claims.credential_id, "aud")
    if now >= claims.seconds("exp") + rules.leeway_seconds:
        raise Refused("expired", claims.credential_id)
    for name in ("nbf", "iat"):
        if name in claims.said and now < claims.seconds(name) - rules.leeway_seconds:
            raise Refused("early", claims.credential_id, name)
    tenant, subject = claims.text(rules.tenant_claim), claims.text("sub")
    scopes, sources = claims.scopes(rules.scopes_claim), claims.sources(rules.sources_claim)
    try:
        return Caller(tenant, subject, scopes, sources, claims.credential_id)
    except ValueError as error:
        raise claims.unfit(str(error)) from error
