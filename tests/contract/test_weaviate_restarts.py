"""Retrieval on a real Weaviate that is killed and started again.

`WEAVIATE_COMMAND` starts one in the foreground, given a folder for its data, a port for REST and one for
gRPC; its settings come from the environment. Without it these tests are skipped.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from contextlib import asynccontextmanager

import httpx
import pytest

from chassis.errors import ServiceError
from clausegate.retrieval.v1 import index_service_pb2, retrieval_service_pb2
from tests.contract.retrieval_index import Text
from tests.contract.weaviate_behind import PATIENCE_SECONDS, Weaviate, running_on, wired

COMMAND = shlex.split(os.environ.get("WEAVIATE_COMMAND", ""))  # noqa: TID251  # of the tests
ATTEMPTS = 5
WITH_KEY = {
    "AUTHENTICATION_APIKEY_ENABLED": "true",
    "AUTHENTICATION_APIKEY_ALLOWED_KEYS": "right",
    "AUTHENTICATION_APIKEY_USERS": "clausegate",
    "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
}
pytestmark = [
    pytest.mark.weaviate,
    pytest.mark.skipif(not COMMAND, reason="WEAVIATE_COMMAND starts no server"),
]


class Server:
    """A server of one test's own."""

    def __init__(self, folder, http_port, grpc_port, environment):
        self.url, self.grpc_url = f"http://127.0.0.1:{http_port}", f"http://127.0.0.1:{grpc_port}"
        self._arguments = [*COMMAND, str(folder), str(http_port), str(grpc_port)]
        self._environment = {**os.environ, **environment}  # noqa: TID251

    async def start(self):
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments,
            env=self._environment,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )

    async def kill(self):
        if self._process.returncode is not None:
            return
        os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def becomes_ready(self):
        """Whether it does; it may end at once, as when one of its own ports is taken."""
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(PATIENCE_SECONDS):
            while self._process.returncode is None:
                try:
                    if (await client.get(f"{self.url}/v1/.well-known/ready")).is_success:
                        return True
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)
        return False


@pytest.fixture
def folder(socket_dirs):
    return socket_dirs()


@pytest.fixture
async def make_server(tmp_path, free_port):
    @asynccontextmanager
    async def started(**environment):
        ready = False
        for _ in range(ATTEMPTS):
            server = Server(tmp_path, free_port(), free_port(), environment)
            await server.start()
            ready = await server.becomes_ready()
            if ready:
                break
        assert ready
        try:
            yield server
        finally:
            await server.kill()

    return started


@asynccontextmanager
async def served(make_server, folder):
    """A server, and retrieval on it."""
    async with (
        make_server() as server,
        wired(server.url, server.grpc_url) as weaviate,
        running_on(weaviate, folder) as running,
    ):
        yield server, running


def version(document, number):
    return Text(f"cme/{document}.txt", [f"Clause {each} of round {number}." for each in range(20)])


async def visible(running, document):
    request = retrieval_service_pb2.ListChunksRequest(document_id=f"cme/{document}.txt", page_size=100)
    return [chunk.text for chunk in (await running.service.retrieval.ListChunks(request)).chunks]


async def test_nothing_acknowledged_is_lost_and_nothing_half_visible_after_a_kill(make_server, folder):
    acknowledged = {}

    async def write(running, document):
        for number in range(1000):
            await running.service.put(version(document, number))
            acknowledged[document] = number

    async with served(make_server, folder) as (server, running):
        writing = [asyncio.create_task(write(running, document)) for document in "abc"]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(acknowledged) < 3 or min(acknowledged.values()) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await server.kill()
        failed = await asyncio.gather(*writing, return_exceptions=True)
        await running.becomes("NOT_SERVING")
        await server.start()
        await running.becomes("SERVING")

        assert {each.reason for each in failed if isinstance(each, ServiceError)} == {"UPSTREAM_UNAVAILABLE"}
        for document, number in acknowledged.items():
            # The flip of the next one may have been made without an answer.
            assert await visible(running, document) in (
                version(document, number).paragraphs,
                version(document, number + 1).paragraphs,
            )
            await running.service.put(version(document, number + 2))
        described = await running.service.index.DescribeIndex(index_service_pb2.DescribeIndexRequest())
        assert (described.document_count, described.chunk_count) == (3, 60)


async def test_a_wrong_key_is_refused_at_start_and_the_right_one_works(make_server, folder):
    async with make_server(**WITH_KEY) as server, wired(server.url, server.grpc_url, "wrong") as weaviate:
        with pytest.raises(ServiceError, match="CLAUSEGATE_WEAVIATE_API_KEY_FILE"):
            async with running_on(weaviate, folder):
                pass
        right = Weaviate(weaviate.rest, weaviate.grpc, "right")
        async with running_on(right, folder) as running:
            await running.service.put(version("a", 0))

            assert await visible(running, "a") == version("a", 0).paragraphs


async def set_shards(server, status):
    """Make all that a tenant has read-only, as a full disk does, or writable again."""
    async with httpx.AsyncClient(base_url=f"{server.url}/v1/schema", trust_env=False) as client:
        for found in (await client.get("")).json()["classes"]:
            set_ = await client.put(f"/{found['class']}/shards/default", json={"status": status})
            set_.raise_for_status()


async def test_a_read_only_server_is_told_while_what_is_visible_is_found(make_server, folder):
    async with served(make_server, folder) as (server, running):
        await running.service.put(version("a", 0))
        await set_shards(server, "READONLY")
        with pytest.raises(ServiceError, match="takes no writes"):
            await running.service.put(version("a", 1))

        assert await running.status() == "SERVING"
        assert await visible(running, "a") == version("a", 0).paragraphs

        await set_shards(server, "READY")
        await running.service.put(version("a", 1))
        assert await visible(running, "a") == version("a", 1).paragraphs
