"""Looks the locked packages up among known vulnerabilities: `python .ci/audit.py [--if-reachable]`.

The advisories are PyPI's, asked by pip-audit. Exit status: 0 when every package was looked up and nothing is
known of any; 1 for a vulnerability, or a lock that does not pin every package by hash; 3 when packages could
not be looked up, which says nothing of them. With --if-reachable that last is said plainly, but no failure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
SECONDS = 300
"""How long all lookups may take."""
FAILED, NOT_AUDITED = 1, 3
_PINNED = re.compile(
    r"[A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?==[\w.+!-]+(?: ; [^#]+)?(?: --hash=sha256:[0-9a-f]{64})+"
)


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of looking the packages up."""

    known: tuple[str, ...]
    """Vulnerabilities, each with its package."""
    looked_up: int
    left_out: tuple[str, ...]
    """Names of packages that nobody could be asked about."""


def loose_pins(lock: str) -> Iterator[str]:
    """Lines of a lock that do not pin a package to one version and the hashes of its files."""
    joined = lock.replace("\\\n", " ")
    for line in joined.splitlines():
        wanted = " ".join(line.partition("#")[0].split())
        if wanted and _PINNED.fullmatch(wanted) is None:
            yield wanted


def read_report(report: dict[str, Any]) -> Audit:
    """pip-audit's answer in JSON."""
    packages = report.get("dependencies", [])
    known = tuple(
        f"{package['name']} {package['version']}: {found['id']}, fixed in {_fixes(found)}"
        for package in packages
        for found in package.get("vulns", ())
    )
    left_out = tuple(package["name"] for package in packages if "skip_reason" in package)
    return Audit(known, len(packages) - len(left_out), left_out)


def _fixes(found: dict[str, Any]) -> str:
    return ", ".join(found["fix_versions"]) or "no version yet"


def ask(lock: Path) -> Audit:
    """Ask about every package of a lock; of none when the service does not answer."""
    command = ["pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json"]
    asked = [sys.executable, "-m", *command, "--requirement", str(lock)]
    try:
        ended = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=False)
        return read_report(json.loads(ended.stdout))
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return Audit((), 0, ("all",))


def conclude(audit: Audit, *, if_reachable: bool) -> int:
    """Say what an audit found; the exit status."""
    for vulnerability in audit.known:
        print(f"VULNERABLE: {vulnerability}")
    if audit.left_out:
        names = ", ".join(audit.left_out[:5]) + (", …" if len(audit.left_out) > 5 else "")
        print(f"NOT AUDITED: PyPI tells nothing of {names}; they may or may not be vulnerable")
    print(f"{audit.looked_up} packages looked up, {len(audit.known)} known vulnerabilities")
    if audit.known:
        return FAILED
    return NOT_AUDITED if audit.left_out and not if_reachable else 0


def main(*, if_reachable: bool) -> int:
    """Check the lock, then its packages; the exit status."""
    loose = list(loose_pins(LOCK.read_text()))
    for line in loose:
        print(f"NOT PINNED BY HASH: {line}")
    return FAILED if loose else conclude(ask(LOCK), if_reachable=if_reachable)


if __name__ == "__main__":
    sys.exit(main(if_reachable="--if-reachable" in sys.argv[1:]))
