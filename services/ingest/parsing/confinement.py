"""Takes from this process, for good, what reading a file never needs.

It calls nobody, starts, traces and signals no other program, writes no file, and reads none but those of the
interpreter and what it was given. On Linux the kernel itself refuses (seccomp and Landlock, which need no
privilege), so that even a parser that a hostile file has taken over is held. Python's audit hook refuses
network and programs on every system, for code written in Python. Not covered: what goes back to the service.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from services.ingest.parsing.landlock import Held, LandlockMissing, restrict_files

_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
_ALLOW: Final = 0x7FFF_0000
_REFUSE: Final = 0x0005_0000 | errno.EPERM
_KILL: Final = 0x8000_0000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
"""Offsets in `struct seccomp_data`."""
_FOREIGN_NUMBERS: Final = 0x4000_0000
"""x86-64 has the same calls again from here, with pointers of 32 bits (x32)."""

_CALLS: Final = {
    # AUDIT_ARCH_X86_64; socket, connect, accept, sendto, sendmsg, bind, listen, socketpair, fork, vfork,
    # execve, kill, ptrace, accept4, sendmmsg, process_vm_readv, process_vm_writev, execveat,
    # pidfd_send_signal, io_uring_setup, pidfd_getfd
    "x86_64": (
        0xC000_003E,
        (41, 42, 43, 44, 46, 49, 50, 53, 57, 58, 59, 62, 101, 288, 307, 310, 311, 322, 424, 425, 438),
    ),
    # AUDIT_ARCH_AARCH64, the same calls; it has no fork and vfork
    "aarch64": (
        0xC000_00B7,
        (198, 203, 202, 206, 211, 200, 201, 199, 221, 129, 117, 242, 269, 270, 271, 281, 424, 425, 438),
    ),
}
"""By machine: the architecture as the kernel names it, and the numbers of refused calls (`asm/unistd.h`)."""

_REFUSED_EVENTS: Final = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.system",
    "os.posix_spawn",
    "os.fork",
    "urllib.",
)


class NotConfined(RuntimeError):
    """The kernel does not hold all of it; the message says what it does not, and why."""


def confine(readable: Sequence[Path]) -> None:
    """Give up network, other processes and all files but those below `readable`, and the interpreter's own.

    To be called before any thread is started. Whatever the kernel can hold is held before `NotConfined` is
    raised.
    """
    sys.addaudithook(_refuse)
    missing = []
    try:
        if Held.SIGNALS not in restrict_files([*readable, *_of_interpreter()]):
            missing.append("signals to other processes (Landlock of Linux 6.12)")
    except (LandlockMissing, OSError) as reason:
        missing.append(f"files ({reason})")
    try:
        _filter_known_calls()
    except NotConfined as reason:
        missing.append(f"network and programs ({reason})")
    if missing:
        raise NotConfined(", ".join(missing))


def _of_interpreter() -> Iterator[Path]:
    """Where modules are imported from: those of Python, of installed packages, and of this product.

    Not all of `sys.path`: the folder of a checkout holds more than its packages, for example the documents.
    """
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        yield Path(sysconfig.get_path(name))
    yield from (Path(entry) for entry in sys.path if Path(entry).name == "site-packages")
    for name, module in tuple(sys.modules.items()):
        if "." not in name:
            yield from map(Path, getattr(module, "__path__", ()))
    yield from map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom"))


def _filter_known_calls() -> None:
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        raise NotConfined(f"no filter is written for {sys.platform} on {platform.machine()}")
    _filter_calls(*_CALLS[platform.machine()])


def _filter_calls(architecture: int, calls: tuple[int, ...]) -> None:
    program = _program(architecture, calls)
    code = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    refused = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(described), 0, 0
    )
    if refused:
        raise NotConfined(errno.errorcode.get(ctypes.get_errno(), "the kernel refused"))


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_REFUSED_EVENTS):
        raise PermissionError(errno.EPERM, f"{event} is not for a parser")


def _program(architecture: int, calls: tuple[int, ...]) -> bytes:
    """A filter in classic BPF: another architecture's calls end the process, refused ones fail with EPERM."""
    count = len(calls)
    return b"".join(
        [
            _step(_LOAD, _ARCHITECTURE_AT),
            _step(_EQUAL, architecture, 1, 0),
            _step(_RETURN, _KILL),
            _step(_LOAD, _NUMBER_AT),
            _step(_AT_LEAST, _FOREIGN_NUMBERS, count + 1, 0),
            *(_step(_EQUAL, call, count - index, 0) for index, call in enumerate(calls)),
            _step(_RETURN, _ALLOW),
            _step(_RETURN, _REFUSE),
        ]
    )


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand)
