"""Who calls. Without configured credentials every caller is the tenant `default`, on this machine only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of the data a call may see. Never taken from a request field."""

    tenant: str
    subject: str


LOCAL = Caller(tenant="default", subject="anonymous")


def current_caller() -> Caller:
    """The caller of the running RPC."""
    return LOCAL
