import hashlib

import pytest

from cli.folders import FolderError, LocalFile, compare, scan


def test_the_source_is_the_first_folder(tmp_path):
    (tmp_path / "cme" / "fees").mkdir(parents=True)
    (tmp_path / "cme" / "fees" / "2026.pdf").write_bytes(b"x")

    files = scan(tmp_path).files

    assert [(file.source, file.path) for file in files] == [("cme", "fees/2026.pdf")]


def test_a_named_source_takes_the_whole_folder(tmp_path):
    (tmp_path / "fees").mkdir()
    (tmp_path / "fees" / "2026.pdf").write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path, "cme").files] == ["cme/fees/2026.pdf"]


def test_a_file_in_no_source_folder_is_refused(tmp_path):
    (tmp_path / "loose.pdf").write_bytes(b"x")

    with pytest.raises(FolderError, match=r"loose\.pdf.*--source"):
        scan(tmp_path)


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
