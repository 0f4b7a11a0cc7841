"""What a container's health check says, asked of real servers."""

import asyncio
import socket
import subprocess
import sys

import pytest

from chassis.probe import probe
from chassis.readiness import Readiness
from chassis.server import Services, serving
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest


@pytest.fixture
def readiness():
    return Readiness()


@pytest.fixture
async def grpc_address(readiness):
    services = Services(names=(), register=lambda server: None, readiness=readiness)
    async with serving("127.0.0.1:0", [services]) as address:
        yield address


def rest(grpc_address):
    return serving_rest(
        GatewaySettings(
            gateway_address="127.0.0.1:0",
            ingest_address=grpc_address,
            retrieval_address=grpc_address,
            answer_address=grpc_address,
        )
    )


async def test_a_server_that_serves_is_healthy(grpc_address):
    assert await asyncio.to_thread(probe, grpc_address) == "SERVING"


async def test_a_server_that_is_not_ready_is_not_healthy(grpc_address, readiness):
    readiness.set(False)

    assert await asyncio.to_thread(probe, grpc_address) == "NOT_SERVING"


async def test_where_nobody_listens_nothing_is_healthy(free_port):
    answer = await asyncio.to_thread(probe, f"127.0.0.1:{free_port()}")

    assert answer.startswith("UNAVAILABLE")


@pytest.mark.parametrize(("scheme", "failure"), [("", "DEADLINE_EXCEEDED"), ("http://", "TimeoutError")])
def test_a_server_that_hangs_is_given_up(scheme, failure):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = probe(f"{scheme}127.0.0.1:{silent.getsockname()[1]}", deadline_seconds=0.3)

    assert answer.startswith(failure)


async def test_a_gateway_is_not_ready_while_a_service_behind_it_lacks(grpc_address):
    async with rest(grpc_address) as address:
        alive = await asyncio.to_thread(probe, f"http://{address}/healthz")
        ready = await asyncio.to_thread(probe, f"http://{address}/readyz")

    assert alive == "SERVING"
    assert ready.startswith("503: ")
    assert "clausegate.answer.v1.QueryService" in ready


async def test_the_command_tells_by_its_exit_code_and_one_line(grpc_address, readiness):
    command = [sys.executable, "-m", "chassis.probe", grpc_address]
    healthy = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    readiness.set(False)
    unready = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)

    assert (healthy.returncode, healthy.stderr) == (0, "")
    assert (unready.returncode, unready.stderr) == (1, "NOT_SERVING\n")
