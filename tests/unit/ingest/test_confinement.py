"""What a parser's process cannot do, asked in a process of its own: there is no way back."""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KERNEL = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="no filter is written"
)


def confined(program: str) -> str:
    """What a program prints behind `confine()`."""
    lines = [
        "import ctypes, socket, os",
        "from services.ingest.parsing.confinement import confine",
        "confine()",
    ]
    lines += ["C = ctypes.CDLL(None, use_errno=True)", program]
    child = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return child.stdout.strip()


@KERNEL
@pytest.mark.parametrize(
    "call",
    [
        "C.socket(2, 1, 0)",
        "C.socket(1, 1, 0)",
        "C.socketpair(1, 1, 0, None)",
        "C.execve(b'/bin/true', None, None)",
    ],
)
def test_the_kernel_refuses_network_and_programs(call):
    assert confined(f"print({call}, ctypes.get_errno())") == "-1 1"


@pytest.mark.parametrize(
    "call", ["socket.socket()", "os.system('true')", "socket.getaddrinfo('localhost', 80)"]
)
def test_python_refuses_network_and_programs(call):
    program = f"try:\n    {call}\nexcept PermissionError as error:\n    print(error.errno)"

    assert confined(program) == "1"


@KERNEL
def test_threads_are_confined_too():
    program = (
        "import threading\nt = threading.Thread(target=lambda: print(C.socket(2, 1, 0)))\nt.start()\nt.join()"
    )

    assert confined(program) == "-1"


def test_files_are_still_read():
    assert confined("print(len(open('/proc/self/status').read()) > 0)") == "True"


def test_the_tests_themselves_are_not_confined():
    with socket.socket() as own:
        assert own.fileno() >= 0
