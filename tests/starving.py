"""Runs a command beside busy processes, and ends as it ends: `python -m tests.starving 8 COMMAND...`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SPINNING = "while True: pass"


@contextmanager
def busy(count: int) -> Iterator[list[int]]:
    """Processes that take all the time they are given, at the usual priority, until the end; their ids."""
    spinning: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            spinning.append(subprocess.Popen([sys.executable, "-c", SPINNING]))  # noqa: PERF401 - ended if one fails
        yield [process.pid for process in spinning]
    finally:
        for process in spinning:
            process.kill()
        for process in spinning:
            process.wait()


def main(count: int, command: list[str]) -> int:
    """The exit status of a command that runs beside so many busy processes."""
    with busy(count) as processes:
        print(f"busy beside the tests: {' '.join(map(str, processes))}", flush=True)
        return subprocess.run(command).returncode


if __name__ == "__main__":
    # Asked to stop, it ends the busy processes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
