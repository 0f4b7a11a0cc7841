"""What is kept of a response."""

import pytest

from clausegate.answer.v1.answer_pb2 import Refusal, StageUsage, Statement
from clausegate.answer.v1.debug_pb2 import DebugConfidenceGate, DebugRecord
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation, QuotePart
from clausegate.corpus.v1.span_pb2 import Span
from evals.asking import FAILED, NOTHING_RETRIEVED, Quote, read_reply
from evals.experiments import COST, of_models
from evals.metrics import Passage

NOT_MORE = QuotePart(span=Span(start=5, end=13), text="not more", page=1, last_page=1)
TEN_DAYS = QuotePart(span=Span(start=40, end=48), text="ten days", page=2, last_page=3)
CITATIONS = [
    Citation(number=1, document="a/x.pdf", quote="not more … ten days", parts=[NOT_MORE, TEN_DAYS]),
    Citation(number=2, document="a/x.txt", quote="“Day” means"),
    Citation(number=3, document="a/x.txt", quote="of notice", parts=[QuotePart(span=Span(start=20, end=29))]),
]


def test_quotes_are_those_of_statements_in_order_of_first_use():
    statements = [Statement(citation_numbers=[3]), Statement(citation_numbers=[1, 3])]
    reply = read_reply(QueryResponse(citations=CITATIONS, statements=statements))
    assert reply.quotes == (
        Quote((Passage("a/x.txt", 20, 29),), "of notice", frozenset()),
        Quote(
            (Passage("a/x.pdf", 5, 13), Passage("a/x.pdf", 40, 48)),
            "not more … ten days",
            frozenset({1, 2, 3}),
        ),
    )
    assert [passage.start for passage in reply.passages] == [20, 5, 40]
    assert [passage.start for passage in reply.first_passages] == [20]


def test_citations_of_definitions_count_as_said():
    assert "“Day” means" in read_reply(QueryResponse(answer="x", citations=CITATIONS)).said


def test_a_refusal_is_not_an_answer():
    assert read_reply(QueryResponse(refusal=Refusal())).refused
    assert not read_reply(QueryResponse()).refused


def test_the_score_is_the_gates():
    debug = DebugRecord(confidence_gate=DebugConfidenceGate(top_score=0.0))
    assert read_reply(QueryResponse(debug=debug)).top_score == 0.0


def test_without_a_score_nothing_was_retrieved():
    assert read_reply(QueryResponse()).top_score == NOTHING_RETRIEVED


GRADE = StageUsage(stage="grade", cost_usd=0.01, priced=True)
ANSWER = StageUsage(stage="answer", cost_usd=0.02, priced=True)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ([GRADE, ANSWER], pytest.approx(0.03)),
        ([], None),
        ([GRADE, StageUsage(stage="answer", priced=False)], None),
    ],
    ids=["priced", "no model", "without a price"],
)
def test_a_reply_costs_what_all_its_stages_cost(usage, cost):
    assert read_reply(QueryResponse(usage=usage)).cost_usd == cost


def test_figures_of_models_are_there_where_models_were_called():
    paid = read_reply(QueryResponse(usage=[GRADE]))

    assert of_models([read_reply(QueryResponse())]) == {}
    assert of_models([paid, paid]) == {COST: pytest.approx(10), "failed": 0.0}
    assert of_models([paid, FAILED]) == {COST: pytest.approx(10), "failed": 0.5}
    assert of_models([FAILED]) == {"failed": 1.0}
