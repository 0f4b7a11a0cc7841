import io
import sys

import pytest

from cli.errors import CommandError
from cli.files import MAX_BYTES, read_text, write_text


def test_a_file_is_read_without_its_byte_order_mark(tmp_path):
    file = tmp_path / "draft.txt"
    file.write_bytes(b"\xef\xbb\xbfThe fee is \xc2\xa7 1.")

    assert read_text(str(file)) == "The fee is § 1."


def test_standard_input_is_a_dash(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe")))

    assert read_text("-") == "from a pipe"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"caf\xe9", "not valid UTF-8 at byte 3"), (b"x" * (MAX_BYTES + 1), "more than 16 MiB")],
    ids=["encoding", "size"],
)
def test_what_cannot_be_text_is_named(tmp_path, content, problem):
    file = tmp_path / "draft.txt"
    file.write_bytes(content)

    with pytest.raises(CommandError, match=f"draft.txt: {problem}"):
        read_text(str(file))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(CommandError, match=r"missing\.txt: No such file"):
        read_text(str(tmp_path / "missing.txt"))
    with pytest.raises(CommandError, match="Is a directory"):
        read_text(str(tmp_path))


def test_a_written_file_is_replaced_whole_and_nothing_else_is_left(tmp_path):
    file = tmp_path / "queries.txt"
    file.write_text("old\n")

    write_text(file, "market data fees\nüber alles\n")

    assert file.read_text(encoding="utf-8") == "market data fees\nüber alles\n"
    assert list(tmp_path.iterdir()) == [file]


def test_the_file_behind_a_link_is_replaced_and_the_link_stays(tmp_path):
    file, link = tmp_path / "queries.txt", tmp_path / "link"
    file.write_text("old\n")
    link.symlink_to(file)

    write_text(link, "new\n")

    assert link.is_symlink()
    assert file.read_text() == "new\n"


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()

    with pytest.raises(CommandError, match="folder: Is a directory"):
        write_text(folder, "x")
    with pytest.raises(CommandError, match="No such file"):
        write_text(tmp_path / "missing" / "queries.txt", "x")
    assert list(tmp_path.iterdir()) == [folder]
