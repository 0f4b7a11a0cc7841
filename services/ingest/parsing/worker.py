"""The child process that reads files: `python -m services.ingest.parsing.worker MEMORY CPU_SECONDS FOLDER`.

It takes jobs on standard input, each a file below FOLDER, and answers on standard output until its input
ends. Whatever a hostile file does, it does here: memory (bytes) and processor time are limited, there is no
network, no other file and nothing to write (`confinement`), and nothing else of the service lives here.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from services.ingest.errors import DocumentError, DocumentParserFailed
from services.ingest.parsing.confinement import NotConfined, confine
from services.ingest.parsing.frames import (
    Message,
    drawing_from_message,
    encode,
    job_from_message,
    read_frame,
    reading_to_messages,
)
from services.ingest.reading import read

REPORT_EVERY_SECONDS = 0.2


class Reporter:
    """Sends progress, but not more often than anybody can see."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that `done` of `total` units of `stage` are done."""
        now = time.monotonic()
        if now - self._last >= REPORT_EVERY_SECONDS:
            self._last = now
            send(self._output, {"progress": [stage, done, total]})


def send(output: IO[bytes], message: Message) -> None:
    """Write one frame at once."""
    output.write(encode(message))
    output.flush()


def parts_of(message: Message, report: Reporter) -> Iterator[Message]:
    """The messages of what a job comes to."""
    if "drawing" in message:
        # Imported when needed, as parsers are.
        from services.ingest.parsing.rendering import draw

        yield {"picture": draw(drawing_from_message(message))}
    else:
        yield from reading_to_messages(read(job_from_message(message), report))


def answer(message: Message, output: IO[bytes]) -> None:
    """Send what a job came to: its reading or picture, or the error to raise in the service."""
    try:
        for part in parts_of(message, Reporter(output)):
            send(output, part)
    except DocumentError as error:
        told = {"reason": error.reason, "message": error.message, "field": error.field}
        send(output, {"error": told})
    except (MemoryError, RecursionError):
        told = {"reason": DocumentParserFailed.reason, "message": "needs more memory than allowed"}
        send(output, {"error": told | {"field": "path"}})


def allow_processor_time(seconds: int) -> None:
    """Let this process run for `seconds` of processor time from now; it is killed after them."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def main(memory_bytes: int, cpu_seconds: int, folder: Path) -> None:
    """Answer jobs about files below `folder` until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the service's to handle; it ends our input
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        confine([folder])
    except NotConfined as reason:
        print(f"the kernel does not keep parsers from: {reason}", file=sys.stderr)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not break a frame
    while (message := read_frame(sys.stdin.buffer)) is not None:
        allow_processor_time(cpu_seconds)
        answer(message, output)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
