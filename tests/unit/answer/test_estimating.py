from __future__ import annotations

import pytest

from corpus.chunks import Chunk
from corpus.spans import Span
from inference.tokens import TokenCounter
from services.answer.answers import StageEstimate
from services.answer.context import CODE_TOKENS, enclose, lay_out
from services.answer.contracts import answer, grade
from services.answer.contracts.completion import Completer, TaskModel
from services.answer.corpus import ResolvedDefinition
from services.answer.evidence.budget import BudgetLimits
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy
from services.answer.query import answering
from services.answer.query.defining import as_chunk
from services.answer.query.estimating import Estimates
from services.answer.query.model_grading import Pool
from services.answer.records.usage import Ledger, Price
from tests.unit.nouns import a_chunk, a_definition

BY_CHARACTER = TokenCounter("characters", len)
QUESTION = "What is the fee?"
TASKS = {"grade": TaskModel("small", max_tokens=100), "answer": TaskModel("large", max_tokens=2_000)}
PRICES = {"small": Price(input=1, output=2), "large": Price(input=2, output=8)}
CODE = "f" * 16


def chunk(length: int, start: int = 0) -> Chunk:
    text = "x" * length
    return a_chunk(text, chunk_id="id", alias="a", span=Span(start, start + length))


def definition(length: int) -> ResolvedDefinition:
    one = a_definition("Device", "y" * length, span=Span(9_000 * length, 9_001 * length), chunk_id="id")
    return ResolvedDefinition(one, 1, "", ())


CHUNKS = [chunk(100 * n, start=1_000 * n) for n in range(1, 9)]
POOL = Pool(QUESTION, CHUNKS)
DEFINITIONS = [definition(10 * n) for n in range(1, 12)]


def estimates(prices=PRICES, **policy) -> Estimates:
    completer = Completer(None, TASKS, lambda model: BY_CHARACTER)
    return Estimates(completer, BY_CHARACTER, Policy(**policy), Ledger(prices))


def sent(contract, prompt: str) -> int:
    return Completer(None, TASKS, lambda model: BY_CHARACTER).prompt_tokens(contract, prompt)


def test_grading_in_one_call_sends_all_passages_at_once():
    stage = estimates().grading(POOL)
    real = sent(grade.CONTRACT, POOL.prompt(CODE))
    assert real <= stage.prompt_tokens <= real + 32
    assert (stage.stage, stage.model, stage.max_completion_tokens) == ("grade", "small", 100)


def test_grading_each_sends_the_prompt_as_often_as_there_are_candidates():
    stage = estimates(grading=Grading.EACH).grading(POOL)
    real = sum(sent(grade.CONTRACT, part.prompt(CODE)) for part in POOL.each())
    assert real <= stage.prompt_tokens <= real + 32 * 8
    assert stage.max_completion_tokens == 800


def test_an_answer_sends_at_most_the_longest_chunks_and_definitions():
    stage = estimates().answer(POOL, DEFINITIONS)
    longest = [*CHUNKS[-5:], *(as_chunk(one.definition) for one in DEFINITIONS[-8:])]
    real = sent(answer.CONTRACT, answer.prompt(QUESTION, lay_out(longest, CODE).text))
    most = real + 2 * CODE_TOKENS + len(enclose("", CODE))
    assert real <= stage.prompt_tokens <= most
    assert (stage.stage, stage.model, stage.max_completion_tokens) == ("answer", "large", 2_000)


def test_an_answer_sends_no_more_than_its_budget():
    budget = BudgetLimits(total_tokens=6_000, answer_tokens=500, chunk_tokens=300)
    stage = estimates(budget=budget).answer(POOL, ())
    prompt = answering.prompt_tokens(Completer(None, TASKS, lambda model: BY_CHARACTER), QUESTION)
    assert stage.prompt_tokens == prompt + budget.for_chunks(prompt)


def test_a_stage_costs_what_its_tokens_cost_at_the_models_price():
    stage = estimates().grading(POOL)
    assert stage.max_cost_usd == pytest.approx((stage.prompt_tokens * 1 + 100 * 2) / 1_000_000)
    assert stage.priced


def test_a_model_without_a_price_says_so():
    stage = estimates(prices={}).grading(POOL)
    assert (stage.max_cost_usd, stage.priced) == (0.0, False)
    assert isinstance(stage, StageEstimate)
