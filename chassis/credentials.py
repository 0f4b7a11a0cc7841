"""Whose a credential is: the one check that every process makes of what a caller presents."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from chassis import api_keys, index_key
from chassis.api_keys import ApiKeys
from chassis.auth import Caller, Refused
from chassis.errors import Unauthenticated
from chassis.index_key import IndexKeys
from chassis.jwks_sources import FetchedKeys, FileKeys, fetching
from chassis.jwt_tokens import Tokens
from chassis.settings import ProcessSettings
from chassis.telemetry import counter
from chassis.token_rules import TokenRules
from chassis.token_settings import is_url

logger = logging.getLogger(__name__)

REFUSED = "A valid credential is needed: `authorization: Bearer <API key or token>`."
_failures = counter(__name__, "clausegate.authentication.failures", "Credentials refused, by why.", "{call}")
_BEARER = re.compile(r"(?i:bearer) +(?P<presented>[!-~]+)")


def system_clock() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


class Credentials:
    """The API keys and the tokens that a process accepts; one kind or both."""

    def __init__(
        self, keys: ApiKeys | None, tokens: Tokens | None = None, now: Callable[[], datetime] = system_clock
    ) -> None:
        self._keys = keys
        self._tokens = tokens
        self._now = now

    async def caller_of(self, authorization: Sequence[str]) -> Caller:
        """Whose credential the values of `authorization` hold.

        Raises `Unauthenticated`, in the same words whatever is wrong (the log says what), and `Unavailable`
        when tokens cannot be checked because their keys could never be read.
        """
        with _refusing():
            return await self._caller_of(_presented(authorization))

    async def _caller_of(self, presented: str) -> Caller:
        is_key = presented.startswith(api_keys.PREFIX)
        if is_key and self._keys is not None:
            return self._keys.caller_of(presented, self._now())
        if not is_key and self._tokens is not None:
            return await self._tokens.caller_of(presented, self._now())
        raise Refused("malformed")


def is_of_ingest(authorization: Sequence[str]) -> bool:
    """Whether the values of `authorization` claim to be a call that ingest has signed."""
    return len(authorization) == 1 and authorization[0].startswith(f"Bearer {index_key.PREFIX}")


def ingest_caller(keys: IndexKeys, authorization: Sequence[str], method: str) -> Caller:
    """For whom ingest calls `method`. Raises `Unauthenticated`, as for every credential."""
    with _refusing():
        return keys.caller_of(_presented(authorization), method)


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell the caller the same of every credential that is refused, and the log why."""
    try:
        yield
    except Refused as refused:
        _failures.add(1, {"clausegate.why": refused.why})
        logger.info(
            "caller refused",
            extra={"why": refused.why, "credential_id": refused.credential_id, "detail": refused.detail},
        )
        raise Unauthenticated(REFUSED) from refused


def _presented(authorization: Sequence[str]) -> str:
    found = _BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
    if found is None:
        raise Refused("malformed" if authorization else "missing")
    return found["presented"]


@asynccontextmanager
async def configured_credentials(settings: ProcessSettings) -> AsyncIterator[Credentials | None]:
    """What the settings accept, kept up to date until the context ends; None when they accept nothing.

    Raises `FileBroken`.
    """
    keys = ApiKeys(settings.api_keys_file) if settings.api_keys_file else None
    rules = settings.token_rules()
    if rules is None:
        yield Credentials(keys) if keys else None
        return
    async with _tokens(settings, rules) as tokens:
        yield Credentials(keys, tokens)


@asynccontextmanager
async def _tokens(settings: ProcessSettings, rules: TokenRules) -> AsyncIterator[Tokens]:
    place, algorithms = settings.jwt_jwks, settings.token_algorithms()
    if not is_url(place):
        yield Tokens(FileKeys("CLAUSEGATE_JWT_JWKS", Path(place), algorithms), rules)
        return
    fetched = FetchedKeys(
        fetching(place, algorithms), settings.jwt_refresh_seconds, settings.jwt_pause_seconds
    )
    async with fetched.kept_fresh():
        yield Tokens(fetched, rules)
