"""Takes files from this process, for good: it reads what is below some folders, and writes nothing.

Landlock is part of Linux since 5.13 and needs no privilege. Files that are open already stay so. Newer
kernels refuse more: what a kernel does not know is left out, and `Held` says what it refuses.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from enum import IntFlag
from pathlib import Path
from typing import Final

# `asm-generic/unistd.h`: the same numbers on every architecture.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1 << 0
_RULE_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38

_READ_FILE: Final = 1 << 2
_READ_DIRECTORY: Final = 1 << 3
_FILE_CALLS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many kinds of access to files a version of Landlock knows (`linux/landlock.h`): executing, writing,
making, renaming between folders (from 2), cutting short (from 3), controlling devices (from 5)."""
_TCP_SINCE: Final = 4
_TCP: Final = 0b11
"""Binding and connecting."""
_SCOPES_SINCE: Final = 6
_SCOPES: Final = 0b11
"""Abstract Unix sockets, and signals to processes that are not confined alike."""


class Held(IntFlag):
    """What the kernel refuses from now on."""

    FILES = 1
    """Reading elsewhere than below the folders, writing anywhere, and tracing other processes."""
    SIGNALS = 2
    """Signals to other processes."""


class LandlockMissing(RuntimeError):
    """The kernel has no Landlock, or does not let this process use it; the message says why."""


def restrict_files(readable: Iterable[Path]) -> Held:
    """Let this thread, and those that it starts, read below `readable` and write nowhere.

    Folders and files that do not exist are left out. To be called before any thread is started. Raises
    `LandlockMissing`; then nothing is restricted.
    """
    version = _call(_CREATE_RULESET, None, 0, _VERSION)
    known = max(count for since, count in _FILE_CALLS.items() if since <= version)
    network = _TCP if version >= _TCP_SINCE else 0
    scopes = _SCOPES if version >= _SCOPES_SINCE else 0
    # A kernel takes a longer structure than its own as long as the rest is zero.
    attributes = struct.pack("=QQQ", (1 << known) - 1, network, scopes)
    ruleset = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in readable:
            if path.exists():
                _allow_reading(ruleset, path)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise LandlockMissing("new privileges cannot be given up")
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return Held.FILES | Held.SIGNALS if scopes else Held.FILES


def _allow_reading(ruleset: int, path: Path) -> None:
    allowed = _READ_FILE | (_READ_DIRECTORY if path.is_dir() else 0)
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *passed)
    if result < 0:
        raise LandlockMissing(f"Landlock: {errno.errorcode.get(ctypes.get_errno(), 'refused')}")
    return result
