"""Chosen records of audit logs, byte for byte, with a statement of the chains in which they stand.

Each line of an export is a line of a log, so its hash and its seal can be checked, and `audit verify
--records` looks whether it stands in its chain. The last line is the statement, sealed and hashed alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from services.answer.records.findings import Anchor, ChainReport, Report
from services.answer.records.lines import BrokenLine, Keys, close, read_closed, read_entry
from services.answer.records.verification import lines_of, open_logs

DOMAIN = b"clausegate.audit.export.v1\n"
_STATEMENT = b'{"export": '
_TOLD = re.compile(rb'\}, "records": ([0-9]{1,18}), "whole": ')


class BrokenExport(ValueError):
    """A file is no export as it was written; the message names the line."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records; what is None does not matter, and all that is given has to hold."""

    trace_id: str | None = None
    query_id: str | None = None
    tenant: str | None = None
    user_id: str | None = None
    since: datetime | None = None
    """The call began then or later."""
    until: datetime | None = None
    """The call began before."""

    def holds(self, line: bytes) -> bool:
        """Whether the record of that line is wanted. Raises `BrokenLine` and `ValueError` for no record."""
        names = {"trace_id": self.trace_id, "query_id": self.query_id}
        names |= {"tenant": self.tenant, "user_id": self.user_id}
        asked = {name: text for name, text in names.items() if text is not None}
        # Most lines are passed over without being parsed.
        if not all(json.dumps(text, ensure_ascii=False).encode() in line for text in asked.values()):
            return False
        record = json.loads(line)
        time = read_entry(line).timestamp
        return all(record.get(name) == text for name, text in asked.items()) and self._in_time(time)

    def _in_time(self, time: datetime | None) -> bool:
        if time is None:
            return self.since is None and self.until is None
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)


def chosen(paths: Sequence[Path], wanted: Wanted) -> Iterator[bytes]:
    """The lines of the records that are wanted, in order; broken lines are none. Raises `OSError`."""
    with open_logs(paths) as logs:
        for log in logs:
            for _, line in lines_of(log.file):
                try:
                    if wanted.holds(line.rstrip(b"\n")):
                        yield line
                except (BrokenLine, ValueError):
                    continue


def statement(wanted: Wanted, records: int, report: Report, made_at: datetime, keys: Keys) -> bytes:
    """The last line of an export: what was asked for, and the state of the chains when it was made."""
    asked = {name: _shown(value) for name, value in asdict(wanted).items() if value is not None}
    said = {
        "export": {"made_at": made_at.isoformat(), "asked": asked, "records": records, "whole": report.whole},
        "chains": [_chain(chain) for chain in report.chains],
    }
    line, _ = close(json.dumps(said, ensure_ascii=False)[:-1], DOMAIN, keys.current)
    return line + b"\n"


def anchors_of(path: Path, keys: Keys) -> Iterator[Anchor]:
    """The records of an export, as what has to stand in their chains. Raises `BrokenExport` and `OSError`.

    Its statement is the last line, and tells how many records there are; its seal is checked if there is one,
    and keys.
    """
    records, ended = 0, False
    with path.open("rb") as file:
        for number, line in lines_of(file):
            try:
                if ended:
                    raise BrokenLine("stands after the statement")
                if ended := line.startswith(_STATEMENT):
                    _check_statement(line.rstrip(b"\n"), records, keys)
                else:
                    yield _anchor(line.rstrip(b"\n"))
                    records += 1
            except BrokenLine as broken:
                raise BrokenExport(f"{path}, line {number}: {broken}") from None
    if not ended:
        raise BrokenExport(f"{path}: the statement is missing at its end, and records may be")


def _anchor(line: bytes) -> Anchor:
    entry = read_entry(line)
    return Anchor(entry.chain, entry.position.sequence, entry.position.hash)


def _check_statement(line: bytes, records: int, keys: Keys) -> None:
    _, seal = read_closed(line)
    if keys and seal:
        keys.check(seal, DOMAIN)
    told = _TOLD.search(line)
    if told is None or int(told[1]) != records:
        raise BrokenLine(f"tells of another number of records than the {records} that are there")


def _chain(chain: ChainReport) -> Mapping[str, object]:
    return {
        "chain": chain.chain,
        "first": chain.first,
        "last": chain.last,
        "last_hash": chain.last_hash,
        "removed": chain.removed,
        "whole": not chain.violations,
    }


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
