"""Questions asked of each document: a table in a pipe, JSON, a file, and over REST."""

import csv
import json

import httpx
import pytest

from tests.e2e.corpus import DEVICE_FEE, DOCUMENT_IDS, UNANSWERABLE
from tests.e2e.processes import in_process

FEE_FILE = "northgate/fee-schedule.pdf"


def each(stack, *arguments):
    return in_process("ask", "--each", *arguments, "--server", stack.grpc)


def test_a_pipe_gets_a_line_for_each_document(filled):
    command = each(filled, DEVICE_FEE, UNANSWERABLE)

    rows = {row[0]: row[2:] for row in (line.split("\t") for line in command.stdout.splitlines())}
    assert command.returncode == 0
    assert set(rows) == set(DOCUMENT_IDS)
    assert rows[FEE_FILE][0].startswith("“")
    assert "USD 95.00 a month" in rows[FEE_FILE][0]
    assert rows[FEE_FILE][0].endswith("p. 2)")
    assert {silent for _, silent in rows.values()} == {"silent"}


def test_a_file_gets_the_same_as_a_table_that_programs_read(filled, tmp_path):
    file = tmp_path / "answers.csv"
    piped = each(filled, DEVICE_FEE).stdout.splitlines()

    command = each(filled, DEVICE_FEE, "--csv", str(file))

    with file.open(newline="") as opened:
        header, *rows = csv.reader(opened)
    assert (command.returncode, command.stdout) == (0, "")
    assert header == ["document", "title", DEVICE_FEE]
    assert ["\t".join(row) for row in rows] == piped


def test_json_has_the_cells_with_their_citations(filled):
    told = json.loads(each(filled, DEVICE_FEE, "--document", FEE_FILE, "--json").stdout)

    [cell] = told["cells"]
    assert cell["outcome"] == "OUTCOME_ANSWERED"
    assert cell["citations"][0]["document"] == FEE_FILE
    assert told["completed"] == {"answered": 1, "related": 0, "refused": 0, "failed": 0}


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", DEVICE_FEE, UNANSWERABLE),
        ("ask", DEVICE_FEE, "--csv", "x.csv"),
        ("ask", "--each", DEVICE_FEE, "--dry-run"),
    ],
)
def test_options_that_do_not_go_together_are_refused(filled, arguments):
    command = in_process(*arguments, "--server", filled.grpc)

    assert command.returncode == 2
    assert "--each" in command.stderr


def test_rest_streams_the_cells(filled):
    body = {"queries": [DEVICE_FEE], "documentIds": [FEE_FILE]}
    with httpx.stream("POST", f"{filled.url}/v1/query:each", json=body, timeout=60) as response:
        events = [line.removeprefix("event: ") for line in response.iter_lines() if line.startswith("event:")]

    assert response.status_code == 200
    assert events == ["begun", "cell", "completed"]
