"""Progress bars of an ingestion: one over all files, one for each file that is being read."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column

from clausegate.ingest.v1.ingest_service_pb2 import IngestProgress, IngestStage
from cli.ingestion import FileResult, Outcome, Watcher
from cli.output import counted

STAGES = {
    IngestStage.INGEST_STAGE_PARSING: "reading",
    IngestStage.INGEST_STAGE_CHUNKING: "cutting",
    IngestStage.INGEST_STAGE_INDEXING: "indexing",
}
STORED = (Outcome.CREATED, Outcome.UPDATED, Outcome.UNCHANGED)
NARROW = Column(no_wrap=True)
"""Is as wide as what it shows."""


class Bars(Watcher):
    """Draws on `console` while it is entered; nothing when the console is no terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[stage]:>9}", style="cyan", table_column=NARROW),
            BarColumn(bar_width=16, table_column=NARROW),
            MofNCompleteColumn(table_column=NARROW),
            TimeRemainingColumn(table_column=NARROW),
            # Last, and cut where the line ends: a long name takes no room from the numbers.
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal,
        )
        self._overall: TaskID | None = None
        self._total = self._stored = 0
        self._files: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the bars."""
        self._progress.stop()

    @property
    def interrupted(self) -> str:
        """What a stop in the middle leaves, and how to go on."""
        if not self._total:
            return "interrupted before anything was sent"
        stored = f"{self._stored:,} of {counted(self._total, 'document')}"
        return f"interrupted: {stored} stored; the same command goes on from there"

    def planned(self, total: int, unchanged: int) -> None:
        """Start the bar over all files; unchanged ones are done already."""
        self._total, self._stored = total, unchanged
        self._overall = self._progress.add_task("files", stage="all", total=total, completed=unchanged)

    def progressed(self, document_id: str, progress: IngestProgress) -> None:
        """Move the file's bar; it appears with the first report."""
        if document_id not in self._files:
            name = document_id.rpartition("/")[2]
            self._files[document_id] = self._progress.add_task(name, stage="", total=None)
        self._progress.update(
            self._files[document_id],
            stage=STAGES.get(progress.stage, ""),
            completed=progress.done,
            total=progress.total or None,
        )

    def finished(self, result: FileResult) -> None:
        """Drop the file's bar and move the one over all files."""
        self._stored += result.outcome in STORED
        if result.document_id in self._files:
            self._progress.remove_task(self._files.pop(result.document_id))
        if self._overall is not None:
            self._progress.advance(self._overall)
