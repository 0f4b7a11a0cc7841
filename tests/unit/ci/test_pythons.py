from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.starving import busy, main

PROGRAM = Path(__file__).resolve().parents[3] / ".ci" / "pythons.py"


@pytest.fixture(scope="module")
def pythons():
    spec = importlib.util.spec_from_file_location("ci_pythons", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def interpreter(folder, minor, says, status=0):
    """A program that says of itself what a Python would."""
    folder.mkdir(exist_ok=True)
    program = folder / f"python3.{minor}"
    program.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    program.chmod(0o755)
    return folder


def said(version, program="/x"):
    numbers = ", ".join(version.split("."))
    return f'["{version}", [{numbers}], "{program}"]'


def test_interpreters_come_oldest_first_with_all_patch_levels_and_each_version_once(pythons, tmp_path):
    folders = [
        interpreter(tmp_path / "new", 13, said("3.13.0")),
        interpreter(tmp_path / "ten", 11, said("3.11.10")),
        interpreter(tmp_path / "two", 11, said("3.11.2", "/first")),
        interpreter(tmp_path / "again", 11, said("3.11.2", "/second")),
    ]

    found = pythons.found([*folders, tmp_path / "missing"])

    assert [each.name for each in found] == ["3.11.2", "3.11.10", "3.13.0"]
    assert found[0].program == "/first"
    assert [each.name for each in pythons.ends(found)] == ["3.11.2", "3.13.0"]
    assert pythons.ends(found[:1]) == found[:1]


@pytest.mark.parametrize(
    ("says", "status"), [("command not found", 127), ("nonsense", 0), (said("3.11.1"), 1)]
)
def test_a_program_that_does_not_run_is_none(pythons, tmp_path, says, status):
    assert pythons.found([interpreter(tmp_path / "shims", 11, says, status)]) == []


def test_other_minors_are_left_alone(pythons, tmp_path):
    assert pythons.found([interpreter(tmp_path / "old", 10, said("3.10.13"))]) == []


def test_the_folders_of_pyenv_are_looked_into(pythons, tmp_path):
    (tmp_path / "versions" / "3.12.1" / "bin").mkdir(parents=True)

    folders = list(pythons.folders_of("/a::/b", tmp_path))

    assert folders == [Path("/a"), Path("/b"), tmp_path / "versions" / "3.12.1" / "bin"]


def test_no_interpreter_is_a_failure_that_says_so(pythons, tmp_path, capsys):
    assert pythons.main(["tests/unit"], [tmp_path]) == 2
    assert "no python3.11 to python3.14 was found" in capsys.readouterr().err


def test_an_interpreter_that_gets_no_environment_fails_the_run(pythons, tmp_path, capsys):
    folder = interpreter(tmp_path / "broken", 11, said("3.11.99", str(tmp_path / "gone")))

    assert pythons.main(["tests/unit"], [folder]) == 1
    assert "Python 3.11.99 FAILED: its environment could not be made" in capsys.readouterr().out


def test_busy_processes_end_with_what_they_were_beside():
    with busy(2) as processes:
        folders = [Path("/proc") / str(process) for process in processes]
        assert all(folder.exists() for folder in folders)

    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_beside_busy_processes_keeps_its_status(status):
    assert main(1, [sys.executable, "-c", f"raise SystemExit({status})"]) == status


def test_a_run_that_is_stopped_leaves_no_busy_process():
    waiting = [sys.executable, "-c", "import time; time.sleep(60)"]
    command = [sys.executable, "-m", "tests.starving", "1", *waiting]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        _, _, process = run.stdout.readline().rpartition(" ")
        run.terminate()
        run.wait(60)

    assert run.returncode == 143
    assert not (Path("/proc") / process.strip()).exists()
