import numpy as np
import pytest

from corpus.spans import Span
from tests.unit.training.questions import chunk, found, question
from training.figures import (
    ReadQuestion,
    best_weight,
    finding_figures,
    gate_figures,
    groups_to_read,
    read_questions,
    today_figures,
)
from training.scores import Scores


def scores(*answers: float) -> Scores:
    return Scores.of(np.array(answers, np.float32), [np.zeros(1, np.float32) for _ in answers])


def read(gold: Span | None, first: float, second: float, gate: float = 0.5) -> ReadQuestion:
    """A question whose two chunks, the contract's first two sentences, the reader gave these logits."""
    asked = question(*([gold] if gold else []))
    by_id = {"q": found(chunk(0, 0.2), chunk(1, 0.1), gate=gate)}
    return read_questions([asked], by_id, scores(first, second))[0]


def test_the_gate_takes_the_best_window_and_todays_score():
    asked = read(None, -1.0, 2.0, gate=0.5)
    assert asked.gate(0.0) == 2.0
    assert asked.gate(4.0) == 4.0


def test_nothing_found_scores_below_every_window():
    assert read_questions([question()], {"q": found()}, scores())[0].gate(1.0) < -99


def test_the_reader_may_put_another_chunk_first_than_search_did():
    asked = read(Span(14, 26), -1.0, 2.0)
    assert asked.first_chunk_is_right(0.0)
    assert not asked.first_chunk_is_right(50.0)


def test_figures_of_finding_count_questions_with_an_answer_only():
    figures = finding_figures([read(Span(14, 26), -1.0, 2.0), read(None, 1.0, 1.0)], 0.0)
    assert figures == {
        "first chunk": 1.0,
        "one of five chunks": 1.0,
        "first sentence": 1.0,
        "one of three sentences": 1.0,
    }


def test_the_gate_is_worth_what_tells_questions_with_an_answer_from_others():
    asked = [read(Span(0, 13), 2.0, 0.0), read(None, 1.0, 0.0)]
    assert gate_figures(asked, 0.0) == {"AUROC": 1.0, "refused at 5 %": 1.0, "refused at 8 %": 1.0}


def test_todays_figures_go_by_the_products_own_scores():
    asked = [read(Span(0, 13), -9.0, -9.0, gate=0.9), read(None, 9.0, 9.0, gate=0.1)]
    assert today_figures(asked)["AUROC"] == 1.0
    assert today_figures(asked)["first chunk"] == 1.0


@pytest.mark.parametrize(("gates", "weight"), [((0.5, 0.5), 0.0), ((0.9, 0.1), 2.0)])
def test_the_smallest_weight_with_the_best_auroc_is_chosen(gates, weight):
    asked = [read(Span(0, 13), 1.0, 0.0, gate=gates[0]), read(None, 2.0, 0.0, gate=gates[1])]
    assert best_weight(asked).gate == weight


def test_a_weight_for_the_rank_is_the_smallest_that_puts_most_right_chunks_first():
    asked = [read(Span(0, 13), 1.0, 1.15), read(Span(0, 13), 1.0, 0.0)]
    assert best_weight(asked).rank == 2.0


def test_every_window_is_read_and_those_of_other_documents_hold_no_evidence():
    by_id = {"q": found(chunk(0), chunk(0, document="other.txt"))}
    (group,) = groups_to_read([question(Span(0, 13))], by_id)
    assert group.question == "when?"
    assert [example.answers for example in group.examples] == [True, False]
