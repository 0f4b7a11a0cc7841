"""What becomes of a folder that changes, with the commands that a user types and a stack of their own."""

import json
import os

import pytest

from tests.e2e.corpus import GOVERNING_LAW, write_agreement
from tests.e2e.processes import clausegate

TERMS = "DATA TERMS\n\nSection 1. Governing Law\n\nThis Agreement shall be governed by the laws of {}.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that went through three ingestions, and what each printed."""
    root = tmp_path_factory.mktemp("changing")
    files, data = root / "files", root / "data"
    (files / "southport").mkdir(parents=True)
    write_agreement(files / "southport" / "agreement.docx")
    (files / "southport" / "terms.txt").write_text(TERMS.format("the Republic of Ireland"))
    first = clausegate("ingest", str(files), "--data", str(data), "--json")
    (files / "southport" / "terms.txt").write_text(TERMS.format("the Kingdom of Norway"))
    (files / "southport" / "agreement.docx").unlink()
    (files / "southport" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (files / "southport" / "empty.txt").write_bytes(b"")
    (files / "southport" / os.fsdecode(b"name-\xff.txt")).write_text("Fees.")
    (files / "southport" / "latin.txt").write_bytes("Geb\xfchr".encode("latin-1"))
    second = clausegate("ingest", str(files), "--data", str(data), "--prune", "--json")
    third = clausegate("ingest", str(files / "southport"), "--source", "southport", "--data", str(data))
    return data, first, second, third


def outcomes(command):
    return {each["documentId"]: each["outcome"] for each in json.loads(command.stdout)["documents"]}


def test_an_own_stack_keeps_what_it_ingested(folder):
    data, first, _, _ = folder

    listed = clausegate("documents", "--data", str(data), "--json")

    assert first.returncode == 0
    assert [each["documentId"] for each in json.loads(listed.stdout)["documents"]] == ["southport/terms.txt"]


def test_a_changed_file_is_updated_and_a_vanished_one_removed(folder):
    _, _, second, _ = folder

    assert outcomes(second)["southport/terms.txt"] == "UPDATED"
    assert outcomes(second)["southport/agreement.docx"] == "REMOVED"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken.pdf", "DOCUMENT_CORRUPT"),
        ("empty.txt", "DOCUMENT_EMPTY"),
        ("latin.txt", "DOCUMENT_ENCODING"),
        ("name-?.txt", "the file's name is not valid UTF-8"),
    ],
)
def test_a_bad_file_fails_alone_with_its_reason(folder, name, reason):
    _, _, second, _ = folder

    failed = {each["documentId"]: each for each in json.loads(second.stdout)["documents"]}[
        f"southport/{name}"
    ]

    assert second.returncode == 1
    assert failed["outcome"] == "FAILED"
    assert failed["reason"].startswith(reason)


def test_what_is_indexed_already_is_unchanged(folder):
    _, _, _, third = folder

    assert "UNCHANGED\tsouthport/terms.txt" in third.stdout


def test_the_new_version_answers(folder):
    data, _, _, _ = folder

    command = clausegate("ask", GOVERNING_LAW, "--data", str(data), "--json")

    assert "Kingdom of Norway" in json.loads(command.stdout)["answer"]


def test_the_audit_record_is_echoed(folder):
    data, _, _, _ = folder

    command = clausegate("ask", GOVERNING_LAW, "--data", str(data), "--json", "--log-queries")

    record = json.loads(command.stderr)
    assert record["query"] == GOVERNING_LAW
    assert record["refused"] is False


def test_a_data_folder_in_use_is_named(stack):
    data = stack.log.with_name("data")

    command = clausegate("documents", "--data", str(data))

    assert command.returncode == 1
    assert "is in use by another process; name its gateway" in command.stderr


def test_a_removed_document_no_longer_answers(tmp_path):
    (tmp_path / "files" / "southport").mkdir(parents=True)
    (tmp_path / "files" / "southport" / "terms.txt").write_text(TERMS.format("Ireland"))
    data = str(tmp_path / "data")
    clausegate("ingest", str(tmp_path / "files"), "--data", data)

    removed = clausegate("remove", "southport/terms.txt", "--data", data)
    command = clausegate("ask", GOVERNING_LAW, "--data", data, "--json")

    assert removed.returncode == 0
    assert command.returncode == 3
    assert json.loads(command.stdout)["refusal"]["reason"] == "REFUSAL_REASON_NO_CHUNKS_RETRIEVED"
