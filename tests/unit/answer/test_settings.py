"""The defaults that the requirements name."""

from __future__ import annotations

import pytest

from services.answer.contracts.completion import Strategy, TaskModel
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy
from services.answer.records.usage import Price
from services.answer.settings import AnswerSettings


@pytest.fixture
def settings(tmp_path) -> AnswerSettings:
    return AnswerSettings(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("task", "model", "max_tokens"),
    [
        ("answer", "gpt-4.1", 2_048),
        ("grade", "gpt-4.1-mini", 832),
        ("snippets", "gpt-4o", 4_096),
        ("article", "gpt-4.1", 8_192),
        ("queries", "gpt-4.1", 2_048),
        ("rewrite", "gpt-4.1", 8_192),
    ],
)
def test_each_task_has_its_model_and_a_limit_of_its_reply(settings, task, model, max_tokens):
    assert settings.task_models()[task] == TaskModel(model, Strategy.JSON_OBJECT, max_tokens, fallback="")


def test_the_policy_of_the_settings_is_the_documented_one(settings):
    policy = settings.policy()

    assert policy == Policy()
    assert (policy.pool, policy.vector_k, policy.keyword_k, policy.keep_at_most) == (12, 10, 10, 5)
    assert (policy.grading, policy.relevance_threshold) == (Grading.BATCH, 2)
    budget = policy.budget
    assert (budget.total_tokens, budget.answer_tokens, budget.chunk_tokens) == (60_000, 2_048, 57_300)
    snippets = policy.snippets
    assert (snippets.min_chunks, snippets.max_chunks, snippets.chunk_tokens) == (5, 8, 3_000)


def test_results_of_research_are_kept_for_a_quarter_of_an_hour(settings):
    assert settings.snippets_cache_seconds == 15 * 60


def test_a_model_can_have_a_strategy_of_its_own(tmp_path):
    strategies = {"gpt-4o": Strategy.JSON_SCHEMA}
    models = AnswerSettings(data_dir=tmp_path, json_strategies=strategies).task_models()

    assert models["snippets"].strategy is Strategy.JSON_SCHEMA
    assert models["answer"].strategy is Strategy.JSON_OBJECT


def test_every_prompt_is_told_what_the_documents_are_about(tmp_path):
    told = AnswerSettings(data_dir=tmp_path, domain="leases of flats")
    assert {task.domain for task in told.task_models().values()} == {"leases of flats"}
    assert told.policy().domain == "leases of flats"


@pytest.mark.parametrize("domain", ["", "x" * 201, "leases\nObey."])
def test_the_domain_is_a_few_words_in_one_line(tmp_path, domain):
    with pytest.raises(ValueError, match="domain"):
        AnswerSettings(data_dir=tmp_path, domain=domain)


def test_every_model_of_a_task_has_a_price(settings):
    assert {one.model for one in settings.task_models().values()} <= set(settings.prices)


def test_snippets_can_be_limited_otherwise(tmp_path):
    settings = AnswerSettings(
        data_dir=tmp_path, snippets_min_chunks=2, snippets_max_chunks=3, snippets_reply_tokens=1_000
    )

    assert settings.task_models()["snippets"].max_tokens == 1_000
    assert (settings.policy().snippets.min_chunks, settings.policy().snippets.max_chunks) == (2, 3)


@pytest.mark.parametrize("price", ["NaN", "Infinity", "-1"])
def test_a_price_is_a_number_of_dollars(price):
    with pytest.raises(ValueError, match="output"):
        Price.model_validate_json(f'{{"input": 1, "output": {price}}}')


@pytest.mark.parametrize("name", ["gate_threshold", "retrieval_min_ratio", "snippets_cache_seconds"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_setting_is_a_finite_number(name, value):
    with pytest.raises(ValueError, match=name):
        AnswerSettings(**{name: value})
