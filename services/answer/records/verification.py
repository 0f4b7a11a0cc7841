"""Checks the chains of audit logs: every byte of every record, their order, both ends, and the seals.

What is found and what cannot be found is stated in `docs/audit.md`. Files are read once, a line at a time.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from services.answer.records.findings import Anchor, ChainReport, Report, Violation
from services.answer.records.head import HEAD_BYTES, HEAD_NAME, Head, read_head
from services.answer.records.lines import (
    HEAD_DOMAIN,
    NOTHING,
    RECORD_DOMAIN,
    BrokenLine,
    Entry,
    Keys,
    read_entry,
)
from services.answer.records.rotation import is_segment

MAX_LINE_BYTES = 1 << 24
"""No record is nearly as long; a file without lines must not fill the memory."""


def verify(paths: Sequence[Path], keys: Keys, anchors: Sequence[Anchor] = ()) -> Report:
    """Check all chains in files and folders, with keys their seals as well. Raises `OSError`.

    Folders are searched for files named as the service names them. A chain may be written meanwhile.
    """
    with ExitStack() as opened:
        # Heads first: records that are written after they were read are no trouble. What retention removes
        # meanwhile is in the heads that are read last.
        heads, violations = _read_heads(paths, keys)
        logs = opened.enter_context(open_logs(paths))
        removed = {name: head.removed for name, head in _read_heads(paths, keys)[0].items()}
        check = _Check(keys, heads, removed, anchors)
        for log in logs:
            check.read(log)
        return Report(check.finish(), violations)


@contextmanager
def open_logs(paths: Sequence[Path]) -> Iterator[Sequence[Log]]:
    """The files with records among and below `paths`, in order of what they hold. Raises `OSError`."""
    with ExitStack() as opened:
        logs = (_open(path, paths, opened) for path in log_files(paths))
        yield sorted(filter(None, logs), key=lambda log: log.order)


def log_files(paths: Sequence[Path]) -> Sequence[Path]:
    """The files with records among and below `paths`, each once."""
    return [file for file in _files_of(paths) if file.name != HEAD_NAME]


def _files_of(paths: Sequence[Path]) -> Sequence[Path]:
    """Files that were named, whatever their name, and those in folders that are named as ours."""
    found = dict[Path, None]()
    for path in paths:
        inside = sorted(path.rglob("queries*")) if path.is_dir() else [path]
        ours = (file for file in inside if file.name == HEAD_NAME or is_segment(file.name) or file == path)
        found.update((file.resolve(), None) for file in ours)
    return list(found)


def _read_heads(paths: Sequence[Path], keys: Keys) -> tuple[Mapping[str, Head], Sequence[Violation]]:
    heads, violations = dict[str, Head](), list[Violation]()
    for file in _files_of(paths):
        if file.name != HEAD_NAME:
            continue
        try:
            with _regular(file) as opened:
                head = read_head(opened.read(HEAD_BYTES + 1))
            if keys and (head.seal or head.sealed_from):
                keys.check(head.seal, HEAD_DOMAIN)
        except BrokenLine as broken:
            violations.append(Violation(f"the head {broken}", file))
            continue
        if head.chain in heads:
            violations.append(Violation(f"a second head of the chain {head.chain}", file))
        heads[head.chain] = head
    return heads, violations


@dataclass(frozen=True, slots=True)
class Log:
    """An open file of records."""

    path: Path
    file: BinaryIO
    chain: str
    """Chain of its first record that can be read; empty if none can."""
    sequence: int
    """That record's number, less the lines before it: what the file begins with if nothing is missing."""

    @property
    def order(self) -> tuple[bool, str, int, str]:
        """Files are read in order of what they hold: whoever copies them may rename them.

        One without a record comes last: it may have been begun this moment, and hold one when it is read.
        """
        return not self.chain, self.chain, self.sequence, str(self.path)


def _regular(path: Path) -> BinaryIO:
    """A file that is open for reading. Raises `OSError`, also for a pipe, which might never be written."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    return file


def _open(path: Path, named: Sequence[Path], opened: ExitStack) -> Log | None:
    """A file of those in and below `named`; None for one that retention has removed meanwhile."""
    try:
        file = opened.enter_context(_regular(path))
    except FileNotFoundError:
        if not all(given.exists() for given in named):
            raise
        return None
    chain, sequence = "", 0
    for number, line in lines_of(file):
        try:
            entry = read_entry(line[:-1])
        except BrokenLine:
            continue
        chain, sequence = entry.chain, entry.position.sequence - number
        break
    file.seek(0)
    return Log(path, file, chain, sequence)


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers, from 1; one that is too long for a record comes in parts."""
    return enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), start=1)


