"""What a container's health check says, asked of real servers."""

import asyncio
import socket
import subprocess
import sys

import pytest

from chassis.policy import ServerPolicy
from chassis.probe import Question, Shown, probe
from chassis.readiness import Readiness
from chassis.server import Services, serving
from chassis.tls import Tls
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from tests.contract.certificates import files


@pytest.fixture
def readiness():
    return Readiness()


@pytest.fixture
async def grpc_address(readiness):
    services = Services(names=(), register=lambda server: None, readiness=readiness)
    async with serving("127.0.0.1:0", [services]) as address:
        yield address


async def ask(address, service="", shown=None):
    return await asyncio.to_thread(probe, Question(address, service, shown, deadline_seconds=20))


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
    assert await ask(grpc_address) == "SERVING"


async def test_a_server_that_is_not_ready_is_not_healthy(grpc_address, readiness):
    readiness.set(False)

    assert await ask(grpc_address) == "NOT_SERVING"


async def test_where_nobody_listens_nothing_is_healthy(free_port):
    answer = await ask(f"127.0.0.1:{free_port()}")

    assert answer.startswith("UNAVAILABLE")


@pytest.mark.parametrize(("scheme", "failure"), [("", "DEADLINE_EXCEEDED"), ("http://", "TimeoutError")])
def test_a_server_that_hangs_is_given_up(scheme, failure):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = probe(Question(f"{scheme}127.0.0.1:{silent.getsockname()[1]}", deadline_seconds=0.3))

    assert answer.startswith(failure)


async def test_a_gateway_is_not_ready_while_a_service_behind_it_lacks(grpc_address):
    async with rest(grpc_address) as address:
        alive = await ask(f"http://{address}/healthz")
        ready = await ask(f"http://{address}/readyz")

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


@pytest.mark.parametrize("own", ["server", "elsewhere"])
async def test_a_server_with_tls_is_asked_by_tls_whatever_name_its_certificate_is_for(tmp_path, own):
    tls_files = files(tmp_path, own, "ca", client_certificates=True)
    shown = Shown(tls_files.certificate, tls_files.key)
    async with serving("127.0.0.1:0", [], ServerPolicy(tls=Tls(tls_files, serves=True))) as address:
        assert await ask(address, shown=shown) == "SERVING"
        assert await ask(address, "liveness", shown) == "SERVING"
        assert await ask(address, "unknown", shown) == "NOT_FOUND: "
        assert (await ask(address)).startswith("UNAVAILABLE")


async def test_a_gateway_with_tls_is_asked_by_tls(tmp_path, grpc_address):
    tls_files = files(tmp_path, "elsewhere", "ca", client_certificates=True)
    settings = GatewaySettings(
        gateway_address="127.0.0.1:0",
        answer_address=grpc_address,
        tls_certificate_file=tls_files.certificate,
        tls_key_file=tls_files.key,
        tls_ca_file=tls_files.ca,
        tls_client_certificates="required",
    )
    async with serving_rest(settings) as address:
        url = f"http://{address}/healthz"
        by_tls = await ask(url, shown=Shown(tls_files.certificate, tls_files.key))
        without = await ask(url)
        environment = {
            "CLAUSEGATE_TLS_CERTIFICATE_FILE": str(tls_files.certificate),
            "CLAUSEGATE_TLS_KEY_FILE": str(tls_files.key),
        }
        command = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-m", "chassis.probe", url], env=environment, capture_output=True
        )

    assert by_tls == "SERVING"
    assert without.startswith("RemoteDisconnected")
    assert (command.returncode, command.stderr) == (0, b"")
