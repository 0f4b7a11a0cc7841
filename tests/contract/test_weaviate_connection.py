"""The connection to Weaviate when what listens there refuses, hangs, is not ready, or is something else."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry import trace

from chassis.errors import DeadlineExceeded
from chassis.limits.deadlines import set_deadline
from services.retrieval.store.port import EmbeddingModelMismatch, StoreUnavailable
from services.retrieval.store.weaviate.breaker import UNANSWERED
from services.retrieval.store.weaviate.connection import Connection, Server
from tests.contract.traces import kept_spans
from tests.contract.wires import Wire

TELEMETRY = Path(__file__).resolve().parents[2] / "docs" / "telemetry.md"
PROBE_SECONDS = 0.02
PATIENCE_SECONDS = 20
"""What a test waits for something to happen; far below the limits of the calls it makes."""
LONG = 300.0
SHORT = 0.05
READY = "/v1/.well-known/ready"
META = "/v1/meta"
WEAVIATE = {READY: (200, ""), META: (200, json.dumps({"version": "1.39.0"}))}
"""What a server answers that is well, as far as these tests ask."""


class Socket:
    """A server on a real socket that answers as it is told, by path; without an answer it hangs."""

    def __init__(self):
        self.answers = dict(WEAVIATE)
        self.asked = []
        self._writers = set()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error):
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader, writer):
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                self.asked.append(path)
                answer = self.answers.get(path)
                if answer == "reset":
                    return
                if isinstance(answer, bytes):
                    writer.write(answer)
                    return
                if answer is not None:
                    status, body = answer
                    writer.write(
                        f"HTTP/1.1 {status} So\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
                    )
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def server():
    async with Socket() as server:
        yield server


@pytest.fixture
async def wire(server):
    async with Wire(server.port) as wire:
        yield wire


def connection_to(port, read_seconds=LONG):
    where = Server(f"http://127.0.0.1:{port}", "http://127.0.0.1:1", "", read_seconds, LONG)
    return Connection(where, PROBE_SECONDS)


async def accepts(client):
    """A check that finds nothing wrong."""


async def other_model(client):
    raise EmbeddingModelMismatch("made with another model")


@asynccontextmanager
async def connecting(port, check=accepts, read_seconds=LONG):
    connection = connection_to(port, read_seconds)
    await connection.open(check)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def connected(port, check=accepts, read_seconds=LONG):
    async with connecting(port, check, read_seconds) as connection:
        await becomes(connection, ready=True)
        yield connection


async def becomes(connection, ready):
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for state in connection.readiness.states():
            if state == ready:
                return


async def ask(connection):
    async with connection.reading("ask") as client:
        return await client.get_meta()


async def answered(connection):
    """A call with the limit of writes, which is long where that of reads is short."""
    async with connection.writing("ask") as client:
        await client.get_meta()


async def refusal(connection):
    with pytest.raises(StoreUnavailable) as refused:
        await ask(connection)
    return refused.value


async def until(holds):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110  # what it waits for has no event
            await asyncio.sleep(0.01)


# What is wrong with a server that is not to be used, by what it answers.
NOT_THERE = {
    "is not ready": {READY: (503, "")},
    "resets connections": {READY: "reset"},
    "speaks no HTTP": {READY: b"220 mail.example ESMTP\r\n"},
    "is ready but does not say what it is": {READY: (200, ""), META: (503, "")},
    "is ready and resets connections": {READY: (200, ""), META: "reset"},
    "is another kind of server": {READY: (200, "<html>"), META: (200, "<html>")},
    "answers with other JSON": {READY: (200, "[]"), META: (200, "[]")},
}


@pytest.mark.parametrize(
    "answers", [pytest.param(value, id=key) for key, value in NOT_THERE.items() if value]
)
async def test_a_server_that_is_not_there_yet_is_waited_for(server, answers):
    server.answers = answers
    async with connecting(server.port) as connection:
        assert not connection.readiness.ready
        assert (await refusal(connection)).retry_after_seconds > 0

        server.answers = WEAVIATE
        await becomes(connection, ready=True)
        assert (await ask(connection))["version"] == "1.39.0"


async def test_a_port_that_refuses_is_waited_for(server, wire):
    await wire.cut()
    async with connecting(wire.port) as connection:
        refused = await refusal(connection)
        assert (refused.code, refused.reason) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        assert refused.retry_after_seconds > 0

        await wire.mend()
        await becomes(connection, ready=True)
        assert (await ask(connection))["version"] == "1.39.0"


async def test_a_server_that_hangs_is_waited_for(server, wire):
    wire.hold()
    async with connecting(wire.port) as connection:
        assert not connection.readiness.ready
        await refusal(connection)

        wire.release()
        await becomes(connection, ready=True)


async def test_calls_fail_without_being_made_while_the_server_is_away(server):
    server.answers = {READY: (503, "")}
    async with connecting(server.port) as connection:
        await refusal(connection)

    assert set(server.asked) == {READY}


async def test_a_lost_server_ends_the_calls_under_way(server, wire):
    async with connected(wire.port) as connection:
        server.answers = {READY: (200, "")}
        asking = asyncio.create_task(refusal(connection))
        await until(lambda: META in server.asked[1:])
        await wire.cut()

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await asking).retry_after_seconds > 0
        await becomes(connection, ready=False)


async def test_a_call_that_waits_for_something_else_ends_too_when_the_server_is_lost(server, wire):
    """As the client does, which repeats a query for a minute when nothing listens."""
    async with connected(wire.port) as connection:

        async def wait():
            async with connection.reading("wait"):
                await asyncio.sleep(LONG)

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        await wire.cut()

        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(StoreUnavailable):
                await waiting


async def test_the_index_is_checked_again_when_the_server_comes_back(server, wire):
    checked = []

    async def check(client):
        checked.append(await client.get_meta())

    async with connected(wire.port, check) as connection:
        await wire.cut()
        await becomes(connection, ready=False)
        await wire.mend()
        await becomes(connection, ready=True)

    assert len(checked) == 2


async def test_one_probe_that_fails_does_not_make_calls_fail(server):
    async with connected(server.port) as connection:
        server.answers = {**WEAVIATE, READY: (503, "")}
        await until(lambda: server.asked.count(READY) > 1)
        server.answers = WEAVIATE

        assert await ask(connection)


async def test_a_server_that_says_for_long_that_it_is_not_ready_is_believed(server):
    async with connected(server.port) as connection:
        server.answers = {**WEAVIATE, READY: (503, "")}
        await becomes(connection, ready=False)

        server.answers = WEAVIATE
        await becomes(connection, ready=True)


async def test_calls_that_are_answered_count_more_than_probes_that_fail(server):
    async with connected(server.port) as connection:
        server.answers = {**WEAVIATE, READY: (503, "")}
        for _ in range(20):
            await ask(connection)
            await asyncio.sleep(PROBE_SECONDS / 2)

        assert connection.readiness.ready


# Time -----------------------------------------------------------------------------------------------------


async def test_a_call_that_takes_longer_than_our_limit_is_unavailable(server):
    async with connected(server.port, read_seconds=SHORT) as connection:
        server.answers = {READY: (200, "")}

        assert (await refusal(connection)).retry_after_seconds > 0


async def test_several_calls_in_a_row_without_an_answer_open_the_breaker_and_a_trial_closes_it(server):
    trials = asyncio.Semaphore(1)

    async def check(client):
        await trials.acquire()

    async with connected(server.port, check, SHORT) as connection:
        server.answers = {READY: (200, "")}
        for _ in range(UNANSWERED):
            assert connection.readiness.ready
            await refusal(connection)
        assert not connection.readiness.ready
        asked = server.asked.count(META)
        await refusal(connection)
        assert server.asked.count(META) == asked

        server.answers = WEAVIATE
        trials.release()
        await becomes(connection, ready=True)
        await answered(connection)


async def test_an_answer_in_between_keeps_the_breaker_closed(server):
    async with connected(server.port, read_seconds=SHORT) as connection:
        for _ in range(UNANSWERED):
            server.answers = {READY: (200, "")}
            await refusal(connection)
            server.answers = WEAVIATE
            await answered(connection)

        assert connection.readiness.ready


async def test_a_callers_deadline_is_its_own_affair(server):
    async with connected(server.port) as connection:
        server.answers = {READY: (200, "")}
        for _ in range(2 * UNANSWERED):
            set_deadline(SHORT)
            with pytest.raises(DeadlineExceeded):
                await ask(connection)

        assert connection.readiness.ready


async def test_a_cancelled_call_is_cancelled_and_counts_for_nothing(server):
    async with connected(server.port) as connection:
        server.answers = {READY: (200, "")}
        for number in range(2 * UNANSWERED):
            asking = asyncio.create_task(ask(connection))
            await until(lambda asked=number + 2: server.asked.count(META) == asked)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

        assert connection.readiness.ready


# What a server says against us ----------------------------------------------------------------------------


async def test_an_index_that_must_not_be_used_is_told_at_start(server):
    with pytest.raises(EmbeddingModelMismatch):
        await connection_to(server.port).open(other_model)


async def test_an_index_that_is_found_later_not_to_be_used_keeps_the_process_unready_and_says_why(server):
    server.answers = {READY: (503, "")}
    async with connecting(server.port, other_model) as connection:
        server.answers = WEAVIATE
        await until(lambda: META in server.asked)

        async def reason():
            try:
                await ask(connection)
            except (StoreUnavailable, EmbeddingModelMismatch) as error:
                return error.reason

        async with asyncio.timeout(PATIENCE_SECONDS):
            while await reason() != "EMBEDDING_MODEL_MISMATCH":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert not connection.readiness.ready


async def test_a_refused_key_is_told_at_start_with_the_settings_that_hold_it(server):
    server.answers = {READY: (200, ""), META: (401, "{}")}

    with pytest.raises(StoreUnavailable, match="CLAUSEGATE_WEAVIATE_API_KEY_FILE"):
        await connection_to(server.port).open(accepts)


FOREIGN = "shard b7f of class Chunk on node-3"
REFUSED = {
    "a key that is refused": (401, FOREIGN, "refuses the key", None),
    "a key that permits too little": (403, FOREIGN, "permits too little", None),
    "a full disk": (500, "put: write segment: no space left on device", "takes no writes", 30),
    "a read-only shard": (422, "store is read-only due to: resource pressure", "takes no writes", 30),
    "a failure": (500, FOREIGN, "failed to do its part", 2),
    "a wrong call": (422, FOREIGN, "failed to do its part", None),
    "a proxy without a server": (502, FOREIGN, "does not answer", 2),
}


@pytest.mark.parametrize(
    ("status", "words", "told", "retry_seconds"),
    [pytest.param(*value, id=key) for key, value in REFUSED.items()],
)
async def test_what_the_server_refuses_is_told_in_our_words_and_logged_in_its_own(
    server, caplog, status, words, told, retry_seconds
):
    async with connected(server.port) as connection:
        server.answers = {**WEAVIATE, META: (status, json.dumps({"error": [{"message": words}]}))}
        refused = await refusal(connection)
        logged = [record for record in caplog.records if record.message == "a call of Weaviate failed"]

        assert told in refused.message
        assert FOREIGN not in refused.message
        assert refused.retry_after_seconds == retry_seconds
        assert words in logged[0].words
        assert connection.readiness.ready


async def test_an_answer_that_is_no_json_is_a_failure(server):
    async with connected(server.port) as connection:
        server.answers = {**WEAVIATE, META: (200, "<html>")}

        assert "failed to do its part" in (await refusal(connection)).message


# Traces and what is left ----------------------------------------------------------------------------------


@pytest.fixture
def spans():
    with kept_spans() as spans:
        yield spans


async def test_spans_name_the_call_and_what_became_of_it_and_are_listed(server, spans):
    async with connected(server.port) as connection:
        async with connection.reading("ask", "Chunk") as client:
            await client.get_meta()
        server.answers = {**WEAVIATE, META: (500, json.dumps({"error": [{"message": FOREIGN}]}))}
        await refusal(connection)
    opened, good, bad = [span for span in spans.get_finished_spans() if span.kind is trace.SpanKind.CLIENT]
    listed = set(re.findall(r"`([\w.]+)`", TELEMETRY.read_text()))

    assert (opened.name, good.name) == ("weaviate open", "weaviate ask")
    assert dict(good.attributes) == {
        "db.system.name": "weaviate",
        "db.operation.name": "ask",
        "db.collection.name": "Chunk",
        "server.address": "127.0.0.1",
        "server.port": server.port,
    }
    assert (bad.attributes["error.type"], bad.attributes["db.response.status_code"]) == (
        "UPSTREAM_UNAVAILABLE",
        "500",
    )
    assert not bad.events
    assert not bad.status.description
    assert {name for span in (good, bad) for name in span.attributes} <= listed


async def test_nothing_is_left_behind(server, wire):
    before = threading.active_count()
    async with connected(wire.port) as connection:
        await ask(connection)
        await wire.cut()
        await becomes(connection, ready=False)
    await connection.close()

    assert threading.active_count() == before
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "watch Weaviate"]


async def test_requests_are_not_logged(server, caplog):
    caplog.set_level(logging.INFO)
    async with connected(server.port) as connection:
        await ask(connection)

    assert "Weaviate answers" in caplog.messages
    assert not [
        record for record in caplog.records if record.name.startswith(("httpx", "httpcore", "weaviate"))
    ]
