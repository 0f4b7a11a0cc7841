import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from inference.chat.model import ChatReply, ChatRequest, JsonSchema, PlainFormat, Role, TokenUsage
from inference.tokens import TokenCounter
from services.answer.contracts.completion import (
    Completer,
    Contract,
    ContractFailed,
    ModelNotConfigured,
    Reply,
    Strategy,
    TaskModel,
    read_json,
    without_fences,
)
from services.answer.records.usage import BudgetExceeded, Ledger, Price

BY_CHARACTER = TokenCounter("characters", len)
USAGE = TokenUsage(100, 10)
PRICES = {"small": Price(input=1.0, output=2.0), "large": Price(input=10.0, output=20.0)}


class Colours(Reply):
    colours: list[str] = Field(min_length=1)
    count: int


COLOURS = Contract("colours", "colours/1", Colours, "Name colours.")
GOOD = '{"colours": ["red"], "count": 1}'


class Script:
    """A chat model that says what it is told to say, in order."""

    def __init__(self, *texts: str, usage: TokenUsage = USAGE, finish: str = "stop") -> None:
        self.texts = list(texts)
        self.usage = usage
        self.finish = finish
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return ChatReply(self.texts.pop(0), self.usage, self.finish)


def counts_right(reply: Colours) -> Sequence[str]:
    return () if reply.count == len(reply.colours) else (f"count is {reply.count}.",)


def completer(chat: Script | None, **task) -> Completer:
    return Completer(chat, {"colours": TaskModel("small", **task)}, lambda model: BY_CHARACTER)


async def ask(chat: Script | None, ledger: Ledger | None = None, **task):
    return await completer(chat, **task).ask(COLOURS, "Which?", counts_right, ledger or Ledger(PRICES))


async def test_a_good_reply_takes_one_call():
    chat = Script(GOOD)
    kept = await ask(chat)
    assert kept.reply.colours == ["red"]
    assert (kept.model, kept.repaired, len(chat.requests)) == ("small", False, 1)


async def test_the_prompt_says_what_the_documents_are_about():
    chat = Script(GOOD)
    contract = Contract("colours", "colours/1", Colours, "Name colours of $DOMAIN.")
    asked = completer(chat, domain="leases of flats")
    await asked.ask(contract, "Which?", counts_right, Ledger(PRICES))
    assert chat.requests[0].messages[0].content == "Name colours of leases of flats."
    assert asked.prompt_tokens(contract, "") == len("Name colours of leases of flats.") + 16


@pytest.mark.parametrize(
    "text",
    [f"```json\n{GOOD}\n```", f"Here it is:\n```\n{GOOD}\n```\nDone.", GOOD[:-1] + ', "note": "extra"}'],
    ids=["fenced", "fenced among words", "extra field"],
)
async def test_a_reply_with_something_around_it_needs_no_repair(text):
    assert not (await ask(Script(text))).repaired


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Sure: {GOOD}", "not JSON"),
        (GOOD[:-5], "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"count": 1}', "colours: Field required"),
        ('{"colours": ["red"], "count": "1"}', "count: Input should be a valid integer"),
        ('{"colours": [], "count": 0}', "colours: List should have at least 1 item"),
        ('{"colours": ["red"], "count": 7}', "count is 7."),
        ('{"colours": ["\\ud800"], "count": 1}', "surrogates not allowed"),
    ],
    ids=["commentary", "cut", "empty", "nest", "missing", "type", "short", "own rule", "surrogate"],
)
async def test_a_bad_reply_is_asked_for_once_more_and_told_what_is_wrong(text, told):
    chat = Script(text, GOOD)
    assert (await ask(chat)).repaired
    repair = chat.requests[1].messages
    assert [one.role for one in repair][:2] == [Role.SYSTEM, Role.USER]
    assert told in repair[-1].content


async def test_a_reply_that_was_cut_off_is_not_used_even_if_it_parses():
    with pytest.raises(ContractFailed):
        await ask(Script(GOOD, GOOD, finish="length"))


async def test_a_repair_that_fails_is_a_typed_failure_and_no_third_call():
    chat = Script("no", "no", GOOD)
    with pytest.raises(ContractFailed) as caught:
        await ask(chat)
    assert (caught.value.code, caught.value.reason) == ("UNAVAILABLE", "CONTRACT_FAILED")
    assert "no" not in caught.value.message.split()
    assert len(chat.requests) == 2


async def test_a_fallback_model_is_asked_when_the_first_fails_twice():
    chat = Script("no", "no", GOOD)
    kept = await ask(chat, fallback="large")
    assert kept.model == "large"
    assert [one.model for one in chat.requests] == ["small", "small", "large"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [(Strategy.PROMPT, PlainFormat.TEXT), (Strategy.JSON_OBJECT, PlainFormat.JSON_OBJECT)],
)
async def test_a_strategy_asks_for_its_format(strategy, expected):
    chat = Script(GOOD)
    await ask(chat, strategy=strategy)
    assert chat.requests[0].reply_format is expected


async def test_the_schema_strategy_sends_a_schema_that_requires_every_field_and_no_other():
    chat = Script(GOOD)
    await ask(chat, strategy=Strategy.JSON_SCHEMA)
    sent = chat.requests[0].reply_format
    assert isinstance(sent, JsonSchema)
    assert sent.schema["required"] == ["colours", "count"]
    assert sent.schema["additionalProperties"] is False


async def test_without_a_model_the_error_names_the_settings():
    with pytest.raises(ModelNotConfigured, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL") as caught:
        await ask(None)
    assert (caught.value.code, caught.value.reason) == ("FAILED_PRECONDITION", "MODEL_NOT_CONFIGURED")


async def test_usage_counts_calls_and_repairs_at_the_price_of_the_model():
    ledger = Ledger(PRICES)
    await ask(Script("no", GOOD), ledger)
    (stage,) = ledger.stages
    assert (stage.stage, stage.model, stage.calls, stage.repairs) == ("colours", "small", 2, 1)
    assert (stage.prompt_tokens, stage.completion_tokens) == (200, 20)
    assert stage.cost_usd == pytest.approx((200 * 1 + 20 * 2) / 1e6)


@pytest.mark.parametrize("usage", [TokenUsage(), TokenUsage(5, 0), TokenUsage(0, 5)])
async def test_a_server_that_says_nothing_of_usage_is_counted_by_our_own_count(usage):
    ledger = Ledger(PRICES)
    await ask(Script(GOOD, usage=usage), ledger)
    assert ledger.tokens.prompt_tokens >= len("Name colours.") + len("Which?")
    assert ledger.tokens.completion_tokens == len(GOOD)


async def test_a_call_that_could_cost_too_much_is_not_made():
    chat = Script(GOOD)
    with pytest.raises(BudgetExceeded) as caught:
        await ask(chat, Ledger(PRICES, max_cost_usd=1e-6))
    assert caught.value.field == "max_cost_usd"
    assert chat.requests == []


def test_the_hash_of_a_contract_changes_with_its_prompt_and_with_its_class():
    class More(Colours):
        shade: str

    hashes = {
        COLOURS.sha256,
        Contract("colours", "colours/1", Colours, "Name shades.").sha256,
        Contract("colours", "colours/1", More, "Name colours.").sha256,
    }
    assert len(hashes) == 3


@given(st.text())
def test_any_text_is_json_or_a_value_error(text):
    try:
        read_json(text)
    except ValueError:
        return


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.sampled_from(["", "json", "JSON "]))
def test_fences_come_off_without_touching_what_they_hold(value, language):
    spelled = json.dumps(value)
    assert json.loads(without_fences(f"```{language}\n{spelled}\n```")) == value
