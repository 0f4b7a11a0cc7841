import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.folders import FolderError, LocalFile, compare, safe_source, scan
from services.ingest.addresses import DocumentAddress


def test_the_source_is_the_first_folder(tmp_path):
    (tmp_path / "cme" / "fees").mkdir(parents=True)
    (tmp_path / "cme" / "fees" / "2026.pdf").write_bytes(b"x")

    files = scan(tmp_path).files

    assert [(file.source, file.path) for file in files] == [("cme", "fees/2026.pdf")]


def test_a_named_source_takes_the_whole_folder(tmp_path):
    (tmp_path / "fees").mkdir()
    (tmp_path / "fees" / "2026.pdf").write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path, "cme").files] == ["cme/fees/2026.pdf"]


def test_a_folder_with_files_of_its_own_is_one_source(tmp_path):
    folder = tmp_path / "Verträge (2026)"
    (folder / "notices").mkdir(parents=True)
    (folder / "licence.pdf").write_bytes(b"x")
    (folder / "notices" / "fees.txt").write_bytes(b"x")

    found = scan(folder)

    assert [file.document_id for file in found.files] == [
        "vertrage-2026/licence.pdf",
        "vertrage-2026/notices/fees.txt",
    ]
    assert found.renamed == {"Verträge (2026)": "vertrage-2026"}


def test_a_folder_that_is_named_as_a_source_is_not_told(tmp_path):
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "a.pdf").write_bytes(b"x")

    assert scan(tmp_path / "contracts").renamed == {}


def test_the_working_folder_has_its_own_name(tmp_path, monkeypatch):
    (tmp_path / "Contracts").mkdir()
    (tmp_path / "Contracts" / "a.pdf").write_bytes(b"x")
    monkeypatch.chdir(tmp_path / "Contracts")

    assert [file.document_id for file in scan(Path(".")).files] == ["contracts/a.pdf"]


def test_the_names_of_folders_are_made_safe(tmp_path):
    for name in ("Acme Corp.", "globex"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.pdf").write_bytes(b"x")

    found = scan(tmp_path)

    assert [file.document_id for file in found.files] == ["acme-corp/a.pdf", "globex/a.pdf"]
    assert found.renamed == {"Acme Corp.": "acme-corp"}


def test_two_folders_are_never_one_source(tmp_path):
    for name in ("Acme Corp", "acme-corp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.pdf").write_bytes(b"x")

    with pytest.raises(FolderError, match="`Acme Corp` and `acme-corp` would both be the source `acme-corp`"):
        scan(tmp_path)


@given(st.text(min_size=1))
def test_every_name_becomes_a_source_that_the_service_takes(name):
    assert DocumentAddress(safe_source(name), "a.pdf").document_id


@pytest.mark.parametrize(
    "name",
    ["Thumbs.db", "thumbs.DB", "desktop.ini", "~$licence.docx", "a.tmp", "__MACOSX/a.pdf", ".git/a.pdf"],
)
def test_what_systems_leave_behind_is_no_document(tmp_path, name):
    for path in (tmp_path / "cme" / name, tmp_path / "cme" / "fees.pdf"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path).files] == ["cme/fees.pdf"]


def test_hidden_files_are_no_documents(tmp_path):
    (tmp_path / "cme").mkdir()
    (tmp_path / "cme" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "cme" / "fees.pdf").write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path).files] == ["cme/fees.pdf"]


@pytest.fixture
def linked(tmp_path):
    """A folder with links to a file, a folder and a loop of its own, and to those of somebody else."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "keys.txt").write_bytes(b"x")
    own = tmp_path / "own" / "cme"
    own.mkdir(parents=True)
    (own / "fees.pdf").write_bytes(b"x")
    (own / "same.pdf").symlink_to("fees.pdf")
    (own / "file.txt").symlink_to(tmp_path / "secret" / "keys.txt")
    (own / "up.txt").symlink_to("../../secret/keys.txt")
    (own / "folder").symlink_to(tmp_path / "secret")
    (own / "loop").symlink_to("loop")
    (own / "nowhere.txt").symlink_to("gone.txt")
    return tmp_path / "own"


def test_links_that_lead_out_of_the_folder_are_left_out_and_named(linked):
    found = scan(linked)

    assert [file.path for file in found.files] == ["fees.pdf", "same.pdf"]
    assert [link.name for link in found.left_out] == ["file.txt", "folder", "loop", "nowhere.txt", "up.txt"]


def test_a_source_that_is_a_link_is_left_out(linked, tmp_path):
    (linked / "ice").symlink_to(tmp_path / "secret")

    assert {file.source for file in scan(linked).files} == {"cme"}
    assert linked / "ice" in scan(linked).left_out


def test_a_folder_that_is_named_by_a_link_is_read(linked, tmp_path):
    (tmp_path / "alias").symlink_to(linked)

    assert [file.path for file in scan(tmp_path / "alias").files] == ["fees.pdf", "same.pdf"]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FolderError, match="no files; put documents"):
        scan(tmp_path)


def test_a_hash_is_that_of_the_bytes(tmp_path):
    (tmp_path / "fees.pdf").write_bytes(b"bytes")

    file = LocalFile(tmp_path / "fees.pdf", "cme", "fees.pdf")

    assert file.sha256() == hashlib.sha256(b"bytes").hexdigest()


def test_a_file_that_cannot_be_read_has_no_hash(tmp_path):
    assert LocalFile(tmp_path / "gone.pdf", "cme", "gone.pdf").sha256() == ""


def test_a_name_that_is_not_unicode_is_told(tmp_path):
    file = LocalFile(tmp_path, "cme", "fee\udcff.pdf")

    assert not file.has_sound_name
    assert file.document_id == "cme/fee?.pdf"


def test_a_folder_is_compared_with_the_index(tmp_path):
    same, changed, new = (LocalFile(tmp_path / name, "cme", name) for name in ("same", "changed", "new"))
    indexed = {"cme/same": "1", "cme/changed": "0", "cme/gone": "4"}

    plan = compare([same, changed, new], ["1", "2", "3"], indexed)

    assert plan.unchanged == (same,)
    assert plan.upload == (changed, new)
    assert plan.vanished == ("cme/gone",)
