from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess

import pytest
from typer.testing import CliRunner

from cli.main import app
from services.answer.records.chain import AuditLog
from services.answer.records.lines import Keys
from services.answer.records.rotation import FileLimits, segments
from services.answer.verification.signing import read_keys

COMMAND = CliRunner()
TENANTS = ("acme", "default")


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"k1:{'ab' * 32}\n")
    return path


@pytest.fixture
def logs(tmp_path, key_file):
    """Sealed records of 20 days in several files."""
    folder = tmp_path / "data" / "logs"
    log = AuditLog(folder, "answer-0-0123456789abcdef", Keys(read_keys(key_file)), FileLimits(2_000, 99))
    for day in range(20):
        log.append([record(day)])
    log.close()
    return folder


def record(day):
    return {
        "timestamp": f"2026-01-{day + 1:02}T12:00:00.000Z",
        "query_id": f"q{day}",
        "tenant": TENANTS[day % 2],
        "user_id": "ada",
        "trace_id": f"{day:032x}",
    }


def audit(*arguments):
    return COMMAND.invoke(app, ["audit", *map(str, arguments)], env={"CLAUSEGATE_SIGNING_KEYS_FILE": ""})


def test_a_whole_log_is_told_with_its_head_and_its_seals(logs, key_file):
    result = audit("verify", logs, "--keys", key_file)
    assert result.exit_code == 0
    assert "20 records, 1 to 20, 2026-01-01T12:00:00+00:00 to 2026-01-20T12:00:00+00:00" in result.output
    assert re.search(r"head answer-0-0123456789abcdef:20:[0-9a-f]{64}", result.output)
    assert "seals: 20, from record 1 on, checked" in result.output
    assert "whole: 20 records in 1 chain" in result.output


def test_one_record_is_told_as_one(tmp_path):
    log = AuditLog(tmp_path, "answer-0-0123456789abcdef", Keys(), FileLimits(2_000, 9))
    log.append([record(0)])
    log.close()
    told = audit("verify", tmp_path).output
    assert "  1 record, 1 to 1, " in told
    assert "whole: 1 record in 1 chain" in told


def test_a_pipe_among_the_files_is_told_and_not_waited_for(logs):
    os.mkfifo(logs / "queries-000000000099.jsonl")
    result = audit("verify", logs)
    assert result.exit_code == 1
    assert "queries-000000000099.jsonl: is no regular file" in result.output


def test_a_broken_log_is_told_by_file_and_line(logs):
    file = segments(logs)[-2]
    file.write_bytes(file.read_bytes().replace(b"ada", b"eve", 1))
    told = audit("verify", logs)
    as_json = audit("verify", logs, "--json")
    violation = json.loads(as_json.stdout)["chains"][0]["firstViolation"]
    assert (told.exit_code, as_json.exit_code) == (1, 1)
    assert f"{file.name}, line 1: the line does not have the hash that it states" in told.output
    assert (violation["file"], violation["line"]) == (str(file), 1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("verify", "nowhere"), 2),
        (("verify", "--expect-head", "no head"), 2),
        (("prune",), 2),
        (("prune", "--older-than", "forever"), 2),
        (("verify", "--data", "nowhere"), 1),
    ],
    ids=["no folder", "no head", "no limit", "no duration", "no log"],
)
def test_what_cannot_be_done_has_its_exit_code(arguments, code):
    assert audit(*arguments).exit_code == code


def test_an_expected_head_that_is_cut_off_is_found(logs):
    head = re.search(r"head (\S+)", audit("verify", logs).output)[1]
    assert audit("verify", logs, "--expect-head", head).exit_code == 0
    assert audit("verify", logs, "--expect-head", head.replace(":20:", ":21:")).exit_code == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--trace-id", f"{7:032x}"), ["q7"]),
        (("--query-id", "q3"), ["q3"]),
        (("--tenant", "acme", "--since", "2026-01-15"), ["q14", "q16", "q18"]),
        (("--subject", "ada", "--until", "2026-01-02T12:00:00"), ["q0"]),
        (("--subject", "eve"), []),
    ],
    ids=["trace", "query", "tenant", "subject", "nobody"],
)
def test_an_export_holds_what_was_asked_for_and_stands_in_its_chain(logs, tmp_path, options, expected):
    out = tmp_path / "export.jsonl"
    result = audit("export", logs, *options, "--out", out)
    *lines, statement = out.read_text().splitlines()
    assert result.exit_code == (0 if expected else 3)
    assert [json.loads(line)["query_id"] for line in lines] == expected
    assert json.loads(statement)["export"]["records"] == len(expected)
    assert audit("verify", logs, "--records", out).exit_code == 0
    assert out.stat().st_mode & 0o077 == 0


