"""What becomes of a folder that changes, with the commands that a user types and a stack of their own."""

import json
import os
from dataclasses import dataclass
from subprocess import CompletedProcess

import pytest

from tests.e2e.corpus import GOVERNING_LAW, write_agreement
from tests.e2e.processes import clausegate, in_process

TERMS = "DATA TERMS\n\nSection 1. Governing Law\n\nThis Agreement shall be governed by the laws of {}.\n"


@dataclass(frozen=True)
class Told:
    """What commands printed, in the order in which they ran."""

    first: CompletedProcess[str]
    second: CompletedProcess[str]
    third: CompletedProcess[str]
    listed: CompletedProcess[str]
    asked: CompletedProcess[str]
    removed: CompletedProcess[str]
    asked_again: CompletedProcess[str]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A folder that goes through three ingestions, is asked, and loses its last document."""
    root = tmp_path_factory.mktemp("changing")
    files, data = root / "files", ("--data", str(root / "data"))
    (files / "southport").mkdir(parents=True)
    write_agreement(files / "southport" / "agreement.docx")
    (files / "southport" / "terms.txt").write_text(TERMS.format("the Republic of Ireland"))
    first = clausegate("ingest", str(files), *data, "--json")
    (files / "southport" / "terms.txt").write_text(TERMS.format("the Kingdom of Norway"))
    (files / "southport" / "agreement.docx").unlink()
    (files / "southport" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (files / "southport" / "empty.txt").write_bytes(b"")
    (files / "southport" / os.fsdecode(b"name-\xff.txt")).write_text("Fees.")
    (files / "southport" / "cyrillic.txt").write_bytes("Плата".encode("cp1251"))
    return Told(
        first,
        clausegate("ingest", str(files), *data, "--prune", "--json"),
        in_process("ingest", str(files / "southport"), "--source", "southport", *data),
        in_process("documents", *data, "--json"),
        clausegate("ask", GOVERNING_LAW, *data, "--json", "--log-queries"),
        in_process("remove", "southport/terms.txt", *data),
        in_process("ask", GOVERNING_LAW, *data, "--json"),
    )


def outcomes(command):
    return {each["documentId"]: each["outcome"] for each in json.loads(command.stdout)["documents"]}


def test_an_own_stack_keeps_what_it_ingested(told):
    assert told.first.returncode == 0
    assert [each["documentId"] for each in json.loads(told.listed.stdout)["documents"]] == [
        "southport/terms.txt"
    ]


def test_a_changed_file_is_updated_and_a_vanished_one_removed(told):
    assert outcomes(told.second)["southport/terms.txt"] == "UPDATED"
    assert outcomes(told.second)["southport/agreement.docx"] == "REMOVED"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken.pdf", "DOCUMENT_CORRUPT"),
        ("empty.txt", "DOCUMENT_EMPTY"),
        ("cyrillic.txt", "DOCUMENT_ENCODING"),
        ("name-?.txt", "the file's name is not valid UTF-8"),
    ],
)
def test_a_bad_file_fails_alone_with_its_reason(told, name, reason):
    documents = json.loads(told.second.stdout)["documents"]
    [failed] = [each for each in documents if each["documentId"] == f"southport/{name}"]

    assert told.second.returncode == 1
    assert failed["outcome"] == "FAILED"
    assert failed["reason"].startswith(reason)


def test_what_is_indexed_already_is_unchanged(told):
    assert "UNCHANGED\tsouthport/terms.txt" in told.third.stdout


def test_the_new_version_answers(told):
    assert "Kingdom of Norway" in json.loads(told.asked.stdout)["answer"]


def test_the_audit_record_is_echoed(told):
    record = json.loads(told.asked.stderr)
    assert record["query"] == GOVERNING_LAW
    assert record["refused"] is False


def test_a_data_folder_in_use_is_named(stack):
    data = stack.log.with_name("data")

    command = clausegate("documents", "--data", str(data))

    assert command.returncode == 1
    assert "is in use by another process; name its address" in command.stderr


def test_a_removed_document_no_longer_answers(told):
    assert told.removed.returncode == 0
    assert told.asked_again.returncode == 3
    assert json.loads(told.asked_again.stdout)["refusal"]["reason"] == "REFUSAL_REASON_NO_CHUNKS_RETRIEVED"
