from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from google.protobuf.descriptor import Descriptor

from chassis.auth import Caller
from clausegate.answer.v1 import debug_pb2
from corpus.spans import Span
from services.answer.answers import GateDecision, GateRule, GateTier
from services.answer.corpus import Background, Candidate, Found, Leg, ResolvedDefinition
from services.answer.evidence.budget import BudgetReport
from services.answer.evidence.grading import GradedCandidate
from services.answer.query.progress import Progress, describe, explained
from services.answer.query.stating import Dropped, Why
from services.answer.questions import Question
from services.answer.records.tracking import Clock, Run, TaskName
from services.answer.records.usage import Ledger
from services.answer.verification.lint import LintRule
from tests.unit.nouns import a_chunk, a_definition

CLOCK = Clock(
    now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    seconds=iter(range(1000)).__next__,
    new_id=lambda: "id",
    new_code=lambda: "0123456789abcdef",
)
CHUNK = a_chunk(
    "A fee.",
    chunk_id="c",
    alias="a",
    title="Fees",
    section="1. Fees",
    span=Span(0, 6),
    sentences=(Span(0, 6),),
)
GRADED = GradedCandidate(Candidate(CHUNK, 0.5, bm25=1.0, combined=0.6, windows=()), 0.4, 0.6, grade=2)
DEFINITION = ResolvedDefinition(
    a_definition("Fee", "“Fee” is", span=Span(0, 8), chunk_id="c"),
    1,
    "",
    (),
)
FOUND = Found(
    normalized_query="fee",
    clause_question="fee",
    candidates=(GRADED.candidate,),
    vector=Leg(1, 0.5),
    keyword=Leg(1, 1.0),
    merged_count=2,
    unique_chunks=1,
    background=Background(0.1, True),
    routed={"cme/a.txt": 1.0},
    keyword_stems=("fee",),
    lexicon_stems=(),
    index_revision="7",
)
GATE = GateDecision(True, True, GateTier.GRADED, GateRule.PASSED, 0.4, 0.2, 1, 1, None, True)


def progress(**changed: object) -> Progress:
    """A query that has come all the way."""
    run = Run(TaskName.QUERY, "fee?", (), Caller("default", "anna"), "ab" * 16, CLOCK, Ledger())
    whole = Progress(
        run,
        Question("fee?"),
        "m",
        found=FOUND,
        ranked=(GRADED,),
        kept=(GRADED,),
        strong=(GRADED,),
        packed=(GRADED,),
        gate=GATE,
        budget=BudgetReport(100, 50, 1, 0),
        resolved=(DEFINITION,),
        dropped=(Dropped(1, Why.SAYS_NOTHING),),
        dropped_sentences=(Dropped(1, Why.GOES_BEYOND, (LintRule.NUMBER,)),),
        seconds={"grade": 0.5},
    )
    return replace(whole, **changed)


def untold(told: Mapping[str, object], message: Descriptor) -> Iterator[str]:
    """Fields of a message, and of the messages in it, that are not told."""
    yield from (f"{message.name}.{name}" for name in message.fields_by_name.keys() - told.keys())
    for name, part in told.items():
        for inner in part if isinstance(part, list) else [part]:
            if isinstance(inner, Mapping):
                yield from untold(inner, message.fields_by_name[name].message_type)


def fate(explanation: Mapping[str, object]) -> int:
    (candidate,) = debug_pb2.DebugRecord(**explanation).explanation.candidates
    return candidate.fate


def test_a_person_is_told_every_field_of_the_message():
    assert list(untold(explained(progress()), debug_pb2.DebugRecord.DESCRIPTOR)) == []


def test_the_log_of_debug_records_is_told_everything_but_the_explanation():
    described = describe(progress())
    assert list(untold(described, debug_pb2.DebugRecord.DESCRIPTOR)) == ["DebugRecord.explanation"]


@pytest.mark.parametrize("why", Why)
def test_every_reason_to_drop_something_has_a_name_on_the_wire(why):
    lost = (Dropped(2, why),)
    message = debug_pb2.DebugRecord(**explained(progress(dropped=lost, dropped_sentences=lost)))
    (quote,) = message.explanation.dropped_statements
    (sentence,) = message.explanation.dropped_summary_sentences
    assert debug_pb2.DroppedReason.Name(quote.reason) == f"DROPPED_REASON_{why.name}"
    assert sentence == quote


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, debug_pb2.CANDIDATE_FATE_KEPT),
        ({"packed": ()}, debug_pb2.CANDIDATE_FATE_OVER_BUDGET),
        ({"packed": None}, debug_pb2.CANDIDATE_FATE_KEPT),
        ({"gate": replace(GATE, passed=False)}, debug_pb2.CANDIDATE_FATE_REFUSED),
        ({"kept": ()}, debug_pb2.CANDIDATE_FATE_BEYOND_LIMIT),
        ({"kept": (), "strong": ()}, debug_pb2.CANDIDATE_FATE_TOO_WEAK),
    ],
    ids=["kept", "over the budget", "budget not reached", "refused", "beyond the limit", "too weak"],
)
def test_a_candidate_says_what_became_of_it(changed, expected):
    assert fate(explained(progress(**changed))) == expected
