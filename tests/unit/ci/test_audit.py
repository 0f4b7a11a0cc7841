from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[3] / ".ci" / "audit.py"
HASH = f"--hash=sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("ci_audit", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def package(name: str, *known: str, skipped: bool = False) -> dict[str, object]:
    if skipped:
        return {"name": name, "skip_reason": "Dependency not found"}
    return {"name": name, "version": "1.0", "vulns": [{"id": one, "fix_versions": ["1.1"]} for one in known]}


def status(audit, *packages, if_reachable: bool) -> int:
    return audit.conclude(audit.read_report({"dependencies": list(packages)}), if_reachable=if_reachable)


def test_the_committed_lock_pins_every_package_by_hash(audit):
    assert list(audit.loose_pins(audit.LOCK.read_text())) == []


@pytest.mark.parametrize(
    "line",
    [
        "grpcio==1.78.0",
        f"grpcio>=1.78 {HASH}",
        f"grpcio @ https://example.org/x.whl {HASH}",
        f"git+https://example.org/x {HASH}",
        "--index-url https://example.org",
        "-e .",
        f"grpcio==1.78.0 {HASH} --hash=md5:0",
    ],
)
def test_a_pin_without_one_version_and_hashes_is_named(audit, line):
    assert list(audit.loose_pins(f"anyio==4.16.0 \\\n    {HASH}\n    # via x\n{line}\n")) == [line]


@pytest.mark.parametrize("if_reachable", [True, False])
def test_a_known_vulnerability_fails(audit, capsys, if_reachable):
    found = package("lxml", "PYSEC-1")

    assert status(audit, found, package("numpy", skipped=True), if_reachable=if_reachable) == 1
    assert "VULNERABLE: lxml 1.0: PYSEC-1, fixed in 1.1" in capsys.readouterr().out


@pytest.mark.parametrize(("if_reachable", "expected"), [(True, 0), (False, 3)])
def test_what_cannot_be_looked_up_is_said_and_never_passes_for_audited(audit, capsys, if_reachable, expected):
    assert (
        status(audit, package("lxml"), package("numpy", skipped=True), if_reachable=if_reachable) == expected
    )
    said = capsys.readouterr().out
    assert "NOT AUDITED" in said
    assert "numpy" in said
    assert "1 packages looked up" in said


def test_packages_of_which_nothing_is_known_pass(audit, capsys):
    assert status(audit, package("lxml"), if_reachable=False) == 0
    assert "NOT AUDITED" not in capsys.readouterr().out
