"""What an operator does with API keys: processes that start with them, and commands that present one."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tests.e2e.corpus import DEVICE_FEE
from tests.e2e.processes import COMMAND_SECONDS, ROOT, clausegate, embedded_stack, environment, in_process
from tests.fakes.token_issuer import AUDIENCE, ISSUER, Issuer

PROCESSES = ["embedded", "gateway", "services.ingest", "services.retrieval", "services.answer"]
ADDRESSES = {
    "embedded": "CLAUSEGATE_ADDRESS",
    "gateway": "CLAUSEGATE_GATEWAY_ADDRESS",
    "services.ingest": "CLAUSEGATE_INGEST_ADDRESS",
    "services.retrieval": "CLAUSEGATE_RETRIEVAL_ADDRESS",
    "services.answer": "CLAUSEGATE_ANSWER_ADDRESS",
}

# All of them start by `chassis.process` with the settings of credentials that they share.
EACH = pytest.mark.parametrize(
    "process", [*PROCESSES[:2], *(pytest.param(each, marks=pytest.mark.soak) for each in PROCESSES[2:])]
)


TOKENS = Issuer(now=datetime.now(UTC))


def made(file, tenant: str) -> str:
    command = ("keys", "create", "--tenant", tenant, "--subject", "tester", "--file", str(file))
    return in_process(*command).stdout.strip()


@pytest.fixture(scope="module")
def keys_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    made(file, "acme")
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory, socket_dirs, free_port, keys_file):
    """The address of a stack that others could reach."""
    port = free_port()
    jwks = keys_file.with_name("jwks.json")
    jwks.write_text(TOKENS.jwks())
    settings = {
        "CLAUSEGATE_API_KEYS_FILE": str(keys_file),
        "CLAUSEGATE_JWT_ISSUER": ISSUER,
        "CLAUSEGATE_JWT_AUDIENCE": AUDIENCE,
        "CLAUSEGATE_JWT_JWKS": str(jwks),
        "CLAUSEGATE_GATEWAY_ADDRESS": f"0.0.0.0:{port}",
    }
    with embedded_stack(tmp_path_factory.mktemp("keyed") / "data", socket_dirs(), port, **settings) as stack:
        yield stack.grpc


def test_commands_present_the_key_of_the_environment(server, keys_file, corpus):
    key = {"CLAUSEGATE_CREDENTIAL": made(keys_file, "globex")}  # made while the stack runs
    ingested = in_process("ingest", str(corpus), "--server", server, "--json", **key)
    answered = clausegate("ask", DEVICE_FEE, "--server", server, "--json", **key)
    listed = in_process(
        "documents", "--server", server, "--json", CLAUSEGATE_CREDENTIAL=made(keys_file, "other")
    )

    assert (ingested.returncode, answered.returncode) == (0, 0)
    assert json.loads(answered.stdout)["citations"]
    assert json.loads(listed.stdout)["documents"] == []


def test_a_command_presents_a_token_like_a_key(server):
    token = {"CLAUSEGATE_CREDENTIAL": TOKENS.token(tenant="other", scope="query")}
    listed = in_process("documents", "--server", server, "--json", **token)
    removed = in_process("remove", "cme/a.txt", "--server", server, **token)

    assert json.loads(listed.stdout)["documents"] == []
    assert (removed.returncode, "needs a credential of scope ingest" in removed.stderr) == (1, True)


@pytest.mark.parametrize("key", ["", "cg_wrong"])
def test_a_command_without_a_valid_key_says_so(server, key):
    done = in_process("documents", "--server", server, CLAUSEGATE_CREDENTIAL=key)

    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: UNAUTHENTICATED: A valid credential is needed: `authorization: Bearer <API key or token>`."
    )
    assert done.stderr.count("\n") == 1


def test_a_key_that_cannot_be_sent_is_named_but_not_shown(server):
    done = in_process("documents", "--server", server, CLAUSEGATE_CREDENTIAL="schlüssel")

    assert done.returncode == 1
    assert "CLAUSEGATE_CREDENTIAL" in done.stderr
    assert "schlüssel" not in done.stderr


def test_a_stack_that_a_command_starts_for_itself_needs_no_key(tmp_path):
    file = str(tmp_path / "missing.json")
    done = clausegate("documents", "--data", str(tmp_path / "data"), "--json", CLAUSEGATE_API_KEYS_FILE=file)

    assert (done.returncode, json.loads(done.stdout)) == (0, {"documents": []})


def ended(process: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", process],
        cwd=ROOT,
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


@EACH
def test_a_process_without_its_file_of_keys_ends_with_one_line(process, tmp_path):
    file = tmp_path / "missing.json"
    done = ended(process, CLAUSEGATE_API_KEYS_FILE=str(file), CLAUSEGATE_DATA_DIR=str(tmp_path / "data"))

    assert done.returncode == 1
    assert done.stderr == f"error: CLAUSEGATE_API_KEYS_FILE: {file}: No such file or directory\n"


@EACH
def test_a_process_without_keys_binds_nothing_that_others_reach(process, tmp_path):
    settings = {ADDRESSES[process]: "0.0.0.0:17000", "CLAUSEGATE_DATA_DIR": str(tmp_path / "data")}
    done = ended(process, **settings)

    assert done.returncode == 1
    assert "CLAUSEGATE_API_KEYS_FILE" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
