"""The public keys that tokens are signed with: a JSON Web Key Set (RFC 7517), as the issuer publishes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from chassis.token_rules import Algorithm

MAX_MEMBER_CHARACTERS = 1_400
"""Longest number in a key: 8,192 bits in base64. To check a signature of a longer key takes milliseconds."""
MAX_SHOWN = 3
_TEXTS = {"kty", "crv", "alg", "use", "kid", "n", "e", "x", "y"}
_OF_KIND: Mapping[tuple[str | None, str | None], Algorithm] = {
    ("RSA", None): Algorithm.RS256,
    ("EC", "P-256"): Algorithm.ES256,
    ("EC", "P-384"): Algorithm.ES384,
    ("EC", "P-521"): Algorithm.ES512,
    ("OKP", "Ed25519"): Algorithm.EDDSA,
}
"""What a key is for that does not name its algorithm."""


def keys_of(text: str, algorithms: Collection[Algorithm]) -> Mapping[str, PyJWK]:
    """The keys of a set that can be used, by their ids.

    A key has one algorithm: the one that it names, or the usual one of its kind. Sets hold keys for other
    ends too: those that are not for signatures, or of no allowed algorithm, or that cannot be read, are
    left out. Raises `ValueError` when none is left, and when an id stands for two keys.
    """
    document = json.loads(text)
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("expected a JSON Web Key Set: an object with a list of keys")
    keys: dict[str, PyJWK] = {}
    left_out = []
    for number, entry in enumerate(document["keys"]):
        try:
            key_id, key = _key_of(entry, algorithms)
        except (ValueError, PyJWTError) as error:
            left_out.append(f"keys[{number}]: {error}")
            continue
        if key_id in keys:
            raise ValueError(f"keys[{number}]: the second with its id")
        keys[key_id] = key
    if not keys:
        raise ValueError("; ".join(["no key can be used", *left_out[:MAX_SHOWN]]))
    return keys


def _key_of(entry: object, algorithms: Collection[Algorithm]) -> tuple[str, PyJWK]:
    """Raises `ValueError` and `PyJWTError`."""
    if not isinstance(entry, dict):
        raise ValueError("no object")
    texts = {name: _text(entry[name]) for name in _TEXTS & entry.keys()}
    operations = entry.get("key_ops", ["verify"])
    if texts.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        raise ValueError("not for signatures")
    if "d" in entry or "k" in entry:
        raise ValueError("not a public key")
    if not texts.get("kid"):
        raise ValueError("no id (kid)")
    algorithm = texts.get("alg") or _OF_KIND.get((texts.get("kty"), texts.get("crv")))
    if algorithm not in algorithms:
        raise ValueError("its algorithm is not allowed")
    return texts["kid"], _checked(PyJWK(entry, str(algorithm)))


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_MEMBER_CHARACTERS:
        raise ValueError("malformed, or longer than 8,192 bits")
    return value


def _checked(key: PyJWK) -> PyJWK:
    algorithm: Any = key.Algorithm
    if algorithm.check_key_length(algorithm.prepare_key(key.key)):
        raise ValueError("shorter than 2,048 bits")
    return key
