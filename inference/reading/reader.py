"""The reader on the processor of this process: no key and no network."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from chassis.errors import CannotStart, Exhausted, Unavailable
from chassis.limits.concurrency import FairQueue, Threads
from chassis.telemetry import stage
from inference.bert.graph import BertShape
from inference.bert.session import Session
from inference.bert.weights import Weights
from inference.reading.graph import READER_SHAPE, build_graph
from inference.reading.model import Passage, Reading
from inference.reading.rows import Row, Rows

WEIGHTS, DESCRIPTION, VOCABULARY = "reader.safetensors", "reader.json", "tokenizer.json"
"""The reader's files: the description names the SHA-256 of the other two."""
DIGESTS = {WEIGHTS: "sha256", VOCABULARY: "vocabulary sha256"}
"""What the description calls the digest of each."""
QUESTIONS_AT_ONCE = 2
"""Questions that are read at once: one alone would leave a core idle at its end."""
QUESTIONS_WAITING = 64
RETRY_AFTER_SECONDS = 1.0


class ReaderBroken(CannotStart):
    """A file of the reader is not the one that its description names; the message says which."""


class ReaderQueueFull(Exhausted):
    """No more questions may wait for the reader."""

    reason = "OVERLOADED"


class ReaderTooSlow(Unavailable):
    """The reader has not read all passages in the time that it has for a question."""

    reason = "UPSTREAM_UNAVAILABLE"


class Reader:
    """Reads passages. A run takes one of its threads; the loop that asks is never held up."""

    def __init__(
        self,
        folder: Path,
        deadline_seconds: float,
        threads: int = 0,
        shape: BertShape = READER_SHAPE,
        precision: str = "",
    ) -> None:
        """Load the files in `folder`; `threads` 0 means one for each core, `precision` is the session's.

        A question that takes more than `deadline_seconds`, its waiting among it, is given up. Raises
        `ReaderBroken`.
        """
        self.name = f"reader-{_checked(folder)[:12]}"
        threads = threads or os.cpu_count() or 1
        try:
            weights = Weights(folder / WEIGHTS)
            graph = build_graph(weights, shape)
            self._rows = Rows(Tokenizer.from_file(str(folder / VOCABULARY)))
        except (KeyError, ValueError) as error:
            raise ReaderBroken(f"{folder} does not hold a reader: {error}") from error
        self._session = Session(graph, threads, precision, weights.release)
        self._deadline_seconds = deadline_seconds
        self._queue = FairQueue("reader", QUESTIONS_AT_ONCE, QUESTIONS_WAITING, _full)
        self._threads = Threads(threads, "read-passages")

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """A reading of each passage, in order. Cancelling drops those that have not begun.

        Raises `ReaderQueueFull` and `ReaderTooSlow`.
        """
        if not passages:
            return []
        with stage("read") as span:
            span.set_attributes({"clausegate.passages": len(passages), "clausegate.reader": self.name})
            try:
                async with asyncio.timeout(self._deadline_seconds), self._queue.turn():
                    return await self._read(question, passages)
            except TimeoutError as error:
                limit = f"{self._deadline_seconds:g} s"
                raise ReaderTooSlow(f"The reader has not read all passages in {limit}.") from error

    async def close(self) -> None:
        """Release threads; safe to call twice. Work that has not begun is dropped."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def _read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        loop = asyncio.get_running_loop()
        rows = await loop.run_in_executor(self._threads, self._rows.of, question, passages)
        runs = (loop.run_in_executor(self._threads, self._run, row) for row in rows)
        return await asyncio.gather(*runs)

    def _run(self, row: Row) -> Reading:
        types = [int(index >= row.begin) for index in range(len(row.ids))]
        answers, evidence = self._session.run(row.ids, types)
        return row.reading(float(answers.item()), evidence.reshape(-1))


def _checked(folder: Path) -> str:
    """The SHA-256 of the weights, once all files are those that the description names."""
    try:
        described = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        wrong = [name for name, digest in DIGESTS.items() if _sha256(folder / name) != described[digest]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReaderBroken(f"{folder} does not hold a reader: {error}") from error
    if wrong:
        raise ReaderBroken(f"{folder / wrong[0]} is not the file that {DESCRIPTION} beside it names")
    return str(described[DIGESTS[WEIGHTS]])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _full() -> ReaderQueueFull:
    return ReaderQueueFull(
        "Too many questions wait for the reader already.", retry_after_seconds=RETRY_AFTER_SECONDS
    )
