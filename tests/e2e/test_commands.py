"""The commands for what models make, against a running stack beside a model that behaves."""

import json

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.e2e.corpus import GOVERNING_LAW, TERMS
from tests.e2e.models import model_in_thread
from tests.e2e.processes import clausegate, embedded_stack


@pytest.fixture(scope="module")
def model():
    with model_in_thread() as model:
        yield model


@pytest.fixture(scope="module")
def server(tmp_path_factory, socket_dirs, free_port, corpus, model):
    folder = tmp_path_factory.mktemp("commands")
    keys = folder / "keys"
    keys.write_text(CliRunner().invoke(app, ["new-signing-key"]).stdout)
    settings = {"OPENAI_BASE_URL": model.url, "CLAUSEGATE_SIGNING_KEYS_FILE": str(keys)}
    with embedded_stack(folder / "data", socket_dirs(), free_port(), **settings) as stack:
        assert clausegate("ingest", str(corpus), "--server", stack.grpc).returncode == 0
        yield stack.grpc


@pytest.fixture
def command(server):
    """Runs a command against the server, in this process."""

    def run(*arguments, text=""):
        return CliRunner().invoke(app, [*arguments, "--server", server], input=text)

    return run


def test_snippets_are_printed_with_their_places(command):
    found = command("snippets", GOVERNING_LAW)

    assert found.exit_code == 0
    assert found.stdout.startswith("[1] ")
    assert "Republic of Ireland" in found.stdout


def test_nothing_found_is_exit_code_3(command):
    found = command("snippets", "xylophone zeppelin?", "--json")

    assert json.loads(found.stdout)["noResults"] is True
    assert found.exit_code == 3


def test_snippets_are_searched_in_a_project(command):
    sources = command("sources", "--json")
    source = json.loads(sources.stdout)["sources"][0]["source"]
    assert command("projects", "create", "first", "--sources", source).exit_code == 0

    found = command("snippets", GOVERNING_LAW, "--project", "first", "--json")
    unknown = command("snippets", GOVERNING_LAW, "--project", "second")
    command("projects", "delete", "first")

    assert {each["sourceId"].split("/")[0] for each in json.loads(found.stdout)["snippets"]} <= {source}
    assert unknown.exit_code == 1
    assert "PROJECT_NOT_FOUND: project: " in unknown.stderr


def test_a_project_keeps_what_an_update_does_not_name(command):
    command("projects", "create", "licences", "--sources", "cme,opra", "--name", "Licences")
    updated = command("projects", "update", "licences", "--sources", "cme", "--json")
    renamed = command("projects", "update", "licences", "--name", "Rules", "--json")
    listed = command("projects", "list")
    deleted = command("projects", "delete", "licences")

    assert json.loads(updated.stdout)["displayName"] == "Licences"
    assert json.loads(renamed.stdout)["sources"] == ["cme"]
    assert listed.stdout.startswith("licences\tRules\tcme\t")
    assert deleted.stdout == "removed licences\n"
    assert command("projects", "show", "licences").exit_code == 1


def test_source_text_is_printed_for_a_writer(command):
    about = ("context", GOVERNING_LAW, "--document", "southport/terms.txt")
    shown = command(*about)
    counted = json.loads(command("context", GOVERNING_LAW, "--tokens", "300", "--json").stdout)
    nothing = command(*about, "--tokens", "1")

    assert shown.exit_code == 0
    assert shown.stdout.startswith('[Source: "terms.txt" (id: southport/terms.txt), Section: "')
    assert "Republic of Ireland" in shown.stdout
    assert 0 < counted["tokenCount"] <= 300
    assert counted["chunksLeftOut"] >= 1
    assert (nothing.exit_code, nothing.stdout) == (3, "")


def test_source_text_needs_a_question_or_a_place(command):
    assert command("context").stderr.startswith("error: INVALID_FIELD: ")


def test_queries_are_lines_of_a_file(command, tmp_path):
    file = tmp_path / "queries.txt"
    made = command("queries", "display fees", "--count", "4", "--output", str(file))

    assert made.stdout == f"4 queries in {file}\n"
    assert len(set(file.read_text().splitlines())) == 4


def test_a_wrong_category_is_named_with_the_right_ones(command):
    made = command("queries", "fees", "--category", "FEES")

    assert made.exit_code == 1
    assert made.stderr.startswith("error: INVALID_FIELD: category: ")
    assert "MARKET_DATA_FEES" in made.stderr


def test_a_text_is_rewritten_from_a_pipe(command):
    for text in ("Pay the fee.", "Pay the fee.\n"):
        assert command("rewrite", "--instruction", "Keep it.", text=text).stdout == "Pay the fee.\n"


def test_the_citations_of_an_answer_hold_until_somebody_changes_one(command):
    answer = command("ask", GOVERNING_LAW, "--json").stdout

    held = command("verify", text=answer)
    changed = command("verify", text=answer.replace("Republic of Ireland", "Republic of Iceland"))

    assert (held.exit_code, changed.exit_code) == (0, 3)
    assert held.stdout.startswith("1\tVALID\tPRESENT\tSouthport Data Terms › ")
    assert changed.stdout.startswith("1\tINVALID\tGONE\t")


