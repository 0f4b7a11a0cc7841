import json

import pytest
from rich.text import Text

from clausegate import ClausegateError, InvalidField
from clausegate.corpus.v1.span_pb2 import Span
from cli.errors import CallFailed, CommandError
from cli.ingestion import FileResult, Outcome
from cli.output import Output
from cli.tables import print_results, print_table

INVALID = ClausegateError(
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "must not be empty",
    (InvalidField("document_ids[0]", "must not be empty"),),
)
PROBLEM = {
    "title": "Invalid field",
    "detail": "must not be empty",
    "reason": "INVALID_FIELD",
    "errors": [{"field": "documentIds[0]", "description": "must not be empty"}],
}


def test_a_problem_is_one_line_with_its_fields(capsys):
    Output(as_json=False).failed(CallFailed(INVALID))

    assert capsys.readouterr().err == "error: INVALID_FIELD: documentIds[0]: must not be empty\n"


def test_a_problem_is_json_where_json_is_spoken(capsys):
    Output(as_json=True).failed(CallFailed(INVALID))

    captured = capsys.readouterr()
    assert json.loads(captured.err) == PROBLEM
    assert captured.out == ""


@pytest.mark.parametrize(
    ("code", "reason", "message", "line"),
    [
        ("RESOURCE_EXHAUSTED", "OVERLOADED", "try later", "OVERLOADED: try later"),
        (
            "UNAUTHENTICATED",
            "UNAUTHENTICATED",
            "A key is needed.",
            "UNAUTHENTICATED: A key is needed. Commands present what CLAUSEGATE_CREDENTIAL holds.",
        ),
        ("UNAVAILABLE", "", "no route", "UPSTREAM_UNAVAILABLE: the server: no route"),
        (
            "UNIMPLEMENTED",
            "",
            "Received http2 header with status: 404",
            "UNIMPLEMENTED: Received http2 header with status: 404",
        ),
    ],
)
def test_a_failure_without_fields_is_its_message(code, reason, message, line):
    assert str(CallFailed(ClausegateError(code, reason, message))) == line


def test_a_problem_says_when_to_try_again():
    failed = CallFailed(ClausegateError("RESOURCE_EXHAUSTED", "OVERLOADED", "try later", (), 1.5))

    assert failed.problem()["retryAfterSeconds"] == 1.5


def test_an_error_of_a_command_is_one_line_even_with_brackets(capsys):
    Output(as_json=False).failed(CommandError("[red]odd[/red] name"))

    assert capsys.readouterr().err == "error: [red]odd[/red] name\n"


def test_a_message_is_printed_in_its_proto3_form(capsys):
    Output(as_json=True).json(Span(start=0, end=3))

    assert json.loads(capsys.readouterr().out) == {"start": 0, "end": 3}


def test_results_in_a_pipe_are_lines_with_tabs(capsys):
    results = [
        FileResult("cme/a.pdf", Outcome.CREATED, 12, unreadable_pages=(3, 4), scanned_pages=(1,)),
        FileResult("cme/c.pdf", Outcome.CREATED, hidden_characters=9, reference_marks=1, running_lines=14),
        FileResult("cme/d.txt", Outcome.UPDATED, 3, guessed_encoding="windows-1252"),
        FileResult("cme/b.pdf", Outcome.FAILED, reason="DOCUMENT_CORRUPT: is\nbroken"),
    ]

    print_results(Output(as_json=False).console, results)

    assert capsys.readouterr().out.splitlines() == [
        "CREATED\tcme/a.pdf\t12\t2 pages without readable text: 3, 4; "
        "1 page whose words stand invisibly over an image: 1",
        "CREATED\tcme/c.pdf\t\t9 characters hidden from readers, left out; "
        "1 mark of footnotes and references, left out; 14 lines of running headers and footers, left out",
        "UPDATED\tcme/d.txt\t3\tread as windows-1252, a guess",
        "FAILED\tcme/b.pdf\t\tDOCUMENT_CORRUPT: is broken",
        "4 documents: 2 created, 1 updated, 1 failed",
    ]


def test_json_steers_no_terminal_and_reads_the_same(capsys):
    document = {"title": "a\x9b2J\u202eb\x1b[2J§"}
    Output(as_json=True).json(document)
    printed = capsys.readouterr().out
    assert json.loads(printed) == document
    assert not {"\x9b", "\u202e", "\x1b"} & set(printed)
    assert "§" in printed


def test_lists_and_errors_steer_no_terminal(capsys):
    output = Output(as_json=False)
    print_table(output.console, ("Name",), [("a\x1b[2Jb",), (Text("c\x9bd"),)])
    output.failed(CommandError("no such \x1b[2Jthing"))
    printed = capsys.readouterr()
    assert printed.out == "a\ufffd[2Jb\nc\ufffdd\n"
    assert printed.err == "error: no such \ufffd[2Jthing\n"
