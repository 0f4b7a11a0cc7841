"""What the OpenAPI document says of credentials: which scopes open an operation, and what a refusal is."""

from __future__ import annotations

from chassis.access import Access, Scope
from gateway.schemas import Schema

CREDENTIAL = "credential"
NEEDED = (
    "An API key, as `clausegate keys create` prints it, or a token (JWT) of the deployment's issuer. Each "
    "operation names the scopes of which it needs one; `admin` opens all. None is needed where the gateway "
    "has neither keys nor an issuer."
)
FAILED: Schema = {
    "401": {"$ref": "#/components/responses/Unauthenticated"},
    "403": {"$ref": "#/components/responses/PermissionDenied"},
    "4XX": {"$ref": "#/components/responses/Problem"},
    "5XX": {"$ref": "#/components/responses/Problem"},
}
UNRESTRICTED: list[Schema] = [{CREDENTIAL: []}]
"""What an operation asks for that says nothing else: a credential of any scope."""


def schemes() -> Schema:
    """How a credential is presented."""
    return {CREDENTIAL: {"type": "http", "scheme": "bearer", "description": NEEDED}}


def requirements(access: Access) -> list[Schema]:
    """Of which one is to be met; OpenAPI 3.1 lets a bearer's scopes be named as roles."""
    return [{CREDENTIAL: [scope.value]} for scope in Scope if access.allows(frozenset([scope]))]


def failures(problem: Schema) -> Schema:
    """The responses that `FAILED` names; `problem` is the content of each."""
    challenge = {"description": "`Bearer`.", "schema": {"type": "string"}}
    return {
        "Problem": {"description": "Why it failed.", "content": problem},
        "Unauthenticated": {
            "description": "No valid credential was presented.",
            "headers": {"WWW-Authenticate": challenge},
            "content": problem,
        },
        "PermissionDenied": {
            "description": "The credential has no scope that opens the operation, or may not touch a source.",
            "content": problem,
        },
    }