class _Check:
    """The state of a verification."""

    def __init__(
        self, keys: Keys, heads: Mapping[str, Head], removed: Mapping[str, int], anchors: Sequence[Anchor]
    ) -> None:
        self._keys = keys
        self._known: dict[str, dict[int, set[str]]] = {}
        """Records that must be there, and were not read yet."""
        self._anchored = {(anchor.chain, anchor.sequence) for anchor in anchors}
        for anchor in (
            *anchors,
            *(Anchor(head.chain, head.sequence, head.record) for head in heads.values()),
        ):
            if anchor.sequence:
                self._known.setdefault(anchor.chain, {}).setdefault(anchor.sequence, set()).add(anchor.hash)
        self._chains = {
            name: ChainReport(name, heads.get(name), removed=removed.get(name, 0))
            for name in (*heads, *self._known)
        }
        self._unfinished: dict[str, tuple[Path, int, int]] = {}

    def read(self, log: Log) -> None:
        """Check the lines of a file."""
        for number, line in lines_of(log.file):
            if not line.endswith(b"\n"):
                self._end_of_file(log, number, len(line))
                continue
            try:
                entry = read_entry(line[:-1])
            except BrokenLine as broken:
                self._chain(log.chain).violated(Violation(f"the line {broken}", log.path, number))
                continue
            chain = self._chain(entry.chain)
            for what in self._wrong(chain, entry):
                chain.violated(Violation(what, log.path, number))
            _count(chain, entry)

    def finish(self) -> Sequence[ChainReport]:
        """The reports, when all files were read."""
        for chain in self._chains.values():
            for what in self._wrong_ends(chain):
                chain.violated(Violation(what))
        return list(self._chains.values())

    def _chain(self, name: str) -> ChainReport:
        return self._chains.setdefault(name, ChainReport(name))

    def _end_of_file(self, log: Log, number: int, size: int) -> None:
        """A last line without its end: unfinished, if nothing comes after it, else broken."""
        chain = self._chain(log.chain)
        self._unfinished[log.chain] = (log.path, number, size)
        chain.unfinished_bytes = size

    def _wrong(self, chain: ChainReport, entry: Entry) -> Iterator[str]:
        if unfinished := self._unfinished.pop(entry.chain, None):
            chain.unfinished_bytes = 0
            file, number, _ = unfinished
            chain.violated(Violation("the line has no end, and records follow it", file, number))
        yield from _wrong_place(chain, entry)
        known = self._known.get(entry.chain, {}).pop(entry.position.sequence, set())
        if known - {entry.position.hash}:
            yield f"record {entry.position.sequence} is not the one that its head, or an anchor, names"
        try:
            if self._must_be_sealed(chain, entry):
                self._keys.check(entry.seal, RECORD_DOMAIN)
        except BrokenLine as broken:
            yield f"the record {broken}"

    def _must_be_sealed(self, chain: ChainReport, entry: Entry) -> bool:
        """Without keys, seals cannot be checked."""
        if not self._keys:
            return False
        beginning = chain.head.sealed_from if chain.head else 0
        return entry.seal is not None or chain.sealed > 0 or 0 < beginning <= entry.position.sequence

    def _wrong_ends(self, chain: ChainReport) -> Iterator[str]:
        head = chain.head
        if not chain.chain:
            yield "no line of this file is a record"
            return
        if head is None:
            yield f"there is no {HEAD_NAME} of this chain: its end may be missing"
        elif self._keys and not head.sealed_from:
            yield "the chain is not sealed: whoever could write its files may have made it anew"
        if chain.first - 1 > chain.removed:
            yield (
                f"records {chain.removed + 1} to {chain.first - 1} are missing at the beginning; "
                f"retention has removed those up to {chain.removed}"
            )
        yield from self._unread(chain)

    def _unread(self, chain: ChainReport) -> Iterator[str]:
        """Records that must be there, and are not."""
        last, unread = max(chain.last, chain.removed), self._known.get(chain.chain, {})
        if (known := max(unread, default=0)) > last:
            yield f"records {last + 1} to {known} are missing at the end: the head, or an anchor, names them"
        for sequence in unread:
            if sequence <= chain.removed and (chain.chain, sequence) in self._anchored:
                yield (
                    f"record {sequence} is not there to be held against its anchor, or its export: retention "
                    f"has removed those up to {chain.removed}"
                )


def _wrong_place(chain: ChainReport, entry: Entry) -> Iterator[str]:
    sequence, expected = entry.position.sequence, chain.last + 1
    if not chain.records:
        if sequence == 1 and entry.previous != NOTHING:
            yield "the first record names a record before it"
    elif sequence > expected:
        yield f"records {expected} to {sequence - 1} are missing before record {sequence}"
    elif sequence < expected:
        yield f"record {sequence} stands after record {chain.last}"
    elif entry.previous != chain.last_hash:
        yield f"record {sequence} does not follow the record before it: that one was replaced"


def _count(chain: ChainReport, entry: Entry) -> None:
    chain.first = chain.first or entry.position.sequence
    chain.last, chain.last_hash = entry.position.sequence, entry.position.hash
    chain.records += 1
    chain.sealed += entry.seal is not None
    chain.torn += entry.torn_bytes > 0
    if entry.timestamp is None:
        return
    chain.first_time = chain.first_time or entry.timestamp
    if chain.last_time and entry.timestamp < chain.last_time:
        chain.steps_back += 1
        chain.longest_step_back = max(chain.longest_step_back, chain.last_time - entry.timestamp)
    chain.last_time = entry.timestamp
