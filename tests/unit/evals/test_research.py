"""Figures of research snippets."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from clausegate.answer.v1.research_service_pb2 import Snippet, SnippetsDone
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.span_pb2 import SectionSpan, Span
from evals.corpora import ExpectedChunk, Kind, ResearchQuestion
from evals.research import EXTRACTIVE, Outcome, figures, percentile, strategies

CHUNKS = {
    "1": Chunk(
        chunk_id="1", document_id="a/x.pdf", title="X", heading_chain=["A", "B"], text="One two. Three."
    ),
    "2": Chunk(
        chunk_id="2", document_id="b/y.pdf", title="Y", section="Section 1 of 2", text="Four five six."
    ),
}
FIELDS = {
    "chunk_id": "1",
    "content": "One two.",
    "source_id": "a/x.pdf",
    "source_title": "X",
    "source_location": "A > B",
}
GOOD = Snippet(**FIELDS, verified=True)
ASKED = ResearchQuestion("q", Kind.KEYWORD, "?", (ExpectedChunk("a/x.pdf", "One two. Three."),))
SILENT = ResearchQuestion("n", Kind.NEGATIVE, "?", ())


def reply(**fields: object) -> str:
    snippet = {"chunk": "c1", "content": "One two three.", "relevance": "It says so."}
    return json.dumps({"snippets": [snippet], "summary": "One. Two.", "no_results": False, **fields})


def outcome(
    *snippets: Snippet,
    question: ResearchQuestion = ASKED,
    seconds: float = 0.1,
    replies: tuple[str, ...] = (),
) -> Outcome:
    done = SnippetsDone(snippets=snippets, no_results=not snippets)
    return Outcome(question, seconds, done, replies=replies)


def test_without_a_model_there_are_no_figures_of_one() -> None:
    assert "parse" not in figures([outcome(GOOD)], CHUNKS)


def test_only_the_first_reply_counts_as_raw() -> None:
    replies = [("no json", reply()), ('{"snippets": 1}',), (reply(snippets=[]),), (reply(),)]
    measured = figures([outcome(GOOD, replies=one) for one in replies], CHUNKS)

    assert (measured["parse"], measured["schema"], measured["rules"]) == (0.75, 0.5, 0.25)


@pytest.mark.parametrize(
    ("unverified", "attribution"),
    [
        (Snippet(chunk_id="1", content="Invented words."), 1.0),
        (Snippet(chunk_id="1", content="four FIVE  six."), 0.5),
        (Snippet(content="Four five six."), 0.5),
    ],
    ids=["invented", "of another chunk", "of no chunk"],
)
def test_raw_rates_count_what_was_not_verified(unverified: Snippet, attribution: float) -> None:
    measured = figures([outcome(GOOD, unverified, replies=(reply(),))], CHUNKS)

    assert (measured["raw verbatim"], measured["raw attribution"]) == (0.5, attribution)
    assert (measured["verbatim"], measured["attribution"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "verbatim", "attribution"),
    [
        ({"content": "one two."}, 0.0, 1.0),
        ({"content": ""}, 0.0, 1.0),
        ({"source_id": "b/y.pdf"}, 1.0, 0.0),
        ({"source_title": "Z"}, 1.0, 0.0),
        ({"source_location": "B"}, 1.0, 0.0),
        ({"chunk_id": "9"}, 0.0, 0.0),
    ],
)
def test_what_was_delivered_is_compared_with_the_index(
    changed: dict[str, str], verbatim: float, attribution: float
) -> None:
    measured = figures([outcome(Snippet(**{**FIELDS, **changed}, verified=True))], CHUNKS)

    assert (measured["verbatim"], measured["attribution"]) == (verbatim, attribution)


def test_a_snippet_is_attributed_to_the_section_that_its_words_stand_in() -> None:
    later = SectionSpan(heading_chain=["A", "C"], span=Span(start=9, end=15))
    chunks = {"1": Chunk(sections=[later])}
    chunks["1"].MergeFrom(CHUNKS["1"])
    named = Snippet(**{**FIELDS, "content": "Three.", "source_location": "A > C"}, verified=True)

    assert figures([outcome(named)], chunks)["attribution"] == 1.0
    assert figures([outcome(GOOD)], chunks)["attribution"] == 1.0


def test_a_phrase_may_come_in_several_snippets_of_its_document() -> None:
    third = Snippet(chunk_id="1", content="Three.", source_id="a/x.pdf", verified=True)
    other = Snippet(chunk_id="2", content="One two. Three.", source_id="b/y.pdf", verified=True)

    assert figures([outcome(GOOD, third)], CHUNKS)["phrases"] == 1.0
    assert figures([outcome(GOOD)], CHUNKS)["phrases"] == 0.0
    measured = figures([outcome(other)], CHUNKS)
    assert (measured["documents"], measured["phrases"]) == (0.0, 0.0)


def test_negatives_are_right_when_there_are_no_results_and_a_failure_is_none() -> None:
    failed = Outcome(SILENT, 0.1, None, "CONTRACT_FAILED: …")
    measured = figures([outcome(question=SILENT), outcome(GOOD, question=SILENT), failed], CHUNKS)

    assert measured["negatives"] == pytest.approx(1 / 3)
    assert measured["failed"] == pytest.approx(1 / 3)


def test_latencies_are_percentiles_in_milliseconds() -> None:
    measured = figures([outcome(GOOD, seconds=one / 100) for one in range(1, 21)], CHUNKS)

    assert (measured["p50 ms"], measured["p95 ms"]) == pytest.approx((100.0, 190.0))
    assert math.isnan(percentile([], 0.5))


def test_every_strategy_is_a_way_that_records_what_the_model_says(tmp_path: Path) -> None:
    recording = tmp_path / "calls.jsonl"

    assert [way.name for way in strategies()] == ["prompt", "json_object", "json_schema"]
    assert all(
        f"CLAUSEGATE_RECORD_MODEL_CALLS={recording}" in way.settings(recording) for way in strategies()
    )
    assert EXTRACTIVE.settings(recording) == ["CLAUSEGATE_SNIPPETS_CACHE_SECONDS=0"]
