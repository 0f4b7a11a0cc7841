import io

from rich.console import Console

from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1.grounding_service_pb2 import LINT_RULE_NUMBER
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from cli.explaining import print_explanation

GATE = answer_pb2.GateDecision(
    enabled=True,
    tier=answer_pb2.GATE_TIER_GRADED,
    rule=answer_pb2.GATE_RULE_BELOW_THRESHOLD,
    top_score=0.126,
    threshold=0.2,
    min_chunks_required=1,
    calibrated=True,
)


def explained(refusal=None, **parts) -> str:
    written = io.StringIO()
    metadata = answer_pb2.Metadata(grader="local")
    debug = debug_pb2.DebugRecord(
        normalized_query="licence fee",
        query_id="q1",
        trace_id="t1",
        explanation=debug_pb2.DebugExplanation(**parts),
    )
    console = Console(file=written, width=200)
    print_explanation(console, QueryResponse(metadata=metadata, debug=debug, refusal=refusal), {})
    return written.getvalue()


def test_the_rule_that_decided_stands_with_its_numbers():
    text = explained(gate=GATE)

    assert "refused: no candidate reaches the threshold" in text
    assert "best graded score 0.126, threshold 0.200" in text
    assert "candidates that reach it: 0, needed: 1" in text


def test_a_candidate_says_what_it_scored_and_what_became_of_it():
    candidate = debug_pb2.DebugCandidate(
        document_id="cme/fees.pdf",
        section="2. Fees",
        similarity=0.5,
        bm25=3.25,
        combined=0.75,
        grade=2,
        score=0.44,
        fate=debug_pb2.CANDIDATE_FATE_BEYOND_LIMIT,
    )

    (line,) = [line for line in explained(candidates=[candidate]).splitlines() if "cme/fees.pdf" in line]

    assert line.split("\t")[1:] == [
        "0.500",
        "3.25",
        "0.750",
        "2",
        "0.440",
        "dropped: enough better ones",
        "cme/fees.pdf › 2. Fees",
    ]


def test_what_a_refused_query_kept_is_not_called_kept():
    candidate = debug_pb2.DebugCandidate(document_id="cme/fees.pdf", fate=debug_pb2.CANDIDATE_FATE_REFUSED)

    text = explained(candidates=[candidate], gate=GATE)

    assert "not used: the gate refused" in text
    assert "kept" not in text


def test_a_refusal_behind_the_gate_says_who_refused():
    gate = answer_pb2.GateDecision(rule=answer_pb2.GATE_RULE_PASSED, passed=True)
    refusal = answer_pb2.Refusal(reason=answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW, gate=gate)

    assert "the gate passed; a model that was shown the best clauses declined" in explained(
        refusal, gate=gate
    )


def test_what_was_left_out_of_a_models_reply_says_why_and_which_rule_it_breaks():
    dropped = debug_pb2.DebugDropped(
        number=2, reason=debug_pb2.DROPPED_REASON_GOES_BEYOND, rules=[LINT_RULE_NUMBER]
    )

    quote = debug_pb2.DebugDropped(number=1, reason=debug_pb2.DROPPED_REASON_SAYS_NOTHING)

    text = explained(dropped_summary_sentences=[dropped], dropped_statements=[quote])

    assert "quote 1 of the model left out: it says nothing by itself" in text
    assert "sentence 2 of the model's summary left out: it says more than its quotes (number)" in text


def test_one_of_a_thing_is_told_as_one():
    usage = [answer_pb2.StageUsage(stage="grade", model="gpt", calls=1, repairs=1)]
    written = io.StringIO()
    print_explanation(Console(file=written, width=200), QueryResponse(usage=usage), {})

    assert "grade by gpt: 1 call, 1 repair, 0 tokens sent" in written.getvalue()


def test_what_was_not_reached_is_not_shown():
    text = explained()

    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "Understood",
        "Found",
        "Graded",
        "Time and cost",
        "Records",
    ]


def test_a_name_that_no_document_bears_leaves_nothing_searched():
    message = "No document names “Microsoft”."
    refusal = answer_pb2.Refusal(
        reason=answer_pb2.REFUSAL_REASON_NO_DOCUMENT_NAMED,
        message=message,
        gate=answer_pb2.GateDecision(enabled=True, rule=answer_pb2.GATE_RULE_NOTHING_RETRIEVED),
    )
    text = explained(refusal)
    assert f"nothing was searched: {message}" in text
    assert "all in scope were searched" not in text
    assert "the question asks for a document by a name that none searched bears" in text
