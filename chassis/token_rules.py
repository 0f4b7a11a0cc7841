"""What a deployment asks of tokens, as plain values: settings name it without the libraries that check it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Algorithm(StrEnum):
    """The algorithms that signatures may have. All have a public key: whoever can check a token, as every
    process can, must not be able to make one."""

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"
    EDDSA = "EdDSA"


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What the tokens of a deployment say, and where."""

    issuer: str
    """What `iss` is."""
    audience: str
    """What `aud` is, or has among its values."""
    leeway_seconds: float
    """How far the issuer's clock may be off."""
    tenant_claim: str
    scopes_claim: str
    sources_claim: str
    """Empty: every token opens all sources of its tenant."""
