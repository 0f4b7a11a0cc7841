"""The commands of audit logs: check that they are whole."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli.errors import CommandError
from cli.output import Output
from cli.parameters import DEFAULT_DATA, Data, Json
from cli.running import FAILED, run
from services.answer.records.chain import AuditLog
from services.answer.records.head import HEAD_NAME
from services.answer.records.lines import Keys
from services.answer.records.record_files import RecordFile
from services.answer.records.rotation import FileLimits
from services.answer.records.verification import Anchor, ChainReport, Report, Violation, log_files
from services.answer.records.verification import verify as verify_chains
from services.answer.verification.signing import SigningKeysBroken, read_keys

AS_THEY_ARE = FileLimits(max_bytes=1 << 62, older_files=1 << 20)
"""Pruning removes by age alone."""

app = typer.Typer()
audit = typer.Typer(no_args_is_help=True, help="Check audit logs.")
app.add_typer(audit, name="audit")

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DIR|FILE]…",
        exists=True,
        show_default=False,
        help="Folders with audit logs, or files of them; several replicas have a folder each. "
        "Without any, the logs of the own stack's data.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        envvar=["CLAUSEGATE_AUDIT_KEYS_FILE", "CLAUSEGATE_SIGNING_KEYS_FILE"],
        metavar="FILE",
        help="Keys that sealed the records. Without them seals are not checked.",
    ),
]
ExpectedHeads = Annotated[
    list[str] | None,
    typer.Option(
        "--expect-head",
        metavar="CHAIN:SEQUENCE:HASH",
        help="A record that must be there, known from elsewhere; may be repeated.",
    ),
]


@audit.command()
def verify(
    paths: Paths = None,
    keys: KeyFile = None,
    expect_head: ExpectedHeads = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Check every record of audit logs: that none was changed, removed, added or moved.

    Exit codes: 0 whole, 1 broken, 2 usage. docs/audit.md says what is found, and what cannot be.
    """
    output = Output(json)
    try:
        anchors = [Anchor.parse(head) for head in expect_head or ()]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--expect-head") from error

    async def work() -> int:
        began = time.monotonic()
        report = _verified(paths or [data / "logs"], _keys(keys), anchors)
        seconds = time.monotonic() - began
        if json:
            output.json(_as_json(report, seconds, checked_seals=keys is not None))
        else:
            _print(output, report, seconds, checked_seals=keys is not None)
        return 0 if report.whole else FAILED

    run(work(), output)


@audit.command()
def prune(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            exists=True,
            file_okay=False,
            show_default=False,
            help="The folder of the logs, of a service that does not run. Without it, the own stack's.",
        ),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Remove what was recorded before (UTC)."),
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(metavar="DAYSd", help="Remove what is older, e.g. 400d.")
    ] = None,
    keys: KeyFile = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Remove the files of old audit and debug records; the chain stays whole, and says what was removed.

    Whole files go, from the oldest on. While the service runs, CLAUSEGATE_AUDIT_RETENTION_DAYS does it.
    """
    output = Output(json)
    limit = _limit(before, older_than)

    async def work() -> int:
        removed, through = _pruned(folder or data / "logs", _keys(keys), limit)
        if json:
            output.json({"removedFiles": removed, "removedThrough": through})
        else:
            output.console.print(f"removed {removed} files; records up to {through} are gone", markup=False)
        return 0

    run(work(), output)


def _limit(before: datetime | None, older_than: str | None) -> datetime:
    days = re.fullmatch(r"([1-9][0-9]{0,4})d", older_than) if older_than else None
    if (before is None) == (older_than is None) or (older_than and not days):
        raise typer.BadParameter("give one of both: --before 2026-01-31, or --older-than 400d")
    if before:
        return before.replace(tzinfo=UTC)
    assert days is not None
    return datetime.now(UTC) - timedelta(days=int(days[1]))


def _pruned(folder: Path, keys: Keys, limit: datetime) -> tuple[int, int]:
    """Files that were removed, and the last record that is gone; 0 for none."""
    if not (folder / HEAD_NAME).exists():
        raise CommandError(f"{folder}: there is no audit log")
    log = AuditLog(folder, "none", keys, AS_THEY_ARE)
    try:
        with closing(log):
            removed = log.prune(limit) + RecordFile(folder / "debug.jsonl", AS_THEY_ARE).prune(limit)
            return removed, log.head.removed
    except OSError as error:
        raise CommandError(str(error)) from error


def _keys(file: Path | None) -> Keys:
    try:
        return Keys(read_keys(file) if file else ())
    except SigningKeysBroken as error:
        raise CommandError(str(error)) from error


def _verified(paths: Sequence[Path], keys: Keys, anchors: Sequence[Anchor]) -> Report:
    try:
        report = verify_chains(paths, keys, anchors)
        if not report.chains and not report.violations and not log_files(paths):
            raise CommandError(f"{', '.join(map(str, paths))}: there is no audit log")
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from error
    return report


def _print(output: Output, report: Report, seconds: float, *, checked_seals: bool) -> None:
    for chain in report.chains:
        _print_chain(output, chain, checked_seals=checked_seals)
    for violation in report.violations:
        output.console.print(Text(f"BROKEN  {_said(violation)}", "bold red"), soft_wrap=True)
    records = sum(chain.records for chain in report.chains)
    verdict = "whole" if report.whole else "BROKEN"
    style = "bold green" if report.whole else "bold red"
    chains = len(report.chains)
    line = f"{verdict}: {records:,} records in {chains} chain{'s' * (chains != 1)}"
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
    told = [f"{chain.records:,} records"]
    if chain.records:
        times = f"{_iso(chain.first_time)} to {_iso(chain.last_time)}"
        told = [f"{chain.records:,} records, {chain.first} to {chain.last}, {times}"]
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
        told.append(f"explained: {chain.torn} lines were never finished; the next record says so")
    if chain.unfinished_bytes:
        told.append(f"explained: {chain.unfinished_bytes} bytes at the end are no finished record (yet)")
    if chain.steps_back:
        longest = chain.longest_step_back.total_seconds()
        told.append(f"note: times go back {chain.steps_back} times, by {longest:.3f} s at most")
    return told


def _said(violation: Violation) -> str:
    place = f"{violation.file}" if violation.file else ""
    if violation.line:
        place += f", line {violation.line}"
    return f"{place}: {violation.what}" if place else violation.what


def _as_json(report: Report, seconds: float, *, checked_seals: bool) -> Mapping[str, object]:
    return {
        "whole": report.whole,
        "sealsChecked": checked_seals,
        "seconds": round(seconds, 3),
        "chains": [_chain_as_json(chain) for chain in report.chains],
        "violations": [_violation_as_json(one) for one in report.violations],
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