def test_an_export_overwrites_no_file(logs):
    log = segments(logs)[-1]
    before = log.read_bytes()
    result = audit("export", logs, "--query-id", "q3", "--out", log)
    assert (result.exit_code, log.read_bytes()) == (1, before)
    assert result.stderr == f"error: {log}: File exists\n"


def test_an_export_that_was_changed_does_not_stand_in_the_chain(logs, tmp_path, key_file):
    out = tmp_path / "export.jsonl"
    audit("export", logs, "--query-id", "q3", "--out", out)
    line = out.read_text().splitlines()[0]
    body = line.replace("ada", "eve")[: line.index(', "hash": ')]
    forged = f'{body}, "hash": "{hashlib.sha256(body.encode()).hexdigest()}"}}'
    for changed in (line.replace("ada", "eve"), forged):
        out.write_text(changed + "\n")
        assert audit("verify", logs, "--records", out).exit_code == 1


def without_a_record(lines):
    return lines[1:]


def without_its_statement(lines):
    return lines[:-1]


def with_another_statement(lines):
    return [*lines[:-1], lines[-1].replace('"whole": true', '"whole": false')]


def with_a_statement_made_anew(lines):
    body = lines[-1].partition(', "key_id": ')[0].replace('"records": 2', '"records": 1')
    body += f', "key_id": "k1", "seal": "{"0" * 64}"'
    return [lines[0], f'{body}, "hash": "{hashlib.sha256(body.encode()).hexdigest()}"}}']


def with_more_behind(lines):
    return [*lines, lines[0]]


@pytest.mark.parametrize(
    "changed",
    [
        without_a_record,
        without_its_statement,
        with_another_statement,
        with_a_statement_made_anew,
        with_more_behind,
    ],
)
def test_an_export_from_which_something_is_missing_is_none(logs, tmp_path, key_file, changed):
    out = tmp_path / "export.jsonl"
    audit("export", logs, "--since", "2026-01-19", "--out", out, "--keys", key_file)
    assert audit("verify", logs, "--records", out, "--keys", key_file).exit_code == 0
    out.write_text("".join(f"{line}\n" for line in changed(out.read_text().splitlines())))
    assert audit("verify", logs, "--records", out, "--keys", key_file).exit_code == 1


def test_exported_records_that_retention_has_removed_are_not_said_to_stand(logs, tmp_path, key_file):
    out = tmp_path / "export.jsonl"
    audit("export", logs, "--query-id", "q3", "--out", out)
    audit("prune", logs, "--before", "2026-01-11", "--keys", key_file)
    result = audit("verify", logs, "--records", out, "--keys", key_file)
    assert result.exit_code == 1
    assert "record 4 is not there to be held against its anchor, or its export" in result.output


def test_a_record_can_be_checked_with_sed_and_sha256sum(logs):
    line = (segments(logs)[-1]).read_text().splitlines()[0]
    script = r"""sed -E 's/, "hash": "[0-9a-f]{64}"\}$//' | tr -d '\n' | sha256sum"""
    computed = subprocess.run(["sh", "-c", script], input=line, capture_output=True, text=True, check=True)
    assert computed.stdout.split()[0] == json.loads(line)["hash"]


def test_pruned_records_are_told_and_the_rest_stays_whole(logs, key_file):
    before = len(segments(logs))
    result = audit("prune", logs, "--before", "2026-01-11", "--keys", key_file, "--json")
    told = json.loads(result.stdout)
    verified = audit("verify", logs, "--keys", key_file)
    assert result.exit_code == verified.exit_code == 0
    assert len(segments(logs)) == before - told["removedFiles"]
    assert 0 < told["removedThrough"] <= 10
    assert f"removed by retention: records up to {told['removedThrough']}" in verified.output


def test_a_log_that_is_being_written_is_not_pruned(logs, key_file):
    running = AuditLog(logs, "another", Keys(read_keys(key_file)), FileLimits(2_000, 9))
    running.open()
    result = audit("prune", logs, "--before", "2026-01-11", "--keys", key_file)
    running.close()
    assert result.exit_code == 1
    assert "another process" in result.output