def test_a_text_without_citations_is_an_error_of_verify(command):
    assert command("verify", text="Fees are due.").stderr.startswith("error: not JSON")
    assert command("verify", text="{}").exit_code == 1


def test_a_text_is_checked_claim_by_claim(command):
    law = "This Agreement shall be governed by the laws of the Republic of Ireland."
    sound = command("ground", text=law)
    unsound = command("ground", text=f"{law} Nobody ever bakes bread.")

    assert (sound.exit_code, unsound.exit_code) == (0, 3)
    assert sound.stdout.splitlines()[-1] == "1 of 1 claims stand on the documents"
    assert [line.split("\t")[0] for line in unsound.stdout.splitlines()[:2]] == ["VERBATIM", "NOT FOUND"]


def test_an_article_is_compiled_shown_and_compiled_again_when_stale(command, tmp_path):
    source = ("--document", "southport/terms.txt")
    compiled = command("compile", *source, "--id", "terms")
    fresh = command("compile", "--stale")
    shown = command("articles", "show", "terms")

    assert (compiled.stderr, fresh.stdout) == ("", "0 stale articles: 0 compiled\n")
    assert compiled.stdout.startswith("COMPILED\tterms\t")
    assert shown.stdout.startswith("# ")
    assert "- **sourced** " in shown.stdout

    folder = tmp_path / "southport"
    folder.mkdir()
    (folder / "terms.txt").write_text(f"{TERMS}\nSection 4. Notices\n\nNotices are sent by post.\n")
    command("ingest", str(tmp_path))
    stale = command("articles", "list", "--stale")
    again = command("compile", "--stale")
    (folder / "terms.txt").write_text(TERMS)
    command("ingest", str(tmp_path))

    assert stale.stdout.split()[0] == "terms"
    assert again.stdout.splitlines()[-1] == "1 stale article: 1 compiled"
    assert command("articles", "delete", "terms").stdout == "removed terms\n"
    assert command("articles", "show", "terms").exit_code == 1


def test_a_dry_run_shows_what_would_be_sent(command, model):
    model.forget()
    shown = command("ask", GOVERNING_LAW, "--dry-run")

    assert [line.split("\t")[:2] for line in shown.stdout.splitlines()[:2]] == [
        ["grade", "gpt-4.1-mini"],
        ["answer", "gpt-4.1"],
    ]
    assert shown.stdout.splitlines()[-1].endswith("nothing was sent")
    assert (shown.exit_code, model.chats) == (0, [])


def test_an_answer_that_could_cost_too_much_is_not_begun(command):
    asked = command("ask", GOVERNING_LAW, "--max-cost", "0.000001")

    assert asked.exit_code == 1
    assert asked.stderr.startswith("error: BUDGET_EXCEEDED: maxCostUsd: ")


@pytest.mark.parametrize("option", ["--record", "--log-queries"])
def test_what_only_an_own_stack_can_do_is_said_so(command, option, tmp_path):
    arguments = [option, str(tmp_path / "calls")] if option == "--record" else [option]
    asked = command("ask", GOVERNING_LAW, *arguments)

    assert asked.exit_code == 1
    assert asked.stderr.startswith(f"error: {option}: a server ")


@pytest.mark.parametrize(
    "embedding",
    [{}, {"CLAUSEGATE_EMBEDDING_MODEL": "text-embedding-3-large"}],
    ids=["local", "served"],
)
@pytest.mark.soak  # a replay gives the same bytes over sockets, too: tests/contract/test_replay.py
def test_an_answer_is_recorded_and_played_back_without_a_server(corpus, model, tmp_path, embedding):
    data, calls = str(tmp_path / "data"), str(tmp_path / "calls.jsonl")
    beside = {"OPENAI_BASE_URL": model.url, **embedding}
    assert clausegate("ingest", str(corpus), "--data", data, **beside).returncode == 0
    ask = ("ask", GOVERNING_LAW, "--data", data, "--json")

    recorded = clausegate(*ask, "--record", calls, **beside)
    replayed = clausegate(*ask, "--replay", calls, **embedding)

    answers = [json.loads(each.stdout) for each in (recorded, replayed)]
    for answer in answers:
        answer["metadata"].pop("traceId")
    assert answers[0] == answers[1]
    assert answers[0]["metadata"]["model"] == "gpt-4.1"


def test_a_signing_key_is_a_line_of_the_file():
    first, second = (CliRunner().invoke(app, ["new-signing-key"]).stdout for _ in range(2))

    key_id, _, secret = first.strip().partition(":")
    assert key_id.startswith("k2")
    assert len(bytes.fromhex(secret)) == 32
    assert first.partition(":")[2] != second.partition(":")[2]
