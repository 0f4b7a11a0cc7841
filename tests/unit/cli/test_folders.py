import hashlib

import pytest

from cli.folders import FolderError, LocalFile, compare, scan


def test_the_source_is_the_first_folder(tmp_path):
    (tmp_path / "cme" / "fees").mkdir(parents=True)
    (tmp_path / "cme" / "fees" / "2026.pdf").write_bytes(b"x")

    files = scan(tmp_path)

    assert [(file.source, file.path) for file in files] == [("cme", "fees/2026.pdf")]


def test_a_named_source_takes_the_whole_folder(tmp_path):
    (tmp_path / "fees").mkdir()
    (tmp_path / "fees" / "2026.pdf").write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path, "cme")] == ["cme/fees/2026.pdf"]


def test_a_file_in_no_source_folder_is_refused(tmp_path):
    (tmp_path / "loose.pdf").write_bytes(b"x")

    with pytest.raises(FolderError, match=r"loose\.pdf.*--source"):
        scan(tmp_path)


def test_hidden_files_are_no_documents(tmp_path):
    (tmp_path / "cme").mkdir()
    (tmp_path / "cme" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "cme" / "fees.pdf").write_bytes(b"x")

    assert [file.document_id for file in scan(tmp_path)] == ["cme/fees.pdf"]


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
