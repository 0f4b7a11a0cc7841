"""How the gateway is called: JSON of protobuf messages both ways, pages, events, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar
from urllib.parse import quote

import httpx
import httpx_sse
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from clausegate.answer.v1.article_service_pb2 import ListArticlesResponse
from clausegate.ingest.v1.ingest_service_pb2 import ListOriginalsResponse
from clausegate.retrieval.v1.document_service_pb2 import ListDocumentsResponse, ListSourcesResponse
from clausegate.retrieval.v1.project_service_pb2 import ListProjectsResponse
from clausegate.retrieval.v1.retrieval_service_pb2 import FindDefinitionsResponse
from cli.errors import CommandError
from cli.tls import advice

Parameters = Mapping[str, str | int | bool | list[str]]
Event = dict[str, object]
"""A message of a stream as JSON: the name of the field that is set, and its value."""

PAGE_SIZE = 1000
PATIENCE_SECONDS = 600
PATIENT = {"X-Request-Timeout": str(PATIENCE_SECONDS)}
"""Headers of a call that may ask a model: somebody is waiting, as long as the gateway allows."""
TIMEOUT = httpx.Timeout(PATIENCE_SECONDS + 30.0, connect=5.0)
"""Seconds without a byte; the gateway's own deadline is to come first, since it says what it waited for."""


M = TypeVar("M", bound=Message)
P = TypeVar(
    "P",
    FindDefinitionsResponse,
    ListArticlesResponse,
    ListDocumentsResponse,
    ListOriginalsResponse,
    ListProjectsResponse,
    ListSourcesResponse,
)


class GatewayError(CommandError):
    """A call failed; the message is one line for people, naming the field and the reason."""

    def __init__(self, problem: Mapping[str, object]) -> None:
        super().__init__(_line(problem))
        self._problem = problem

    def problem(self) -> Mapping[str, object]:
        """As the gateway sent it."""
        return self._problem


class Rest:
    """Calls routes. Everything raises `GatewayError`."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def call(
        self,
        method: str,
        path: str,
        into: M,
        *,
        body: Message | None = None,
        parameters: Parameters | None = None,
    ) -> M:
        """One response; a request with a body may ask a model."""
        content = None if body is None else MessageToDict(body)
        headers = None if body is None else PATIENT
        with _transport_errors():
            response = await self._http.request(
                method, path, json=content, params=parameters, headers=headers
            )
        if response.is_error:
            raise GatewayError(_problem(response))
        return parsed(response.json(), into)

    async def pages(self, path: str, parameters: Parameters, kind: type[P]) -> AsyncIterator[P]:
        """All pages of a list."""
        token = ""
        while True:
            asked = {**parameters, "pageSize": PAGE_SIZE, "pageToken": token}
            page = await self.call("GET", path, kind(), parameters=asked)
            yield page
            token = page.next_page_token
            if not token:
                return

    @asynccontextmanager
    async def events(self, path: str, **request: object) -> AsyncIterator[AsyncIterator[Event]]:
        """Server-sent events. Leaving closes the connection, which cancels the work behind it."""
        with _transport_errors():
            async with httpx_sse.aconnect_sse(self._http, "POST", path, **request) as stream:
                if stream.response.is_error:
                    await stream.response.aread()
                    raise GatewayError(_problem(stream.response))
                yield _decoded(stream)

    async def messages(self, path: str, body: Message, kind: type[M]) -> AsyncIterator[M]:
        """The events of a stream as messages."""
        async with self.events(path, json=MessageToDict(body), headers=PATIENT) as events:
            async for event in events:
                yield parsed(event, kind())


def segment(name: str) -> str:
    """`name` as one segment of a path. Raises `CommandError` for what cannot be one."""
    if name in ("", ".", "..") or "/" in name:
        raise CommandError(f"no such id: “{name}”; ids are lower-case letters, digits and -")
    return quote(name, safe="")


def parsed(value: dict[str, object], into: M) -> M:
    """A newer gateway may send fields that this client does not know."""
    return ParseDict(value, into, ignore_unknown_fields=True)


async def _decoded(stream: httpx_sse.EventSource) -> AsyncIterator[Event]:
    async for event in stream.aiter_sse():
        if not event.data:
            continue  # a heartbeat; httpx-sse takes it for an event once an id was sent
        if event.event == "error":
            raise GatewayError(json.loads(event.data))
        yield {event.event: json.loads(event.data)}


@contextmanager
def _transport_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        detail = advice(error) or str(error) or type(error).__name__
        raise GatewayError({"reason": "UPSTREAM_UNAVAILABLE", "detail": f"the gateway: {detail}"}) from error


def _problem(response: httpx.Response) -> Mapping[str, object]:
    try:
        problem = response.json()
    except json.JSONDecodeError:
        problem = None
    return (
        problem
        if isinstance(problem, dict)
        else {"title": f"HTTP {response.status_code} from {response.url}"}
    )


def _line(problem: Mapping[str, object]) -> str:
    fields = problem.get("errors")
    named = [f"{each['field']}: {each['description']}" for each in fields] if isinstance(fields, list) else []
    text = "; ".join(named) or problem.get("detail") or problem.get("title") or "the gateway failed"
    if problem.get("reason") == "UNAUTHENTICATED":
        text = f"{text} Commands present what CLAUSEGATE_CREDENTIAL holds."
    return f"{problem['reason']}: {text}" if problem.get("reason") else str(text)
