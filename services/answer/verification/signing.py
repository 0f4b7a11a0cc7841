"""Signs citations, so that whoever holds the key can tell later that they are ours and unchanged.

The signature is HMAC-SHA-256 over `canonical`; `docs/certificates.md` says how to check one by other means.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from chassis.errors import CannotStart
from corpus.citations import Citation

DOMAIN = b"clausegate.citation.v1\n"
"""Goes before what is signed, so that whatever else a key may sign is never taken for a citation."""
LATER = ("parts", "document_label", "highlights", "boxes")
"""Fields of a citation that earlier releases did not have."""
_KEY = re.compile(r"(?P<key_id>[A-Za-z0-9][A-Za-z0-9._-]{0,63}):(?P<secret>[0-9A-Fa-f]{64})")
_SNAKE = re.compile(r"_([a-z0-9])")


class SigningKeysBroken(CannotStart):
    """The file of signing keys cannot be used; the message names file and line, never a key."""


class SignatureState(StrEnum):
    """What a signature says, see `clausegate.answer.v1.SignatureState`."""

    VALID = "valid"
    INVALID = "invalid"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A secret and its public name."""

    key_id: str
    secret: bytes = field(repr=False)


def read_keys(path: Path) -> tuple[SigningKey, ...]:
    """The keys of a file, a line each: id, colon, 64 hex digits; blank lines and those with `#` are skipped.

    An id has 1 to 64 letters, digits, `.`, `_` or `-`. Raises `SigningKeysBroken`; the file is not read again
    later, so a new key counts from the next start.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SigningKeysBroken(f"{path}: {reason}") from None
    keys: dict[str, SigningKey] = {}
    for number, line in enumerate(lines, start=1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        parsed = _KEY.fullmatch(entry)
        if parsed is None:
            raise SigningKeysBroken(f"{path}, line {number}: expected id, colon and 64 hexadecimal digits")
        key = SigningKey(parsed["key_id"], bytes.fromhex(parsed["secret"]))
        if key.key_id in keys:
            raise SigningKeysBroken(f"{path}, line {number}: the id {key.key_id} is taken by an earlier line")
        keys[key.key_id] = key
    if not keys:
        raise SigningKeysBroken(f"{path}: no key in it")
    return tuple(keys.values())


class Signer:
    """Signs with the first key and checks with all of them; without keys nothing is signed."""

    def __init__(self, keys: Sequence[SigningKey] = ()) -> None:
        self._current = keys[0] if keys else None
        self._keys: Mapping[str, SigningKey] = {key.key_id: key for key in keys}

    def sign(self, citation: Citation) -> Citation:
        """The citation with the signature in its certificate; unchanged without a key."""
        if self._current is None:
            return citation
        named = replace(citation.certificate, key_id=self._current.key_id)
        unsigned = replace(citation, certificate=named)
        signed = replace(named, signature=_hmac(self._current, unsigned))
        return replace(unsigned, certificate=signed)

    def check(self, citation: Citation) -> SignatureState:
        """Whether the citation was signed with one of the keys, over exactly its values.

        Whoever strips a signature must not pass for its victim: a key's name without a signature is INVALID.
        """
        certificate = citation.certificate
        if not certificate.signature and not certificate.key_id:
            return SignatureState.UNSIGNED
        key = self._keys.get(certificate.key_id)
        if key is None or not hmac.compare_digest(_hmac(key, citation), certificate.signature):
            return SignatureState.INVALID
        return SignatureState.VALID


def canonical(citation: Citation) -> bytes:
    """What is signed: the citation's proto3 JSON as RFC 8785 writes it, without number and signature.

    Sorted keys, no white space, UTF-8; fields without a value (`page` where the format has none) are absent.
    So are `parts`, `document_label`, `highlights` and `boxes` where there are none: citations that were
    signed before they had them stay valid.
    """
    fields = asdict(citation)
    del fields["number"], fields["certificate"]["signature"]
    fields |= {name: fields[name] or None for name in LATER}
    fields["match_level"] = f"MATCH_LEVEL_{citation.match_level.name}"
    # Our values are strings, integers and tenths of points, for which this is RFC 8785.
    text = json.dumps(_as_json(fields), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def _as_json(value: object) -> object:
    """Names in lowerCamelCase, values as they are, None left out."""
    if isinstance(value, Mapping):
        return {
            _SNAKE.sub(lambda letter: letter[1].upper(), name): _as_json(inner)
            for name, inner in value.items()
            if inner is not None
        }
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 72.0 is written 72
    return [_as_json(inner) for inner in value] if isinstance(value, tuple | list) else value


def _hmac(key: SigningKey, citation: Citation) -> bytes:
    return hmac.digest(key.secret, DOMAIN + canonical(citation), hashlib.sha256)
