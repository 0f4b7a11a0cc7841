import pytest

from inference.chat.model import TokenUsage
from services.answer.records.usage import BudgetExceeded, Ledger, Price

PRICES = {"small": Price(input=1.0, output=2.0)}
MILLION = TokenUsage(1_000_000, 1_000_000)


def test_a_call_that_runs_holds_back_what_it_may_cost():
    ledger = Ledger(PRICES, max_cost_usd=5.0)
    held = ledger.reserve("small", MILLION)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("small", MILLION)
    ledger.release(held)
    assert ledger.reserve("small", MILLION) == 3.0


def test_what_was_spent_counts_against_the_limit():
    ledger = Ledger(PRICES, max_cost_usd=5.0)
    ledger.record("answer", "small", MILLION, repair=False)
    with pytest.raises(BudgetExceeded, match=r"2\.000000 are left"):
        ledger.reserve("small", MILLION)


def test_a_model_without_a_price_cannot_be_limited():
    with pytest.raises(BudgetExceeded, match="CLAUSEGATE_PRICES"):
        Ledger(PRICES, max_cost_usd=1.0).reserve("unknown", TokenUsage(1, 1))


def test_a_model_without_a_price_is_counted_and_said_to_have_none():
    ledger = Ledger(PRICES)
    ledger.release(ledger.reserve("unknown", MILLION))
    ledger.record("answer", "unknown", MILLION, repair=False)
    (stage,) = ledger.stages
    assert (stage.priced, stage.cost_usd, stage.prompt_tokens) == (False, 0.0, 1_000_000)


def test_a_limit_of_nothing_stops_every_call():
    with pytest.raises(BudgetExceeded):
        Ledger(PRICES, max_cost_usd=0.0).reserve("small", TokenUsage(1, 0))
