"""What can be set about tokens of another issuer, in every process."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings

from chassis.bounded_get import checked_url
from chassis.token_rules import Algorithm, TokenRules


class TokenSettings(BaseSettings):
    """Part of every process's settings."""

    jwt_issuer: str = Field(
        default="",
        description=(
            "Issuer (`iss`) of the JSON Web Tokens that callers may present, alone or beside API keys; goes "
            "with CLAUSEGATE_JWT_AUDIENCE and CLAUSEGATE_JWT_JWKS. Empty: none are accepted."
        ),
    )
    jwt_audience: str = Field(default="", description="What tokens are for: a value of their `aud`.")
    jwt_jwks: str = Field(
        default="",
        description="The issuer's public keys (JWKS): an https URL, read in the background, or a file.",
    )
    jwt_algorithms: str = Field(
        default="RS256,ES256",
        description=(
            "Signature algorithms that keys may have, separated by commas, of RS256, RS384, RS512, PS256, "
            "PS384, PS512, ES256, ES384, ES512 and EdDSA."
        ),
    )
    jwt_leeway_seconds: float = Field(
        default=30.0, ge=0, le=300, description="How far the clock of the issuer may be off."
    )
    jwt_tenant_claim: str = Field(
        default="tenant", min_length=1, description="Claim of tokens that names the tenant; required."
    )
    jwt_scopes_claim: str = Field(
        default="scope",
        min_length=1,
        description="Claim that names scopes, in a list or separated by spaces; without it a token has none.",
    )
    jwt_sources_claim: str = Field(
        default="",
        description=(
            "Claim that lists the sources a token may read and write, `*` for all; required once it is named "
            "here. Empty: all sources of the tenant."
        ),
    )
    jwt_refresh_seconds: float = Field(
        default=300.0, ge=10, le=86_400, description="How often the issuer's keys are read again from a URL."
    )
    jwt_pause_seconds: float = Field(
        default=10.0,
        ge=1,
        le=3600,
        description="Least time between two reads of the URL, whatever keys presented tokens name.",
    )

    @field_validator("jwt_algorithms")
    @classmethod
    def _known(cls, text: str) -> str:
        known = {algorithm.value for algorithm in Algorithm}
        if not set(text.split(",")) <= known:
            raise ValueError("expected algorithms with public keys, such as RS256,ES256")
        return text

    @field_validator("jwt_jwks")
    @classmethod
    def _readable(cls, text: str) -> str:
        if is_url(text):
            checked_url(text)
        return text

    @model_validator(mode="after")
    def _together(self) -> Self:
        given = {bool(self.jwt_issuer), bool(self.jwt_audience), bool(self.jwt_jwks)}
        if len(given) > 1:
            names = "CLAUSEGATE_JWT_ISSUER, CLAUSEGATE_JWT_AUDIENCE and CLAUSEGATE_JWT_JWKS"
            raise ValueError(f"{names} are set together or not at all")
        return self

    def token_rules(self) -> TokenRules | None:
        """What tokens must say; None when none are accepted."""
        if not self.jwt_issuer:
            return None
        return TokenRules(
            issuer=self.jwt_issuer,
            audience=self.jwt_audience,
            leeway_seconds=self.jwt_leeway_seconds,
            tenant_claim=self.jwt_tenant_claim,
            scopes_claim=self.jwt_scopes_claim,
            sources_claim=self.jwt_sources_claim,
        )

    def token_algorithms(self) -> frozenset[Algorithm]:
        """What keys of tokens may be for."""
        return frozenset(Algorithm(name) for name in self.jwt_algorithms.split(","))


def is_url(jwks: str) -> bool:
    """Whether keys are at a URL and not in a file."""
    return "://" in jwks
