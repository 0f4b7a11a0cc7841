"""What a parser's process cannot do, asked in a process of its own: there is no way back."""

from __future__ import annotations

import ctypes
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


def landlock() -> bool:
    """Whether this kernel has Landlock with what was added until Linux 6.12."""
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, 0, 1) >= 6


FILES = pytest.mark.skipif(not landlock(), reason="this kernel has no Landlock of version 6 or later")


def confined(program: str, *readable: Path) -> str:
    """What a program prints behind `confine()`; it says on stderr what the kernel does not hold."""
    lines = [
        "import ctypes, os, signal, socket, sys",
        "from pathlib import Path",
        "from services.ingest.parsing.confinement import NotConfined, confine",
        "try:",
        f"    confine([Path(each) for each in {[str(each) for each in readable]}])",
        "except NotConfined as missing:",
        "    print(missing, file=sys.stderr)",
    ]
    return alone("\n".join([*lines, "C = ctypes.CDLL(None, use_errno=True)", program]))


def alone(program: str) -> str:
    """What a program prints in a process of its own."""
    child = subprocess.run(
        [sys.executable, "-c", program],
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
        "C.kill(os.getppid(), 0)",
        "C.ptrace(16, os.getppid(), None, None)",
        "C.process_vm_readv(os.getppid(), None, 0, None, 0, 0)",
        "C.process_vm_writev(os.getppid(), None, 0, None, 0, 0)",
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


TRY = "try:\n    print({action})\nexcept OSError as error:\n    print(error.strerror)"


@FILES
def test_what_a_parser_was_given_is_read(tmp_path):
    (tmp_path / "contract.txt").write_text("The Licensee shall pay.")

    assert confined(f"print(open({str(tmp_path / 'contract.txt')!r}).read())", tmp_path) == (
        "The Licensee shall pay."
    )


@FILES
@pytest.mark.parametrize(
    "place", ["/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", str(ROOT / "README.md")]
)
def test_no_other_file_is_read(place, tmp_path):
    assert confined(TRY.format(action=f"open({place!r}).read()"), tmp_path) == "Permission denied"


@FILES
def test_no_other_folder_is_listed(tmp_path):
    assert confined(TRY.format(action=f"os.listdir({str(ROOT)!r})"), tmp_path) == "Permission denied"


@FILES
@pytest.mark.parametrize(
    "action",
    [
        "open(F / 'new.txt', 'w')",
        "open(F / 'contract.txt', 'a')",
        "os.truncate(F / 'contract.txt', 0)",
        "os.unlink(F / 'contract.txt')",
        "os.rename(F / 'contract.txt', F / 'other.txt')",
        "os.link(F / 'contract.txt', F / 'other.txt')",
        "os.symlink('/etc/passwd', F / 'link')",
        "os.mkdir(F / 'folder')",
        "os.mkfifo(F / 'pipe')",
        "open('/dev/shm/clausegate-confined', 'w')",
        "open('/tmp/clausegate-confined', 'w')",
    ],
)
def test_nothing_is_written_not_even_where_files_are_read(action, tmp_path):
    (tmp_path / "contract.txt").write_text("The Licensee shall pay.")
    program = f"F = Path({str(tmp_path)!r})\n" + TRY.format(action=action)

    assert confined(program, tmp_path) in ("Permission denied", "Invalid cross-device link")
    assert [path.name for path in tmp_path.iterdir()] == ["contract.txt"]
    assert (tmp_path / "contract.txt").read_text() == "The Licensee shall pay."


@FILES
def test_a_link_leads_nowhere(tmp_path):
    (tmp_path / "link").symlink_to("/etc/passwd")

    assert confined(TRY.format(action=f"open({str(tmp_path / 'link')!r}).read()"), tmp_path) == (
        "Permission denied"
    )


@FILES
def test_modules_are_still_imported(tmp_path):
    program = "import pymupdf, docx, lxml.html, markdown_it, xml.dom.minidom\nprint('imported')"

    assert confined(program, tmp_path) == "imported"


@FILES
def test_no_other_process_is_signalled_through_its_threads():
    assert confined("print(C.tgkill(os.getppid(), os.getppid(), 0), ctypes.get_errno())") == "-1 1"


@FILES
def test_what_the_kernel_does_not_hold_is_named_and_the_rest_is_held():
    program = "\n".join(
        [
            "import platform",
            "from services.ingest.parsing import confinement",
            "architecture, _ = confinement._CALLS[platform.machine()]",
            "confinement._filter_calls(architecture, (444,))  # as a kernel without Landlock",
            "try:",
            "    confinement.confine([])",
            "except confinement.NotConfined as missing:",
            "    print(missing, ctypes.CDLL(None).socket(2, 1, 0))",
        ]
    )

    assert alone("import ctypes\n" + program) == "files (Landlock: EPERM) -1"


def test_the_tests_themselves_are_not_confined():
    with socket.socket() as own:
        assert own.fileno() >= 0
