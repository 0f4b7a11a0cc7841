"""From a folder of files to cited answers, with the commands that a user types."""

import json

import pymupdf
import pytest

from tests.e2e.corpus import DEVICE_FEE, DOCUMENT_IDS, GOVERNING_LAW, UNANSWERABLE
from tests.e2e.processes import clausegate, in_process


def ask(stack, *arguments):
    return in_process("ask", *arguments, "--server", stack.grpc)


@pytest.fixture(scope="module")
def law(ingested):
    return json.loads(ask(ingested[0], GOVERNING_LAW, "--sources", "southport", "--json").stdout)


def test_files_of_five_formats_are_created(ingested):
    _, command = ingested

    outcomes = {each["documentId"]: each["outcome"] for each in json.loads(command.stdout)["documents"]}

    assert command.returncode == 0
    assert outcomes == dict.fromkeys(DOCUMENT_IDS, "CREATED")


def test_every_format_has_chunks(ingested):
    _, command = ingested

    assert all(each["chunkCount"] > 0 for each in json.loads(command.stdout)["documents"])


def test_a_question_is_answered_with_exit_code_0(filled):
    command = clausegate("ask", DEVICE_FEE, "--sources", "northgate", "--server", filled.grpc, "--json")

    assert command.returncode == 0
    assert json.loads(command.stdout)["outcome"] == "OUTCOME_ANSWERED"


def test_citations_of_a_text_are_slices_of_the_file(law, corpus):
    original = (corpus / "southport" / "terms.txt").read_text()
    quotes = [citation["quote"] for citation in law["citations"]]
    spans = [citation["span"] for citation in law["citations"]]

    assert quotes == [original[span["start"] : span["end"]] for span in spans]
    assert "This Agreement shall be governed by the laws of the Republic of Ireland." in quotes


def test_a_citation_of_a_pdf_names_the_page_that_holds_the_quote(filled, corpus):
    answer = json.loads(ask(filled, DEVICE_FEE, "--document", "northgate/fee-schedule.pdf", "--json").stdout)
    citation = next(each for each in answer["citations"] if "95.00" in each["quote"])

    with pymupdf.open(corpus / citation["document"]) as pdf:
        page = " ".join(pdf[citation["page"] - 1].get_text().split())

    assert " ".join(citation["quote"].split()) in page


def test_a_format_without_pages_cites_none(law):
    assert "page" not in law["citations"][0]


def test_every_statement_is_cited(law):
    numbers = {citation["number"] for citation in law["citations"]}

    assert law["statements"]
    assert all(statement["citationNumbers"] for statement in law["statements"])
    assert {n for statement in law["statements"] for n in statement["citationNumbers"]} <= numbers


def test_an_unanswerable_question_is_refused_with_exit_code_3(filled):
    command = clausegate("ask", UNANSWERABLE, "--server", filled.grpc, "--json")

    response = json.loads(command.stdout)
    assert command.returncode == 3
    assert response["outcome"] == "OUTCOME_REFUSED"
    assert response["refusal"]["message"] == "This is not addressed in the provided documents."
    assert response["statements"] == []


def test_a_refusal_names_the_sources_asked(filled):
    command = ask(filled, UNANSWERABLE, "--sources", "southport,northgate", "--json")

    message = json.loads(command.stdout)["refusal"]["message"]
    assert message == "This is not addressed in the provided SOUTHPORT, NORTHGATE documents."


def test_a_refusal_says_what_was_searched(filled):
    command = ask(filled, UNANSWERABLE, "--sources", "southport", "--json")

    assert json.loads(command.stdout)["refusal"]["absence"]["documentsSearched"] == 2


def test_without_the_gate_weak_evidence_is_only_related_with_exit_code_4(filled):
    command = ask(filled, UNANSWERABLE, "--no-gate", "--json")

    response = json.loads(command.stdout)
    assert command.returncode == 4
    assert response["outcome"] == "OUTCOME_RELATED"
    assert response["statements"]


