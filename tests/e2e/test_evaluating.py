"""Evaluation of one's own documents: a file of questions, a table, JSON and exit codes."""

import json

import pytest

from tests.e2e.corpus import DEVICE_FEE, UNANSWERABLE
from tests.e2e.processes import in_process


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "questions.jsonl"
    fee = {
        "id": "device-fee",
        "question": DEVICE_FEE,
        "expected_documents": ["northgate/fee-schedule.pdf"],
        "expected_chunks": [
            {"document": "northgate/fee-schedule.pdf", "phrase": "display device is USD 95.00 a month"}
        ],
        "expected_terms": ["USD 95.00"],
    }
    silent = {"id": "silent", "question": UNANSWERABLE, "should_refuse": True}
    file.write_text("\n".join(map(json.dumps, (fee, silent))))
    return file


def test_questions_are_asked_and_counted(filled, questions):
    command = in_process("evaluate", str(questions), "--server", filled.grpc, "--json")

    told = json.loads(command.stdout)
    figures = {share["name"]: (share["count"], share["of"]) for share in told["figures"]}
    assert command.returncode == 0
    assert [each["id"] for each in told["questions"]] == ["device-fee", "silent"]
    assert figures["passages found"] == figures["right document first"] == figures["right quote"] == (1, 1)
    assert figures["silent: refused"] == (1, 1)


def test_a_pipe_gets_a_line_for_each_question_and_figure(filled, questions):
    command = in_process("evaluate", str(questions), "--server", filled.grpc)

    lines = [line.split("\t") for line in command.stdout.splitlines()]
    assert ["device-fee", "answered", "yes", "yes", "yes", "yes"] in lines
    assert ["silent: refused", "1 of 1", "1.000"] in lines


def test_a_question_that_fails_is_told_and_the_others_are_asked(filled, questions):
    unknown = {"id": "lost", "question": "Who?", "document_ids": ["northgate/none.pdf"]}
    questions.write_text(f"{questions.read_text()}\n{json.dumps(unknown)}")

    command = in_process("evaluate", str(questions), "--server", filled.grpc, "--json")

    told = json.loads(command.stdout)
    assert command.returncode == 1
    assert [each["failure"] for each in told["questions"]] == ["", "", "DOCUMENT_NOT_FOUND"]


def test_a_wrong_line_ends_the_command_before_anything_is_asked(filled, questions):
    questions.write_text('{"id": "a"}')

    command = in_process("evaluate", str(questions), "--server", filled.grpc)

    assert (command.returncode, command.stdout) == (1, "")
    assert "questions.jsonl:1: question: Field required" in " ".join(command.stderr.split())
