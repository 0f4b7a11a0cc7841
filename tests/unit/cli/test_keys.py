import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chassis.access import Scope
from chassis.api_keys import ApiKeys
from chassis.auth import Caller, Refused
from cli.errors import CommandError
from cli.keys import changing, expiry_of, read_keys
from cli.main import app

ROOT = Path(__file__).parents[3]
ANNA = ("--tenant", "acme", "--subject", "anna")
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "keys.json"


def keys(*arguments: str, file: Path, ends: int = 0):
    result = CliRunner().invoke(app, ["keys", *arguments, "--file", str(file)])
    assert result.exit_code == ends, result.output
    return result


def caller_of(file: Path, presented: str) -> Caller:
    return ApiKeys(file).caller_of(presented, NOW)


def listed(file: Path) -> list[dict[str, object]]:
    return json.loads(keys("list", "--json", file=file).stdout)["keys"]


def test_a_key_that_was_made_opens_its_tenant(file):
    presented = keys("create", *ANNA, file=file).stdout.strip()

    caller = caller_of(file, presented)
    assert (caller.tenant, caller.subject) == ("acme", "anna")


def test_a_key_for_which_nothing_else_is_said_asks_and_ingests_everywhere_for_good(file):
    made = json.loads(keys("create", *ANNA, "--json", file=file).stdout)

    assert made["scopes"] == ["ingest", "query"]
    assert (made["sources"], made["expires"], made["expired"]) == (["*"], None, False)


def test_a_key_does_what_was_asked_for_it_and_no_more(file):
    asked = ("--scope", "query", "--source", "cme", "--source", "ice", "--expires", "2999-12-31")
    made = json.loads(keys("create", *ANNA, *asked, "--json", file=file).stdout)

    assert made["expires"] == "2999-12-31T00:00:00+00:00"
    assert caller_of(file, made["apiKey"]) == Caller(
        "acme", "anna", frozenset([Scope.QUERY]), frozenset(["cme", "ice"]), made["keyId"]
    )


@pytest.mark.parametrize(
    ("when", "instant"),
    [
        ("12h", "2026-11-22T00:30:00+00:00"),
        ("90d", "2027-02-19T12:30:00+00:00"),
        ("8w", "2027-01-16T12:30:00+00:00"),
        ("2027-01-31", "2027-01-31T00:00:00+00:00"),
        ("2027-01-31T18:00+01:00", "2027-01-31T17:00:00+00:00"),
        ("2027-01-31T18:00Z", "2027-01-31T18:00:00+00:00"),
    ],
)
def test_an_expiry_is_a_time_from_now_or_an_instant(when, instant):
    assert expiry_of(when, NOW).isoformat() == instant


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("", "expected 12h, 90d"),
        ("0d", "expected 12h, 90d"),
        ("-1d", "expected 12h, 90d"),
        ("999999d", "expected 12h, 90d"),
        ("soon", "expected 12h, 90d"),
        ("2027-01-31T18:00", "needs its zone"),
        ("2026-11-21", "has passed"),
        ("2026-11-21T12:30Z", "has passed"),
    ],
)
def test_an_expiry_that_is_none_is_refused(when, said):
    with pytest.raises(ValueError, match=said):
        expiry_of(when, NOW)


@pytest.mark.parametrize(
    "asked", [("--source", "../cme"), ("--source", ""), ("--expires", "soon"), ("--expires", "2020-01-01")]
)
def test_a_key_that_cannot_be_is_not_made(file, asked):
    assert keys("create", *ANNA, *asked, file=file, ends=1).stderr.startswith("error: ")
    assert not file.exists()


def test_an_unknown_scope_is_a_wrong_use(file):
    assert "owner" in keys("create", *ANNA, "--scope", "owner", file=file, ends=2).stderr


def test_the_list_tells_what_keys_open_and_until_when(file):
    keys("create", *ANNA, "--scope", "admin", "--source", "cme", "--expires", "2999-12-31", file=file)
    keys("create", *ANNA, file=file)
    with changing(file) as known:
        known[1] = replace(known[1], expires=NOW)

    [first, second] = (line.split("\t") for line in keys("list", file=file).stdout.splitlines())
    assert first[3:] == ["admin", "cme", "expires 2999-12-31 00:00"]
    assert second[3:] == ["ingest, query", "all sources", f"expired {NOW:%Y-%m-%d %H:%M}"]
    assert [key["expired"] for key in listed(file)] == [False, True]


def test_a_file_of_the_first_layout_keeps_what_its_keys_may_do(file):
    presented = keys("create", *ANNA, file=file).stdout.strip()
    document = json.loads(file.read_text())
    document["version"] = 1
    for name in ("scopes", "sources", "expires"):
        del document["keys"][0][name]
    file.write_text(json.dumps(document))
    keys("create", *ANNA, file=file)

    assert json.loads(file.read_text())["version"] == 2
    assert caller_of(file, presented).scopes == frozenset(Scope)


