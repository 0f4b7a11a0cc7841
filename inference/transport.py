"""The way to a model server: bounded in number, time and size, repeated where that helps, its errors typed.

Import this module only where a model server is configured: the openai package takes .6 s and 40 MB to load.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
import openai
from opentelemetry import trace

from chassis.errors import ServiceError
from chassis.limits.concurrency import FairQueue
from chassis.limits.deadlines import time_left
from chassis.limits.size import at_most
from inference.errors import ModelQueueFull, ModelRateLimited, ModelRejected, ModelServerUnavailable
from inference.retries import FIRST_PAUSE_SECONDS, MARGIN_SECONDS, patience, pause, told_pause
from inference.settings import OPENAI, ModelServerSettings

CONNECT_SECONDS = 5.0
"""A server that takes longer to accept a connection is tried again."""
MAX_BODY_BYTES = 16 * 1024 * 1024
"""Twice the largest reply that we ask for: 100 vectors of 3,072 numbers, spelled out."""
NO_KEY = "none"
"""What servers without keys are sent as one; the openai package insists."""
REPEATED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Statuses that may be gone at the next attempt; 529 is what some servers say when overloaded."""
SETTINGS_TO_CHECK = {
    401: "OPENAI_API_KEY",
    403: "OPENAI_API_KEY",
    404: "the model's name and OPENAI_BASE_URL",
    405: "OPENAI_BASE_URL",
}
_CODE = re.compile(r"[\w.:/\[\]-]{1,80}", re.ASCII)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Failed:
    """One attempt that failed."""

    error: ServiceError
    """What the caller is told unless a later attempt succeeds."""
    repeat: bool
    told_seconds: float | None = None


def model_queue(name: str, settings: ModelServerSettings) -> FairQueue:
    """Where calls of a model server wait; one more than may is told so by `ModelQueueFull`."""

    def full() -> ModelQueueFull:
        message = "Too many calls of the model server wait already (CLAUSEGATE_MODEL_QUEUE)."
        return ModelQueueFull(message, retry_after_seconds=FIRST_PAUSE_SECONDS)

    return FairQueue(name, settings.model_concurrency, settings.model_queue, full)


class ModelServer:
    """Sends calls to one OpenAI-compatible server."""

    def __init__(self, settings: ModelServerSettings) -> None:
        """Nothing is sent yet, and no connection opened."""
        # These log addresses, which may hold credentials, and at lower levels headers, which do.
        for name in ("openai", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._deadline_seconds = settings.model_deadline_seconds
        self._attempts = settings.model_attempts
        self._logs_words = settings.model_text_in_spans
        self._client = openai.AsyncOpenAI(
            api_key=settings.openai_api_key.get_secret_value() or NO_KEY,
            base_url=settings.openai_base_url or OPENAI,
            max_retries=0,
            http_client=_http_client(),
        )
        # The package reads these from the environment; what our settings do not hold is not sent.
        self._client.organization = self._client.project = None

    @property
    def host(self) -> str:
        """Name or address of the server."""
        return self._client.base_url.host

    async def close(self) -> None:
        """Close all connections; safe to call twice."""
        await self._client.close()

    async def post(self, path: str, body: Mapping[str, object], queue: FairQueue) -> bytes:
        """The body of the server's reply to JSON sent to `path`, e.g. `/chat/completions`.

        Waits for its turn in `queue`, and repeats what may succeed later, all within the deadline of the
        settings and the caller's. Notes the attempts on the current span. Cancelling closes the connection.
        Raises what `ChatModel.complete` does.
        """
        seconds = min(self._deadline_seconds, patience(time_left(self._deadline_seconds + MARGIN_SECONDS)))
        ends = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(ends), queue.turn():
                return await self._repeat(path, body, ends)
        except TimeoutError:
            raise _unavailable(f"did not answer within {seconds:.3g} seconds") from None

    async def _repeat(self, path: str, body: Mapping[str, object], ends: float) -> bytes:
        loop = asyncio.get_running_loop()
        attempt = 1
        while isinstance(outcome := await self._send(path, body, attempt), _Failed):
            wait = pause(attempt, outcome.told_seconds)
            if not outcome.repeat or attempt == self._attempts or loop.time() + wait >= ends:
                # Raised out here so that no foreign error, whose words may repeat a prompt, hangs on ours.
                raise outcome.error
            await asyncio.sleep(wait)
            attempt += 1
        return outcome

    async def _send(self, path: str, body: Mapping[str, object], attempt: int) -> bytes | _Failed:
        trace.get_current_span().set_attribute("clausegate.model.attempts", attempt)
        try:
            response = await self._client.post(path, body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._refused(error)
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = type(error.__cause__ or error).__name__
            logger.warning("model server unreachable", extra={"host": self.host, "cause": cause})
            return _Failed(_unavailable("cannot be reached or broke the connection"), repeat=True)
        except _BodyTooLarge:
            return _Failed(_unavailable(f"sent more than {MAX_BODY_BYTES} bytes"), repeat=False)
        return response.content

    def _refused(self, error: openai.APIStatusError) -> _Failed:
        status, told = error.status_code, told_pause(error.response.headers, datetime.now(UTC))
        said: dict[str, object] = {"host": self.host, "status": status, "code": _code(error.code)}
        said |= {"type": _code(error.type), "param": _code(error.param)}
        if self._logs_words:
            said["words"] = error.message[:2000]
        logger.warning("model server refused a call", extra=said)
        if status == 429:
            message = "The model server gets too many calls."
            limited = ModelRateLimited(message, retry_after_seconds=_seconds(told))
            return _Failed(limited, repeat=True, told_seconds=told)
        if status >= 500 or status in REPEATED:
            return _Failed(_unavailable(f"failed with status {status}", told), status in REPEATED, told)
        is_redirect = status < 400
        otherwise = "OPENAI_BASE_URL" if is_redirect else "the model's name and its settings"
        check = SETTINGS_TO_CHECK.get(status, otherwise)
        message = f"The model server refused the call with status {status}: check {check}."
        return _Failed(ModelRejected(message), repeat=False)


def _unavailable(what: str, told_seconds: float | None = None) -> ModelServerUnavailable:
    return ModelServerUnavailable(f"The model server {what}.", retry_after_seconds=_seconds(told_seconds))


def _seconds(told: float | None) -> float:
    """What our caller is told to wait."""
    return FIRST_PAUSE_SECONDS if told is None else told


def _code(value: object) -> str | None:
    """A code of the protocol; None for anything that could be more than that, such as part of a prompt."""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


class _BodyTooLarge(Exception):
    """The server goes on sending."""


def _http_client() -> httpx2.AsyncClient:
    """Without proxies of the environment and without redirects, either of which would get key and documents.

    The number of connections is limited by the queues alone, so that no second queue forms here.
    """
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx2.AsyncClient(
        transport=_LimitedTransport(limits=limits, trust_env=False),
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        headers={"Accept-Encoding": "identity"},
    )


class _LimitedTransport(httpx2.AsyncHTTPTransport):
    """Limits the bodies of replies. Compressed ones, not asked for, could unpack beyond any limit."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("the reply is compressed", request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _LimitedStream(response.stream)
        return response


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        return at_most(aiter(self._stream), MAX_BODY_BYTES, _BodyTooLarge())

    async def aclose(self) -> None:
        await self._stream.aclose()
