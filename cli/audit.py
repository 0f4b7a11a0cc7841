"""The commands of audit logs: check that they are whole, write records out, and remove old ones."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from cli.audit_report import print_report, report_as_json
from cli.errors import CommandError
from cli.files import private
from cli.output import Output, counted
from cli.parameters import DEFAULT_DATA, Data, Json
from cli.running import FAILED, REFUSED, run
from services.answer.records.chain import AuditLog
from services.answer.records.exporting import BrokenExport, Wanted, anchors_of, chosen, statement
from services.answer.records.findings import Anchor, Report
from services.answer.records.head import HEAD_NAME
from services.answer.records.lines import Keys
from services.answer.records.record_files import RecordFile
from services.answer.records.rotation import FileLimits
from services.answer.records.verification import log_files
from services.answer.records.verification import verify as verify_chains
from services.answer.verification.signing import SigningKeysBroken, read_keys

AS_THEY_ARE = FileLimits(max_bytes=1 << 62, older_files=1 << 20)
"""Pruning removes by age alone."""

TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]

app = typer.Typer()
audit = typer.Typer(no_args_is_help=True, help="Check, export and prune audit logs.")
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
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="An export: all its records must be there."
        ),
    ] = None,
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
        known = _keys(keys)
        expected = [*anchors, *(_anchors(records, known) if records else ())]
        report = _verified(paths or [data / "logs"], known, expected)
        seconds = time.monotonic() - began
        if json:
            output.json(report_as_json(report, seconds, checked_seals=keys is not None))
        else:
            print_report(output, report, seconds, checked_seals=keys is not None)
        return 0 if report.whole else FAILED

    run(work(), output)


@audit.command()
def export(  # noqa: PLR0913 - the options of a command are its parameters
    paths: Paths = None,
    trace_id: Annotated[str | None, typer.Option(metavar="ID", help="As responses name it.")] = None,
    query_id: Annotated[str | None, typer.Option(metavar="ID", help="As responses name it.")] = None,
    tenant: Annotated[str | None, typer.Option(metavar="NAME", help="Of this tenant.")] = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME", help="Who asked.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=TIMES, metavar="TIME", help="Begun then or later (UTC).")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=TIMES, metavar="TIME", help="Begun before (UTC).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="New file to write; without it, standard output.")
    ] = None,
    keys: KeyFile = None,
    data: Data = DEFAULT_DATA,
) -> None:
    """Write chosen records as they stand in the log, a line each, and last a statement of their chains.

    Exit codes: 0 written, 1 written and a chain is broken or no log is there, 2 usage, 3 no record found.
    """
    output = Output(as_json=False)
    wanted = Wanted(trace_id, query_id, tenant, subject, _utc(since), _utc(until))

    async def work() -> int:
        where, known = paths or [data / "logs"], _keys(keys)
        report = _verified(where, known, ())
        count = _exported(where, wanted, report, known, out)
        broken = "" if report.whole else "; A CHAIN IS BROKEN: see audit verify"
        output.notes([f"{counted(count, 'record')}{broken}"])
        if not report.whole:
            return FAILED
        return 0 if count else REFUSED

    run(work(), output)


def _exported(where: Sequence[Path], wanted: Wanted, report: Report, keys: Keys, out: Path | None) -> int:
    """Write the records and the statement; how many records."""
    count = 0
    try:
        with open(out, "xb", opener=private) if out else nullcontext(sys.stdout.buffer) as file:
            for line in chosen(where, wanted):
                file.write(line)
                count += 1
            file.write(statement(wanted, count, report, datetime.now(UTC), keys))
    except OSError as error:
        raise CommandError(f"{error.filename or out}: {error.strerror}") from error
    return count


def _utc(instant: datetime | None) -> datetime | None:
    return instant.replace(tzinfo=UTC) if instant else None


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
            gone = f"records up to {through} are gone" if through else "every record is there still"
            output.console.print(f"removed {counted(removed, 'file')}; {gone}", markup=False)
        return 0

    run(work(), output)


def _limit(before: datetime | None, older_than: str | None) -> datetime:
    if before and older_than is None:
        return before.replace(tzinfo=UTC)
    days = re.fullmatch(r"([1-9][0-9]{0,4})d", older_than or "")
    if before or not days:
        raise typer.BadParameter("give one of both: --before 2026-01-31, or --older-than 400d")
    return datetime.now(UTC) - timedelta(days=int(days[1]))


def _pruned(folder: Path, keys: Keys, limit: datetime) -> tuple[int, int]:
    """Files that were removed, and the last record that is gone; 0 for none."""
    head = folder / HEAD_NAME
    if not (head.exists() and head.stat().st_size):
        raise CommandError(f"{folder}: there is no audit log")
    log = AuditLog(folder, "none", keys, AS_THEY_ARE)
    try:
        with closing(log):
            removed = log.prune(limit) + RecordFile(folder / "debug.jsonl", AS_THEY_ARE).prune(limit)
            return removed, log.head.removed
    except OSError as error:
        raise CommandError(str(error)) from error


def _anchors(file: Path, keys: Keys) -> Sequence[Anchor]:
    try:
        return list(anchors_of(file, keys))
    except (BrokenExport, OSError) as error:
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