def test_the_secret_is_printed_once_and_kept_nowhere(file):
    made = keys("create", *ANNA, file=file)
    secret = made.stdout.strip()[-64:]

    assert (made.stdout + made.stderr).count(secret) == 1
    assert secret not in file.read_text()
    assert secret not in keys("list", file=file).stdout


def test_json_tells_the_key_and_what_is_listed_of_it(file):
    made = json.loads(keys("create", *ANNA, "--json", file=file).stdout)

    assert caller_of(file, made.pop("apiKey")).credential_id == made["keyId"]
    assert listed(file) == [made]
    assert (made["tenant"], made["subject"], made["revoked"]) == ("acme", "anna", None)


def test_keys_are_listed_in_the_order_they_were_made(file):
    for subject in ("anna", "bert", "carl"):
        keys("create", "--tenant", "acme", "--subject", subject, file=file)

    assert [key["subject"] for key in listed(file)] == ["anna", "bert", "carl"]


def test_a_revoked_key_opens_nothing_and_stays_listed(file):
    presented, other = (keys("create", *ANNA, file=file).stdout.strip() for _ in range(2))
    keys("revoke", presented.split("_")[1], file=file)

    with pytest.raises(Refused, match="revoked"):
        caller_of(file, presented)
    assert caller_of(file, other).subject == "anna"
    assert [key["revoked"] is None for key in listed(file)] == [False, True]


def test_a_key_that_is_revoked_again_keeps_the_time(file):
    key_id = keys("create", *ANNA, file=file).stdout.split("_")[1]
    first = json.loads(keys("revoke", key_id, "--json", file=file).stdout)

    assert json.loads(keys("revoke", key_id, "--json", file=file).stdout) == first


def test_an_unknown_key_is_an_error_and_changes_nothing(file):
    keys("create", *ANNA, file=file)
    before = file.read_bytes()

    assert "keys list" in keys("revoke", "0000", file=file, ends=1).stderr
    assert file.read_bytes() == before


@pytest.mark.parametrize("tenant", ["../acme", "a/b", ".", "", "Acme", "a b"])
def test_a_tenant_named_like_a_path_is_refused(file, tenant):
    made = keys("create", "--tenant", tenant, "--subject", "anna", file=file, ends=1)

    assert "a tenant has" in made.stderr
    assert not file.exists()


def test_the_file_comes_from_the_setting_of_the_services(file):
    environment = {"CLAUSEGATE_API_KEYS_FILE": str(file)}
    made = CliRunner().invoke(app, ["keys", "create", *ANNA], env=environment)

    assert made.exit_code == 0
    assert [key["subject"] for key in listed(file)] == ["anna"]


def test_a_new_file_is_its_owners_alone(file):
    keys("create", *ANNA, file=file)

    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_there_keeps_its_mode(file):
    keys("create", *ANNA, file=file)
    file.chmod(0o640)
    keys("create", *ANNA, file=file)

    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_still_leads_to_the_file(file, tmp_path):
    keys("create", *ANNA, file=file)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    keys("create", *ANNA, file=link)

    assert link.is_symlink()
    assert len(listed(file)) == 2


@pytest.mark.parametrize("command", [["create", *ANNA], ["list"], ["revoke", "0000"]])
def test_a_pipe_is_no_file_of_keys_and_is_not_waited_for(file, command):
    os.mkfifo(file)

    assert "not a regular file" in " ".join(keys(*command, file=file, ends=1).stderr.split())


def test_a_file_that_is_nested_too_deeply_is_no_file_of_keys(file):
    file.write_text("[" * 100_000)

    assert "not a file of API keys" in " ".join(keys("list", file=file, ends=1).stderr.split())


@pytest.mark.parametrize("command", [["create", *ANNA], ["list"], ["revoke", "0000"]])
def test_a_broken_file_is_named_and_left_as_it_is(file, command):
    file.write_text("half a fi")

    assert "not a file of API keys" in " ".join(keys(*command, file=file, ends=1).stderr.split())
    assert file.read_text() == "half a fi"


@pytest.mark.parametrize("command", [["list"], ["revoke", "0000"]])
def test_a_missing_file_is_not_made_but_by_create(file, command):
    keys(*command, file=file, ends=1)

    assert not file.exists()


def test_a_missing_folder_is_an_error(tmp_path):
    assert "No such file" in keys("create", *ANNA, file=tmp_path / "no" / "keys.json", ends=1).stderr


def test_a_change_that_fails_writes_nothing(file):
    keys("create", *ANNA, file=file)

    def clear_and_fail() -> None:
        with changing(file) as known:
            known.clear()
            raise CommandError("no")

    with pytest.raises(CommandError):
        clear_and_fail()
    assert len(read_keys(file)) == 1


def test_keys_made_at_once_are_all_kept(file):
    def make(number: int) -> str:
        arguments = ["keys", "create", "--tenant", "acme", "--subject", f"s{number}", "--file", str(file)]
        made = subprocess.run(
            [sys.executable, "-m", "cli", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return made.stdout.strip()

    with ThreadPoolExecutor(2) as threads:
        presented = list(threads.map(make, range(2)))

    assert [caller_of(file, each).subject for each in presented] == ["s0", "s1"]