def test_in_a_pipe_the_answer_is_plain_text(filled):
    command = clausegate("ask", GOVERNING_LAW, "--sources", "southport", "--full", "--server", filled.grpc)

    assert command.stdout.startswith("## Answer\n")
    assert "[SOUTHPORT] This Agreement shall be governed" in command.stdout
    assert "## Citations" in command.stdout


def test_in_a_pipe_the_short_form_is_a_quote_and_where_it_stands(filled):
    command = clausegate("ask", GOVERNING_LAW, "--sources", "southport", "--server", filled.grpc)

    assert "> **This Agreement shall be governed" in command.stdout
    assert "\n[1] [SOUTHPORT] " in command.stdout
    assert "## Citations" not in command.stdout


def test_debug_prints_the_record(filled):
    command = ask(filled, GOVERNING_LAW, "--json", "--debug")

    debug = json.loads(command.stdout)["debug"]
    assert debug["originalQuery"] == GOVERNING_LAW
    assert debug["confidenceGate"]["passed"] is True


def test_a_term_is_defined_by_both_sources(filled):
    command = in_process("define", "Subscriber", "--server", filled.grpc, "--json")

    found = json.loads(command.stdout)["definitions"]
    texts = {
        each["source"]: each["text"]
        for resolved in found
        for each in (resolved["definition"], *resolved["conflicting"])
    }
    assert command.returncode == 0
    assert "receives Information from the Licensee" in texts["northgate"]
    assert "a natural person who views Information" in texts["southport"]


def test_a_search_shows_the_clause_first(filled):
    command = in_process("search", "governing law", "--server", filled.grpc, "--json")

    assert json.loads(command.stdout)["candidates"][0]["chunk"]["documentId"] == "southport/terms.txt"


def test_documents_and_sources_are_listed(filled):
    documents = in_process("documents", "--server", filled.grpc, "--json")
    sources = in_process("sources", "--server", filled.grpc, "--json")

    assert [each["documentId"] for each in json.loads(documents.stdout)["documents"]] == DOCUMENT_IDS
    assert [each["source"] for each in json.loads(sources.stdout)["sources"]] == ["northgate", "southport"]


@pytest.mark.parametrize(
    ("arguments", "reason", "named"),
    [
        (["ask", "Any fee?", "--sources", "unknown"], "SOURCE_NOT_FOUND", "sources[0]"),
        (["ask", "Any fee?", "--document", "southport/no.txt"], "DOCUMENT_NOT_FOUND", "documentIds[0]"),
        (["ask", " "], "INVALID_FIELD", "query"),
        (["ask", "x" * 8_001], "INVALID_FIELD", "query"),
        (["remove", "southport/no.txt"], "DOCUMENT_NOT_FOUND", "documentId"),
    ],
)
def test_an_error_is_one_line_with_reason_and_field(filled, arguments, reason, named):
    command = in_process(*arguments, "--server", filled.grpc)

    assert command.returncode == 1
    assert command.stdout == ""
    assert command.stderr.count("\n") == 1
    assert command.stderr.startswith(f"error: {reason}: {named}: ")


def test_an_error_as_json_is_the_problem(filled):
    command = in_process("ask", "Any fee?", "--sources", "unknown", "--server", filled.grpc, "--json")

    assert json.loads(command.stderr)["reason"] == "SOURCE_NOT_FOUND"
    assert command.stdout == ""


def test_an_unreachable_server_is_one_line():
    command = in_process("ask", "Any fee?", "--server", "127.0.0.1:9")

    assert (command.returncode, command.stderr.count("\n")) == (1, 1)
    assert command.stderr.startswith("error: UPSTREAM_UNAVAILABLE: ")


def test_arguments_that_are_not_unicode_are_wrong_usage():
    command = clausegate("ask", b"Any fee\xff?".decode("utf-8", "surrogateescape"))

    assert (command.returncode, command.stderr) == (2, "error: the arguments are not valid UTF-8\n")


def test_wrong_usage_ends_with_exit_code_2():
    assert clausegate("ask").returncode == 2
