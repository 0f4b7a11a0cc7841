"""Progress bars of an ingestion: one over all files, one for each file that is being read."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from clausegate.ingest.v1.ingest_service_pb2 import IngestProgress, IngestStage
from cli.ingestion import FileResult, Watcher

STAGES = {
    IngestStage.INGEST_STAGE_PARSING: "reading",
    IngestStage.INGEST_STAGE_CHUNKING: "cutting",
    IngestStage.INGEST_STAGE_INDEXING: "indexing",
}


class Bars(Watcher):
    """Draws on `console` while it is entered; nothing when the console is no terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[stage]:>9}", style="cyan"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._overall: TaskID | None = None
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

    def planned(self, total: int, unchanged: int) -> None:
        """Start the bar over all files; unchanged ones are done already."""
        self._overall = self._progress.add_task("files", stage="all", total=total, completed=unchanged)

    def progressed(self, document_id: str, progress: IngestProgress) -> None:
        """Move the file's bar; it appears with the first report."""
        if document_id not in self._files:
            self._files[document_id] = self._progress.add_task(document_id, stage="", total=None)
        self._progress.update(
            self._files[document_id],
            stage=STAGES.get(progress.stage, ""),
            completed=progress.done,
            total=progress.total or None,
        )

    def finished(self, result: FileResult) -> None:
        """Drop the file's bar and move the one over all files."""
        if result.document_id in self._files:
            self._progress.remove_task(self._files.pop(result.document_id))
        if self._overall is not None:
            self._progress.advance(self._overall)
