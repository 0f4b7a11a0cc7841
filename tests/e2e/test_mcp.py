"""MCP over the processes that a user runs, spoken by the SDK's own client: the command, and the gateway."""

import signal
import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters

from tests.e2e.corpus import DEVICE_FEE, UNANSWERABLE
from tests.e2e.processes import ROOT, STOP_SECONDS, environment

DOCUMENT = "northgate/fee-schedule.pdf"


def command(*arguments):
    return StdioServerParameters(
        command=sys.executable, args=["-m", "cli", "mcp", *arguments], cwd=ROOT, env=environment({})
    )


@pytest.fixture(params=["stdio", "http"])
def served(filled, request):
    """What a client connects to."""
    return command("--server", filled.grpc) if request.param == "stdio" else f"{filled.url}/mcp"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_quote_of_a_pdf_is_found_and_opened_on_its_page(served, mode):
    async with Client(served, mode=mode) as client:
        answer = await client.call_tool("ask", {"question": DEVICE_FEE, "documentIds": [DOCUMENT]})
        quote = next(each for each in answer.structured_content["quotes"] if "95.00" in each["quote"])
        place = {name: quote[name] for name in ("documentId", "start", "end")}
        opened = await client.call_tool("open_citation", place)

    assert answer.structured_content["outcome"] == "ANSWERED"
    assert opened.structured_content["quote"] == quote["quote"]
    assert opened.structured_content["page"] == quote["page"]
    assert f", page {quote['page']} (documentId {DOCUMENT}" in opened.content[0].text


async def test_what_the_documents_do_not_say_is_refused(served):
    async with Client(served) as client:
        result = await client.call_tool("ask", {"question": UNANSWERABLE})

    assert (result.is_error, result.structured_content["outcome"]) == (False, "REFUSED")


async def test_a_term_and_passages_are_found(served):
    async with Client(served) as client:
        found = await client.call_tool("search", {"query": "governing law", "limit": 2})
        defined = await client.call_tool("define", {"term": "Nonesuch"})

    assert len(found.structured_content["passages"]) == 2
    assert defined.content[0].text == "No document defines this term."


async def test_without_a_server_the_command_says_what_to_do(tmp_path):
    async with Client(command("--server", f"unix:{tmp_path}/nobody")) as client:
        result = await client.call_tool("ask", {"question": DEVICE_FEE})

    assert result.is_error
    assert "--server" in result.content[0].text


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_command_though_its_input_is_open(filled, stop):
    arguments = [sys.executable, "-m", "cli", "mcp", "--server", filled.grpc]
    hello = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    with subprocess.Popen(
        arguments, cwd=ROOT, env=environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write(hello)
        process.stdin.flush()
        answer = process.stdout.readline()
        process.send_signal(stop)
        code = process.wait(STOP_SECONDS)

    assert b'"id":1' in answer
    assert code == 130


def test_only_messages_are_on_standard_output(filled):
    arguments = [sys.executable, "-m", "cli", "mcp", "--server", filled.grpc]
    done = subprocess.run(
        arguments,
        cwd=ROOT,
        env=environment({}),
        input=b"no message\n",
        capture_output=True,
        timeout=STOP_SECONDS,
        check=False,
    )

    assert (done.returncode, done.stdout, b"Traceback" in done.stderr) == (0, b"", False)
