from io import StringIO

import pytest
from rich.console import Console

from clausegate.answer.v1.answer_pb2 import DryRun, Metadata, StageEstimate, StageUsage
from cli.costs import cost, footer, model_notes, print_dry_run

GRADE = StageUsage(
    stage="grade",
    model="m",
    calls=1,
    prompt_tokens=3000,
    completion_tokens=40,
    cost_usd=0.00632,
    priced=True,
)
ANSWER = StageUsage(
    stage="answer",
    model="m",
    calls=2,
    repairs=1,
    prompt_tokens=4000,
    completion_tokens=60,
    cost_usd=0.01,
    priced=True,
)
UNPRICED = StageUsage(stage="answer", model="local-model", calls=1, prompt_tokens=5, completion_tokens=1)


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ([], ""),
        ([GRADE], "1 call, 3,000 tokens sent, 40 received, $0.0063"),
        ([GRADE, ANSWER], "3 calls, 7,000 tokens sent, 100 received, $0.0163"),
        ([UNPRICED], "1 call, 5 tokens sent, 1 received, no price for local-model"),
        (
            [GRADE, UNPRICED],
            "2 calls, 3,005 tokens sent, 41 received, $0.0063 and no price for local-model",
        ),
    ],
)
def test_what_models_cost_is_said_in_words(usage, words):
    assert cost(usage) == words


def test_a_footer_names_the_model_and_the_time():
    metadata = Metadata(model="gpt-4.1")
    metadata.latency.FromMilliseconds(1234)
    assert footer(metadata, []) == "gpt-4.1 · 1,234 ms"
    assert footer(metadata, [GRADE]).startswith("gpt-4.1 · 1 call, 3,000 tokens sent")


def test_a_failed_grading_and_dropped_statements_are_notes():
    notes = list(
        model_notes(
            Metadata(grading_failure="MODEL_RATE_LIMITED", dropped_statements=2, dropped_summary_sentences=1)
        )
    )
    assert notes == [
        "the model's grading failed (MODEL_RATE_LIMITED); clauses were graded locally",
        "2 quotes of the model left out: not in the documents, or a heading",
        "1 sentence of the model's summary left out: the quotes do not carry what was said",
    ]
    assert not list(model_notes(Metadata()))


def shown(dry_run):
    console = Console(file=StringIO(), width=120)
    print_dry_run(console, dry_run)
    return console.file.getvalue().splitlines()


def test_a_dry_run_is_a_line_for_each_stage_and_the_sum():
    stages = [
        StageEstimate(
            stage="grade",
            model="m",
            prompt_tokens=3000,
            max_completion_tokens=1024,
            max_cost_usd=0.0142,
            priced=True,
        ),
        StageEstimate(stage="answer", model="other", prompt_tokens=9000, max_completion_tokens=2048),
    ]
    assert shown(DryRun(stages=stages, max_cost_usd=0.0142)) == [
        "grade\tm\t3,000\t1,024\t$0.0142",
        "answer\tother\t9,000\t2,048\tno price",
        "at most $0.0142; nothing was sent",
    ]


def test_a_dry_run_without_a_model_says_so():
    assert shown(DryRun()) == ["no model is configured: nothing would be sent"]
