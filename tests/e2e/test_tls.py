"""TLS as an operator tries it: certificates by the command, a stack with them, and commands that call it."""

import json

import httpx
import pytest

from tests.e2e.processes import READY_SECONDS, clausegate, running, wait_until


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """What `dev-certs` prints, as an environment."""
    folder = tmp_path_factory.mktemp("tls") / "certs"
    lines = clausegate("dev-certs", str(folder)).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@pytest.fixture(scope="module")
def rest_port(free_port):
    return free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory, free_port, rest_port, settings):
    """A stack whose services and gateway listen by TCP, and call each other."""
    folder, port = tmp_path_factory.mktemp("stack"), free_port()
    addresses = {
        "CLAUSEGATE_DATA_DIR": str(folder / "data"),
        "CLAUSEGATE_ADDRESS": f"127.0.0.1:{port}",
        "CLAUSEGATE_GATEWAY_ADDRESS": f"127.0.0.1:{rest_port}",
    }
    log = folder / "log"
    with running("embedded", settings | addresses, log) as process:

        def serves():
            assert process.poll() is None, log.read_text()[-4000:]
            return '"event": "serving"' in log.read_text()

        wait_until(serves, READY_SECONDS)
        yield f"https://localhost:{port}"


def test_a_command_with_the_printed_settings_is_answered(server, settings, tmp_path):
    document = tmp_path / "files" / "cme" / "fees.md"
    document.parent.mkdir(parents=True)
    document.write_text("# Fees\n\nThe fee for redistribution of data is USD 120 a month, in advance.\n")
    ingested = clausegate("ingest", str(tmp_path / "files"), "--server", server, "--json", **settings)
    asked = clausegate("ask", "What is the fee for redistribution?", "--server", server, "--json", **settings)

    assert ingested.returncode == 0, ingested.stderr
    assert "USD 120" in json.loads(asked.stdout)["citations"][0]["quote"]


def test_a_command_that_does_not_know_the_authority_says_which_setting_lacks(server, settings):
    done = clausegate("documents", "--server", server, **settings | {"CLAUSEGATE_CA_FILE": "certs/none.pem"})
    assert (done.returncode, done.stderr) == (
        1,
        "error: CLAUSEGATE_CA_FILE: certs/none.pem: No such file or directory\n",
    )


def test_a_command_that_trusts_others_says_one_line(server, settings):
    ours = {name: value for name, value in settings.items() if name != "CLAUSEGATE_CA_FILE"}
    done = clausegate("documents", "--server", server, **ours)
    assert (done.returncode, done.stderr) == (
        1,
        f"error: UPSTREAM_UNAVAILABLE: the server at {server}: its certificate is not trusted; "
        "CLAUSEGATE_CA_FILE names whom to trust\n",
    )


def test_nothing_is_said_without_tls(server, rest_port):
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"http://localhost:{rest_port}/healthz", timeout=20)
