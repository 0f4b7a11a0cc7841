"""Whose a credential is: the one check that every process makes of what a caller presents."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from chassis.api_keys import ApiKeys
from chassis.auth import Caller, Refused
from chassis.errors import Unauthenticated
from chassis.telemetry import counter

logger = logging.getLogger(__name__)

REFUSED = "A valid credential is needed: `authorization: Bearer <API key or token>`."
_failures = counter(__name__, "clausegate.authentication.failures", "Credentials refused, by why.", "{call}")
_BEARER = re.compile(r"(?i:bearer) +(?P<presented>[!-~]+)")


def system_clock() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


class Credentials:
    """The API keys that a process accepts."""

    def __init__(self, keys: ApiKeys, now: Callable[[], datetime] = system_clock) -> None:
        self._keys = keys
        self._now = now

    async def caller_of(self, authorization: Sequence[str]) -> Caller:
        """Whose credential the values of `authorization` hold.

        Raises `Unauthenticated`, in the same words whatever is wrong; the log says what.
        """
        try:
            return self._keys.caller_of(_presented(authorization), self._now())
        except Refused as refused:
            _failures.add(1, {"clausegate.why": refused.why})
            logger.info("caller refused", extra={"why": refused.why, "credential_id": refused.credential_id})
            raise Unauthenticated(REFUSED) from refused


def _presented(authorization: Sequence[str]) -> str:
    found = _BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
    if found is None:
        raise Refused("malformed" if authorization else "missing")
    return found["presented"]
