"""What users do meanwhile: they write, replace and remove documents, ask and read; every result is judged."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import httpx
import httpx_sse

from clausegate import ClausegateError, Client
from clausegate.rpc.v1.error_reason_pb2 import ErrorReason
from tests.faults.stack import Stack
from tests.faults.truth import UNWRITTEN, Document, Library

DEADLINE_SECONDS = 15.0
MARGIN_SECONDS = 5.0
"""Two cores are shared by four processes, the load, and whatever else runs."""
PAUSE_SECONDS = 0.2
REASONS = frozenset(name.removeprefix("ERROR_REASON_") for name, _ in ErrorReason.items()) - {"UNSPECIFIED"}
NO_SERVICE = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")
"""What gRPC itself says of a service that is away."""
ABSENT = ("DOCUMENT_NOT_FOUND", "SOURCE_NOT_FOUND")


@dataclass
class Tally:
    """What happened."""

    calls: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    """Ids of the queries whose answers left."""
    excused: Callable[[float, float], bool] = lambda since, until: False
    """Whether the gateway itself was hurt within these times."""

    def violation(self, text: str) -> None:
        self.violations.append(f"{time.strftime('%H:%M:%S')} {text}")


class Failed(Exception):
    """A call failed with this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@asynccontextmanager
async def judged(tally: Tally, call: str) -> AsyncIterator[None]:
    """Count a call. A failure is raised as `Failed` when it was typed and in time, and noted when not."""
    began = time.monotonic()
    tally.calls[call] += 1
    try:
        yield
    except ClausegateError as error:
        reason = error.reason or f"({error.code})"
        if error.reason not in REASONS and not (error.code in NO_SERVICE and not error.reason):
            tally.violation(f"{call} failed without a known reason: {error.code} {error}")
        _note(tally, call, reason, error.message)
        raise Failed(reason) from error
    except httpx.TransportError as error:
        if not tally.excused(began, time.monotonic()):
            tally.violation(f"{call}: {type(error).__name__} {error} from a gateway that was not hurt")
        _note(tally, call, f"({type(error).__name__})", "")
        raise Failed("(no gateway)") from error
    finally:
        took = time.monotonic() - began
        if took > DEADLINE_SECONDS + MARGIN_SECONDS and not tally.excused(began, time.monotonic()):
            tally.violation(f"{call} took {took:.1f} s, its deadline was {DEADLINE_SECONDS} s")


def _note(tally: Tally, call: str, reason: str, message: str) -> None:
    tally.failures[reason] += 1
    if reason == "INTERNAL":
        tally.violation(f"{call}: {message}")


