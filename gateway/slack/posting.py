"""Posts messages to the address that a command names: to Slack alone, a few times, and not for ever."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import httpx
from opentelemetry.trace import Span

from chassis.errors import InvalidInput
from chassis.telemetry import fail, span, tracer
from gateway.slack.blocks import Json

logger = logging.getLogger(__name__)
spans = tracer(__name__)

ATTEMPTS = 5
"""What Slack allows for one command, within 30 minutes."""
ATTEMPT_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 30.0
"""The most that Slack's `Retry-After` is followed."""
MAX_REPLY_BYTES = 4096
MAX_URL_CHARACTERS = 500
REPEATED = frozenset({408, 429, 500, 502, 503, 504})
# Nothing that two readers of addresses could read differently: no user, no escapes in the host, no query.
_URL = re.compile(r"(?P<origin>https?://[a-z0-9.:\[\]-]+)/[A-Za-z0-9/_.~%-]*", re.ASCII)
_CODE = re.compile(r"[a-z_]{1,40}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why one attempt to post failed."""

    why: str
    repeat: bool = False
    told_seconds: float | None = None


class Posts:
    """Posts to addresses of `origins`, and nowhere else; follows no redirect."""

    def __init__(self, http: httpx.AsyncClient, origins: frozenset[str], cut_off: asyncio.Event) -> None:
        """Once `cut_off` is set a message is tried once more, without waiting for anything."""
        self._http = http
        self._origins = origins
        self._cut_off = cut_off

    def check(self, url: str) -> None:
        """Raise `InvalidInput` unless Slack is at `url`: it is signed, and still a caller's text."""
        match = _URL.fullmatch(url) if len(url) <= MAX_URL_CHARACTERS else None
        if match is None or match["origin"] not in self._origins:
            raise InvalidInput("Must be an address of Slack's.", field="response_url")

    async def post(self, url: str, message: Json) -> bool:
        """Post a message; whether Slack took it. One without a reply may have been taken all the same."""
        with span(spans, "slack post") as current:
            body = json.dumps(message, ensure_ascii=False).encode()
            attempt, why = 0, "the gateway stopped"
            try:
                for attempt in range(1, ATTEMPTS + 1):
                    last = attempt == ATTEMPTS or self._cut_off.is_set()
                    failure = await self._attempt(url, body)
                    if failure is None or last or not failure.repeat:
                        why = "" if failure is None else failure.why
                        break
                    await self._pause(attempt, failure)
            finally:  # it is told of those that are cancelled as well
                current.set_attribute("clausegate.slack.attempts", attempt)
                _tell(current, attempt, why)
            return not why

    async def _attempt(self, url: str, body: bytes) -> _Failure | None:
        self.check(url)
        headers = {"Content-Type": "application/json; charset=utf-8"}
        try:
            async with (
                asyncio.timeout(ATTEMPT_SECONDS),
                self._http.stream("POST", url, content=body, headers=headers) as reply,
            ):
                return _failure_of(reply.status_code, reply.headers, await _head(reply))
        except TimeoutError:
            return _Failure("no reply in time", repeat=True)
        except httpx.HTTPError as error:
            return _Failure(type(error).__name__, repeat=True)

    async def _pause(self, attempt: int, failure: _Failure) -> None:
        seconds = failure.told_seconds or FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, MAX_PAUSE_SECONDS)):
                await self._cut_off.wait()


def _tell(posting: Span, attempts: int, why_lost: str) -> None:
    if why_lost:
        fail(posting, "UPSTREAM_UNAVAILABLE")
        logger.error("slack answer lost", extra={"attempts": attempts, "why": why_lost})
    else:
        logger.info("slack answer posted", extra={"attempts": attempts})


async def _head(reply: httpx.Response) -> bytes:
    head = b""
    async for data in reply.aiter_raw():
        head += data
        if len(head) > MAX_REPLY_BYTES:
            break
    return head[:MAX_REPLY_BYTES]


def _failure_of(status: int, headers: httpx.Headers, body: bytes) -> _Failure | None:
    """Slack says `ok` or `{"ok": true}`; a failure has a status, or says `{"ok": false, "error": "…"}`."""
    code = _error_code(body)
    if status in REPEATED:
        return _Failure(
            f"status {status}", repeat=True, told_seconds=_seconds(headers.get("Retry-After", ""))
        )
    if not 200 <= status < 300:
        return _Failure(f"status {status} {code}".strip())
    return _Failure(code) if code else None


def _error_code(body: bytes) -> str:
    """The code of a reply that says it has failed; empty when it does not. Its other words go nowhere."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict) or said.get("ok") is not False:
        return ""
    code = said.get("error")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else "unnamed error"


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


@asynccontextmanager
async def posting(origins: frozenset[str], cut_off: asyncio.Event) -> AsyncIterator[Posts]:
    """Connections to Slack, closed at the end."""
    for name in ("httpx", "httpcore"):  # they log addresses, and whoever knows one can post there
        logging.getLogger(name).setLevel(logging.WARNING)
    async with httpx.AsyncClient(
        follow_redirects=False,
        trust_env=False,
        timeout=ATTEMPT_SECONDS,
        limits=httpx.Limits(max_connections=None),
    ) as http:
        yield Posts(http, origins, cut_off)
