"""How what was found of audit logs is told: for people, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.text import Text

from cli.output import Output, counted
from services.answer.records.findings import ChainReport, Report, Violation


def print_report(output: Output, report: Report, seconds: float, *, checked_seals: bool) -> None:
    """Print each chain, and the verdict."""
    for chain in report.chains:
        _print_chain(output, chain, checked_seals=checked_seals)
    for violation in report.violations:
        output.console.print(Text(f"BROKEN  {_said(violation)}", "bold red"), soft_wrap=True)
    records = sum(chain.records for chain in report.chains)
    verdict = "whole" if report.whole else "BROKEN"
    style = "bold green" if report.whole else "bold red"
    line = f"{verdict}: {counted(records, 'record')} in {counted(len(report.chains), 'chain')}"
    output.console.print(Text(line, style), soft_wrap=True)
    output.footer(f"{seconds:.2f} s, {records / max(seconds, 1e-9):,.0f} records/s")


def _print_chain(output: Output, chain: ChainReport, *, checked_seals: bool) -> None:
    output.console.print(Text(f"chain {chain.chain or '(unknown)'}", "bold cyan"), soft_wrap=True)
    for line in _told(chain, checked_seals=checked_seals):
        output.console.print(Text(f"  {line}"), soft_wrap=True)
    if chain.violation:
        more = f" (and {chain.violations - 1} more)" if chain.violations > 1 else ""
        output.console.print(Text(f"  BROKEN  {_said(chain.violation)}{more}", "bold red"), soft_wrap=True)


def _told(chain: ChainReport, *, checked_seals: bool) -> Sequence[str]:
    told = [counted(chain.records, "record")]
    if chain.records:
        times = f"{_iso(chain.first_time)} to {_iso(chain.last_time)}"
        told = [f"{counted(chain.records, 'record')}, {chain.first} to {chain.last}, {times}"]
        told.append(f"head {chain.chain}:{chain.last}:{chain.last_hash}")
    if chain.removed:
        told.append(f"removed by retention: records up to {chain.removed}")
    if chain.sealed:
        since = f", from record {chain.head.sealed_from} on" if chain.head else ""
        how = "checked" if checked_seals else "NOT checked: no keys were given"
        told.append(f"seals: {chain.sealed:,}{since}, {how}")
    else:
        told.append("not sealed: shows accidents and naive changes only")
    if chain.torn:
        told.append(
            f"explained: lines that were never finished: {chain.torn}; the next record of each says so"
        )
    if chain.unfinished_bytes:
        told.append(f"explained: {chain.unfinished_bytes} bytes at the end are no finished record (yet)")
    if chain.steps_back:
        longest = chain.longest_step_back.total_seconds()
        told.append(
            f"note: times go back in {counted(chain.steps_back, 'place')}, by {longest:.3f} s at most"
        )
    return told


def _said(violation: Violation) -> str:
    place = f"{violation.file}" if violation.file else ""
    if violation.line:
        place += f", line {violation.line}"
    return f"{place}: {violation.what}" if place else violation.what


def report_as_json(report: Report, seconds: float, *, checked_seals: bool) -> Mapping[str, object]:
    """The same for programs."""
    return {
        "whole": report.whole,
        "sealsChecked": checked_seals,
        "seconds": round(seconds, 3),
        "chains": [_chain_as_json(chain) for chain in report.chains],
        "violations": [_violation_as_json(violation) for violation in report.violations],
    }


def _chain_as_json(chain: ChainReport) -> Mapping[str, object]:
    return {
        "chain": chain.chain,
        "whole": not chain.violations,
        "records": chain.records,
        "firstSequence": chain.first,
        "lastSequence": chain.last,
        "firstTime": _iso(chain.first_time),
        "lastTime": _iso(chain.last_time),
        "head": f"{chain.chain}:{chain.last}:{chain.last_hash}" if chain.records else None,
        "removedThrough": chain.removed,
        "sealed": chain.sealed,
        "sealedFrom": chain.head.sealed_from if chain.head else 0,
        "tornLines": chain.torn,
        "unfinishedBytes": chain.unfinished_bytes,
        "stepsBack": chain.steps_back,
        "longestStepBackSeconds": chain.longest_step_back.total_seconds(),
        "violations": chain.violations,
        "firstViolation": _violation_as_json(chain.violation) if chain.violation else None,
    }


def _violation_as_json(violation: Violation) -> Mapping[str, object]:
    file = str(violation.file) if violation.file else None
    return {"what": violation.what, "file": file, "line": violation.line}


def _iso(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None