@dataclass
class Users:
    """Those who use the stack until they are told to stop."""

    stack: Stack
    library: Library
    tally: Tally
    http: httpx.AsyncClient
    grpc: Client
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, documents: list[Document], seed: int) -> None:
        """Change these documents, one at a time; each change is repeated until it is acknowledged."""
        chance = random.Random(seed)
        while not self.stop.is_set():
            document = chance.choice(documents)
            if document.acknowledged is not None and chance.random() < 0.25:
                await self._until_acknowledged(document, None, chance)
            else:
                await self._until_acknowledged(document, self.library.version(document), chance)
            await asyncio.sleep(chance.random() * PAUSE_SECONDS)

    async def _until_acknowledged(self, document: Document, text: str | None, chance: random.Random) -> None:
        document.begin(text)
        for attempt in count():
            change = chance.choice([self._change_by_rest, self._change_by_grpc])
            try:
                await change(document, text)
            except Failed as failed:
                # Whatever was removed by an attempt that failed is not there for the next.
                if text is None and failed.reason in ABSENT:
                    if not attempt:
                        self.tally.violation(f"{document.document_id} was acknowledged, and not there")
                    break
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                break
        document.settle()

    async def _change_by_rest(self, document: Document, text: str | None) -> None:
        headers = {"X-Request-Timeout": str(DEADLINE_SECONDS)}
        async with judged(self.tally, "remove by REST" if text is None else "upload by REST"):
            if text is None:
                _checked(await self.http.delete(f"/v1/documents/{document.document_id}", headers=headers))
                return
            form = {"source": document.source, "path": document.path}
            file = {"file": (document.path, text.encode())}
            response = await self.http.post("/v1/documents", data=form, files=file, headers=headers)
            document.chunks = _checked(response)["document"]["chunkCount"]

    async def _change_by_grpc(self, document: Document, text: str | None) -> None:
        async with judged(self.tally, "remove by gRPC" if text is None else "upload by gRPC"):
            if text is None:
                await self.grpc.remove_document(document.document_id, deadline_seconds=DEADLINE_SECONDS)
                return
            receipt = await self.grpc.ingest(
                text.encode(), source=document.source, path=document.path, deadline_seconds=DEADLINE_SECONDS
            )
            document.chunks = receipt.document.chunk_count

    async def read(self, seed: int) -> None:
        """Ask and read, whatever comes."""
        chance = random.Random(seed)
        ways = [
            self.ask_by_rest,
            self.ask_by_events,
            self.ask_by_grpc,
            self._ask_the_unwritten,
            self._original,
        ]
        while not self.stop.is_set():
            await self.try_to(chance.choice(ways), chance.choice(self.library.documents))
            await asyncio.sleep(chance.random() * PAUSE_SECONDS)

    async def try_to(self, way: Callable[[Document], Awaitable[None]], document: Document) -> bool:
        """Whether it worked; that a document is not there is judged."""
        began = time.monotonic()
        try:
            await way(document)
        except Failed as failed:
            if failed.reason in ABSENT:
                self._accuse(self.library.judge_absence(document, began, time.monotonic()), failed.reason)
            return False
        return True

    async def why_no_answer(self, document: Document) -> str:
        """Why a question about it fails, empty when it is answered; a rate that is spent is waited for."""
        while True:
            try:
                await self.ask_by_rest(document)
            except Failed as failed:
                if failed.reason != "RATE_LIMITED":
                    return failed.reason
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return ""

    async def ask_by_rest(self, document: Document) -> None:
        began = time.monotonic()
        async with judged(self.tally, "query by REST"):
            response = await self.http.post("/v1/query", **_question(document.question, document))
            answer = _checked(response)
        self._judge(answer, document, began)

    async def ask_by_events(self, document: Document) -> None:
        began, answer = time.monotonic(), {}
        async with judged(self.tally, "stream by REST"):
            asked = _question(document.question, document)
            async with httpx_sse.aconnect_sse(self.http, "POST", "/v1/query:stream", **asked) as stream:
                if stream.response.is_error:
                    await stream.response.aread()
                    _checked(stream.response)
                async for event in stream.aiter_sse():
                    if event.event == "error":
                        raise _error(event.json())
                    if event.event == "completed":
                        answer = event.json()["response"]
            if not answer:
                raise httpx.RemoteProtocolError("the stream ended without an end")
        self._judge(answer, document, began)

    async def ask_by_grpc(self, document: Document) -> None:
        began, response = time.monotonic(), None
        async with judged(self.tally, "stream by gRPC"):
            events = self.grpc.stream_query(
                document.question, document_ids=[document.document_id], deadline_seconds=DEADLINE_SECONDS
            )
            async with aclosing(events) as stream:
                async for event in stream:
                    if event.HasField("completed"):
                        response = event.completed.response
        assert response
        quotes = [(citation.document, citation.quote) for citation in response.citations]
        self._judge_parts(quotes, response.HasField("refusal"), document, began)
        self.tally.answered.add(response.metadata.query_id)

    async def _ask_the_unwritten(self, document: Document) -> None:
        began = time.monotonic()
        async with judged(self.tally, "query of all by REST"):
            asked = _question(UNWRITTEN.format(name=document.name), None)
            answer = _checked(await self.http.post("/v1/query", **asked))
        self._judge(answer, None, began)

    async def _original(self, document: Document) -> None:
        began = time.monotonic()
        async with judged(self.tally, "original by gRPC"):
            parts = self.grpc.get_original(document.document_id, deadline_seconds=DEADLINE_SECONDS)
            content = b"".join([part async for part in parts]).decode()
        if content not in document.possible(began, time.monotonic()):
            self.tally.violation(f"{document.document_id}: its original is none of its versions")

    def _judge(self, answer: dict, document: Document | None, began: float) -> None:
        quotes = [(each["document"], each["quote"]) for each in answer["citations"]]
        self._judge_parts(quotes, "refusal" in answer, document, began)
        self.tally.answered.add(answer["metadata"]["queryId"])

    def _judge_parts(
        self, quotes: list[tuple[str, str]], refused: bool, document: Document | None, began: float
    ) -> None:
        now = time.monotonic()
        if not refused:
            self._accuse(self.library.judge_answer(quotes, document, began, now), "answer")
        elif document is not None:
            self._accuse(self.library.judge_absence(document, began, now), "refusal")

    def _accuse(self, wrongs: Iterable[str], what: str) -> None:
        for wrong in wrongs:
            self.tally.violation(f"{what}: {wrong}")


def _question(text: str, document: Document | None) -> dict:
    scope = {"documentIds": [document.document_id]} if document else {}
    return {"json": {"query": text, **scope}, "headers": {"X-Request-Timeout": str(DEADLINE_SECONDS)}}


def _checked(response: httpx.Response) -> dict:
    """The JSON of a response. Raises what a problem says as `ClausegateError`."""
    body = json.loads(response.content)
    if response.is_error:
        raise _error(body)
    return body


def _error(problem: dict) -> ClausegateError:
    return ClausegateError(f"HTTP {problem['status']}", problem["reason"], problem["detail"])
