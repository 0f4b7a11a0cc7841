"""Runs tests on the Pythons of this machine: `python .ci/pythons.py [--ends] TESTS...`.

Looks for python3.11 to python3.14 on PATH and among pyenv's, several patch levels of one minor among them.
Each gets an environment of its own below .cache/pythons, made from requirements.lock by uv and kept until
the lock changes. With --ends only the oldest and the newest are tried. Prints a line for each; the whole
output of its tests is in a file beside its environment. Exit status: 0 when the tests passed on all of
them, 1 when they failed on one or could not be run there, 2 when no Python was found.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".cache" / "pythons"
MINORS = range(11, 15)
FAILED, NONE_FOUND = 1, 2
_ASKED = """
import json, platform, sys
print(json.dumps([platform.python_version(), sys.version_info[:3], sys.executable]))
"""
_MADE_FROM = ("requirements.lock", "pyproject.toml")


@dataclass(frozen=True, slots=True, order=True)
class Interpreter:
    """A Python of this machine."""

    version: tuple[int, ...]
    name: str
    """Its version as it says it: `3.13.0`, `3.14.0rc1`."""
    program: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the tests on an interpreter."""

    passed: bool
    words: str
    """The last line of its output, as in `6462 passed, 7 skipped in 180.12s`."""


def found(folders: Iterable[Path]) -> list[Interpreter]:
    """The interpreters in folders, oldest first, of each version the first."""
    programs = [folder / f"python3.{minor}" for folder in folders for minor in MINORS]
    known: dict[str, Interpreter] = {}
    for interpreter in filter(None, map(_asked, programs)):
        known.setdefault(interpreter.name, interpreter)
    return sorted(known.values())


def folders_of(path: str, pyenv: Path) -> Iterator[Path]:
    """Where interpreters may be: the folders of PATH, and those of pyenv's versions."""
    yield from (Path(folder) for folder in path.split(":") if folder)
    yield from sorted(pyenv.glob("versions/*/bin"))


def _asked(program: Path) -> Interpreter | None:
    """What a program says of itself; None when it is not there, or does not run, as a shim of pyenv's may."""
    try:
        said = subprocess.run([program, "-c", _ASKED], capture_output=True, check=True, timeout=60).stdout
        name, version, executable = json.loads(said)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(tuple(version), name, executable)


def ends(interpreters: Sequence[Interpreter]) -> list[Interpreter]:
    """The oldest and the newest; one when there is but one."""
    return sorted({interpreters[0], interpreters[-1]}) if interpreters else []


def environment(interpreter: Interpreter) -> Path:
    """The folder of its environment, made when it is missing or of another lock.

    Raises `CalledProcessError` when packages of the lock do not install.
    """
    folder = KEPT / interpreter.name
    stamp = folder / "made-from"
    wanted = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in _MADE_FROM)).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    install = ["pip", "install", "--quiet", "--python", folder / "bin" / "python"]
    _uv("venv", "--quiet", "--clear", "--python", interpreter.program, folder)
    _uv(*install, "--require-hashes", "--requirement", ROOT / "requirements.lock")
    _uv(*install, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    stamp.write_text(wanted)
    return folder


def _uv(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "uv", *arguments], cwd=ROOT, check=True)


def tried(interpreter: Interpreter, tests: Sequence[str]) -> Outcome:
    """The outcome of tests on an interpreter, in its own environment."""
    began = time.monotonic()
    try:
        folder = environment(interpreter)
    except subprocess.CalledProcessError as failed:
        return Outcome(False, f"its environment could not be made: {failed}")
    output = KEPT / f"{interpreter.name}.txt"
    options = ["-m", "not soak", "-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]
    command = [folder / "bin" / "python", "-m", "pytest", *options, "--no-loadscope-reorder", *tests]
    with output.open("w") as written:
        status = subprocess.run(
            [*command, "-p", "no:cacheprovider"], cwd=ROOT, stdout=written, stderr=written
        )
    lines = output.read_text().splitlines() or [""]
    failures = [f"\n    {line}" for line in lines if line.startswith(("FAILED ", "ERROR "))]
    where = "" if status.returncode == 0 else f" (all of it: {output.relative_to(ROOT)})"
    took = f"{time.monotonic() - began:.0f} s with its environment"
    return Outcome(status.returncode == 0, f"{lines[-1].strip('= ')}; {took}{where}{''.join(failures)}")


def main(arguments: Sequence[str], folders: Iterable[Path]) -> int:
    """Run the tests on all interpreters of some folders, or with `--ends` on the oldest and the newest."""
    tests = [argument for argument in arguments if argument != "--ends"]
    interpreters = found(folders)
    if "--ends" in arguments:
        interpreters = ends(interpreters)
    if not interpreters:
        print(
            "error: no python3.11 to python3.14 was found on PATH or among pyenv's versions", file=sys.stderr
        )
        return NONE_FOUND
    passed = []
    for interpreter in interpreters:
        outcome = tried(interpreter, tests)
        passed.append(outcome.passed)
        print(
            f"Python {interpreter.name} {'passed' if outcome.passed else 'FAILED'}: {outcome.words}",
            flush=True,
        )
    return 0 if all(passed) else FAILED


if __name__ == "__main__":
    import os

    PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")  # noqa: TID251 - no settings: a tool
    sys.exit(main(sys.argv[1:], list(folders_of(os.environ["PATH"], PYENV))))  # noqa: TID251
