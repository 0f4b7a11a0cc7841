"""The index made anew by the commands that a user types."""

import hashlib
import json
import shutil

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.e2e.corpus import DOCUMENT_IDS, GOVERNING_LAW, TERMS
from tests.e2e.models import model_in_thread
from tests.e2e.processes import clausegate

OTHER_CHUNKER = {"CLAUSEGATE_CHUNK_TARGET_WORDS": "20", "CLAUSEGATE_CHUNK_MIN_WORDS": "0"}


def outcomes(command):
    return {each["documentId"]: each["outcome"] for each in json.loads(command.stdout)["documents"]}


@pytest.fixture(scope="module")
def data(tmp_path_factory, corpus):
    """A data folder with the five documents."""
    data = tmp_path_factory.mktemp("reindexing") / "data"
    assert clausegate("ingest", str(corpus), "--data", str(data)).returncode == 0
    return data


@pytest.mark.soak  # what goes through ingest again is tested over sockets; this takes 8 s for one command
def test_originals_are_read_again_by_another_chunker(data, tmp_path):
    data = shutil.copytree(data, tmp_path / "data")
    digest = hashlib.sha256(TERMS.encode()).hexdigest()
    (data / "archive" / "default" / "originals" / digest[:2] / digest).unlink()
    again = ("reindex", "--originals", "--data", str(data), "--json")

    some = clausegate(*again, "--sources", "northgate", **OTHER_CHUNKER)
    rest = clausegate(*again, **OTHER_CHUNKER)
    asked = clausegate("ask", GOVERNING_LAW, "--data", str(data), "--json", **OTHER_CHUNKER)

    northgate, southport = DOCUMENT_IDS[:3], DOCUMENT_IDS[3:]
    assert some.returncode == 0
    assert set(outcomes(some)) == set(northgate)
    assert set(outcomes(some).values()) == {"UPDATED"}
    assert rest.returncode == 1
    assert outcomes(rest) == {
        **dict.fromkeys(northgate, "UNCHANGED"),
        **dict(zip(southport, ("UPDATED", "FAILED"), strict=True)),
    }
    assert "The original is not archived: ingest the file again" in rest.stdout
    assert "Republic of Ireland" in json.loads(asked.stdout)["answer"]


@pytest.mark.soak  # the same over sockets: tests/contract/test_reindexing.py
def test_the_index_is_made_anew_with_another_embedding_model(data, tmp_path):
    data = shutil.copytree(data, tmp_path / "data")
    reindex = ("reindex", "--data", str(data))
    with model_in_thread() as model:
        other = {
            "CLAUSEGATE_EMBEDDING_MODEL": "other",
            "CLAUSEGATE_EMBEDDING_DIMENSION": "1536",
            "OPENAI_BASE_URL": model.url,
        }
        refused = clausegate("search", "governing law", "--data", str(data), **other)
        changed = clausegate(*reindex, "--json", **other)
        repeated = clausegate(*reindex, **other)
        found = clausegate("search", "governing law", "--data", str(data), "--json", **other)

    assert "run `clausegate reindex`, or set the embedding model back" in refused.stderr
    assert changed.returncode == 0
    assert json.loads(changed.stdout)["summary"]["documents"] == len(DOCUMENT_IDS)
    assert repeated.stdout == "nothing to do: there is no index but that of other (1536 dimensions)\n"
    assert json.loads(found.stdout)["candidates"][0]["chunk"]["documentId"] == "southport/terms.txt"


def test_an_index_that_is_served_is_not_made_anew(stack):
    data = stack.log.with_name("data")

    command = clausegate("reindex", "--data", str(data))

    assert command.returncode == 1
    assert "is in use by another process; stop it first" in command.stderr


def test_a_model_without_its_server_is_a_wrong_setting(tmp_path):
    command = clausegate("reindex", "--data", str(tmp_path), CLAUSEGATE_EMBEDDING_MODEL="other")

    assert command.returncode == 1
    assert "set OPENAI_API_KEY, or OPENAI_BASE_URL" in command.stderr


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["--originals", "--drop-old"], "nothing old is left to drop"),
        (["--sources", "cme"], "--sources needs --originals"),
        (["--server", "127.0.0.1:7000"], "python -m services.retrieval.reindex"),
    ],
)
def test_options_that_do_not_fit_are_a_matter_of_usage(arguments, advice):
    command = CliRunner().invoke(app, ["reindex", *arguments], env={"COLUMNS": "400"})

    assert command.exit_code == 2
    assert advice in command.stderr


def index_folder(data):
    shutil.rmtree(data / "index")


def index_file(data):
    for file in (data / "index" / "default").glob("store.sqlite*"):
        file.unlink()


@pytest.mark.parametrize("lose", [index_folder, index_file])
def test_a_lost_index_is_no_answer_and_comes_back_from_the_originals(data, tmp_path, lose):
    data = shutil.copytree(data, tmp_path / "data")
    lose(data)

    lost = clausegate("ask", GOVERNING_LAW, "--data", str(data))
    again = clausegate("reindex", "--originals", "--data", str(data), "--json")
    asked = clausegate("ask", GOVERNING_LAW, "--data", str(data), "--json")

    assert lost.returncode == 1
    assert "clausegate reindex --originals" in " ".join((lost.stdout + lost.stderr).split())
    assert outcomes(again) == dict.fromkeys(DOCUMENT_IDS, "CREATED")
    assert "Republic of Ireland" in json.loads(asked.stdout)["answer"]
