from io import StringIO

import pytest
from rich.console import Console

from clausegate.ingest.v1.ingest_service_pb2 import IngestProgress, IngestStage
from cli.ingestion import FileResult, Outcome
from cli.progress import Bars
from cli.tables import print_results

LONG = f"acme/{'folder/' * 9}{'Amended_and_Restated_Distribution_Agreement_' * 3}.pdf"
INDEXING = IngestProgress(stage=IngestStage.INGEST_STAGE_INDEXING, done=1250, total=2000)


def drawn(bars: Bars, width: int) -> str:
    console = Console(width=width, file=StringIO(), color_system=None)
    console.print(bars._progress.get_renderable())
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_long_name_leaves_the_numbers_whole(width):
    bars = Bars(Console(width=width, file=StringIO(), force_terminal=True))
    bars.planned(1250, 300)
    bars.progressed(LONG, INDEXING)

    overall, file = drawn(bars, width).splitlines()

    assert "300/1250" in overall
    assert ("1250/2000" in file, "Amended" in file, "…" in file) == (True, True, True)
    assert max(map(len, (overall, file))) <= width


def test_an_interrupted_ingestion_says_what_is_stored_and_that_a_repeat_goes_on():
    bars = Bars(Console(file=StringIO()))
    bars.planned(3_000, 1_000)
    bars.finished(FileResult("a/b.pdf", Outcome.CREATED))
    bars.finished(FileResult("a/c.pdf", Outcome.FAILED))

    assert bars.interrupted == (
        "interrupted: 1,001 of 3,000 documents stored; the same command goes on from there"
    )


def test_one_that_had_not_begun_says_that_too():
    assert Bars(Console(file=StringIO())).interrupted == "interrupted before anything was sent"


def test_what_failed_stands_last_above_the_summary():
    results = [
        FileResult("a/a.pdf", Outcome.FAILED, reason="DOCUMENT_CORRUPT"),
        *(FileResult(f"a/{number:02}.pdf", Outcome.CREATED, 1) for number in range(50)),
    ]
    console = Console(file=StringIO())
    print_results(console, results)

    *_, failed, summary = console.file.getvalue().splitlines()

    assert failed.startswith("FAILED\ta/a.pdf")
    assert summary == "51 documents: 50 created, 1 failed"
