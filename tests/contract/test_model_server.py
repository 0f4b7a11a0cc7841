"""Chat with a model server over real HTTP: every way it can misbehave becomes one typed error, in time."""

import asyncio
import json
import logging
import re
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from opentelemetry import trace

from chassis.limits.deadlines import set_deadline
from inference.chat.client import OpenAIChat
from inference.chat.model import ChatReply, ChatRequest, JsonSchema, Message, PlainFormat, Role, TokenUsage
from inference.embedding.openai import OpenAIEmbedding
from inference.errors import ModelQueueFull, ModelRateLimited, ModelRejected, ModelServerUnavailable
from inference.settings import ModelServerSettings
from inference.transport import ModelServer as Connection
from tests.contract.traces import kept_spans
from tests.fakes import behaviours as fake
from tests.fakes.model_server import ModelServer

TELEMETRY = Path(__file__).resolve().parents[2] / "docs" / "telemetry.md"
SECRET = "the secret fee is 5,120 dollars"
REQUEST = ChatRequest("gpt-4.1", (Message(Role.SYSTEM, "Answer in JSON."), Message(Role.USER, SECRET)), 50)
GOOD = fake.Says("a reply")
KEY = "sk-test-0123456789"


@pytest.fixture(scope="module", autouse=True)
def spans():
    """Every span that ends in this process meanwhile."""
    with kept_spans() as kept:
        yield kept


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@asynccontextmanager
async def chatting(server, **settings):
    settings = ModelServerSettings(**{"OPENAI_BASE_URL": server.url, "model_deadline_seconds": 60} | settings)
    connection = Connection(settings)
    try:
        yield OpenAIChat(connection, settings)
    finally:
        await connection.close()


async def ask(server, *behaviours, request=REQUEST, **settings):
    server.reply(*behaviours)
    async with chatting(server, **settings) as chat:
        return await chat.complete(request)


async def test_a_reply_comes_with_usage_and_reason(server):
    assert await ask(server, GOOD) == ChatReply("a reply", TokenUsage(11, 7), "stop")


async def test_the_request_says_what_was_asked_for(server):
    await ask(server, GOOD)

    assert server.requests[0].body == {
        "model": "gpt-4.1",
        "messages": [
            {"role": "system", "content": "Answer in JSON."},
            {"role": "user", "content": SECRET},
        ],
        "max_tokens": 50,
        "temperature": 0.0,
        "seed": 0,
        "response_format": {"type": "text"},
    }


async def test_models_that_reason_are_given_no_temperature_and_the_newer_limit(server):
    await ask(server, GOOD, request=ChatRequest("o4-mini", REQUEST.messages, 50))
    body = server.requests[0].body

    assert body["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature"} & body.keys()


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (PlainFormat.JSON_OBJECT, {"type": "json_object"}),
        (
            JsonSchema("answer", {"type": "object", "properties": {}, "additionalProperties": False}),
            {
                "type": "json_schema",
                "json_schema": {
                    "name": "answer",
                    "schema": {"type": "object", "properties": {}, "additionalProperties": False},
                    "strict": True,
                },
            },
        ),
    ],
)
async def test_formats_are_asked_for_as_the_protocol_spells_them(server, wanted, sent):
    await ask(server, GOOD, request=ChatRequest("m", REQUEST.messages, 50, wanted))

    assert server.requests[0].body["response_format"] == sent


async def test_a_server_without_keys_needs_none(server):
    assert (await ask(server, GOOD)).text == "a reply"


async def test_the_key_is_sent_without_the_line_break_of_its_file():
    async with ModelServer(key=KEY) as server:
        assert (await ask(server, GOOD, OPENAI_API_KEY=f"{KEY}\n")).text == "a reply"


async def test_organisation_and_project_of_the_environment_are_not_sent(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    await ask(server, GOOD)

    assert not {"openai-organization", "openai-project"} & server.requests[0].headers.keys()


async def test_proxies_of_the_environment_are_not_used(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert (await ask(server, GOOD)).text == "a reply"


@pytest.mark.parametrize(
    "behaviour", [fake.EMPTY, fake.NULL, fake.DECLINES], ids=["empty", "null", "refusal"]
)
async def test_a_model_that_says_nothing_gives_an_empty_reply(server, behaviour):
    assert (await ask(server, behaviour)).text == ""


async def test_what_cannot_be_encoded_is_replaced(server):
    body = {"choices": [{"message": {"content": "a\ud800b"}, "finish_reason": "st\udfffop"}]}

    reply = await ask(server, fake.Raw(json.dumps(body).encode()))

    assert (reply.text, reply.finish_reason) == ("a?b", "st?op")


@pytest.mark.parametrize(
    "usage", [None, {}, [], {"prompt_tokens": -1, "completion_tokens": "7"}, {"prompt_tokens": True}]
)
async def test_usage_that_is_none_counts_nothing(server, usage):
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": None}], "usage": usage}

    assert await ask(server, fake.Raw(json.dumps(body).encode())) == ChatReply("x", TokenUsage(), "")


@pytest.mark.parametrize(
    "behaviour",
    [
        fake.HTML,
        fake.NOT_UTF8,
        fake.NO_JSON,
        fake.NO_CHOICES,
        fake.WRONG_SHAPE,
        fake.TOO_LONG,
        fake.NO_BODY,
        fake.Raw(b"[" * 200_000),
        fake.Raw(b"9" * 10_000),
        fake.Raw(b'{"choices": [{"message": null}]}'),
        fake.Raw(b'{"choices": [{"message": {"content": {"text": "x"}}}]}'),
    ],
)
async def test_junk_is_no_reply(server, behaviour):
    with pytest.raises(ModelServerUnavailable, match="no chat completion") as failed:
        await ask(server, behaviour)
    assert failed.value.retry_after_seconds is not None


async def test_a_body_without_end_is_cut_off_by_its_size(server):
    with pytest.raises(ModelServerUnavailable, match="more than 16777216 bytes"):
        await ask(server, fake.Junk())
    await asyncio.wait_for(server.requests[0].hung_up.wait(), 20)


@pytest.mark.parametrize("behaviour", [fake.Hangs(), fake.Trickles(GOOD), fake.Slowly(GOOD, 60)])
async def test_a_server_that_takes_too_long_is_given_up_before_the_callers_deadline(server, behaviour):
    set_deadline(0.6)
    with pytest.raises(ModelServerUnavailable, match="did not answer within") as failed:
        await ask(server, behaviour)

    # Nothing is left of the deadline when the machine has stood still since.
    assert 0 <= float(re.findall(r"within ([0-9.]+) seconds", str(failed.value))[0]) < 0.6
    assert failed.value.retry_after_seconds is not None


async def test_the_limit_of_the_settings_counts_without_any_deadline(server):
    with pytest.raises(ModelServerUnavailable, match=r"within 0\.2 seconds"):
        await ask(server, fake.Hangs(), model_deadline_seconds=0.2)


async def test_a_deadline_that_has_passed_asks_nothing(server):
    set_deadline(0)
    with pytest.raises(ModelServerUnavailable):
        await ask(server, GOOD)

    assert server.requests == []


async def test_what_may_be_gone_the_next_time_is_tried_again(server):
    passing = {
        "reset": fake.Resets(),
        "reset within the body": fake.Resets(within=GOOD),
        "closed": fake.Closes(),
        "too short": fake.TOO_SHORT,
        **{str(status): fake.Fails(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)},
        "at once": fake.Fails(503, retry_after=0),
    }
    asked = []

    def respond(request):
        asked.append(request.body["model"])
        return passing[asked[-1]] if asked.count(asked[-1]) == 1 else GOOD

    server.respond = respond
    async with chatting(server) as chat:
        replies = await asyncio.gather(
            *(chat.complete(ChatRequest(name, REQUEST.messages, 50)) for name in passing)
        )

    assert {reply.text for reply in replies} == {"a reply"}
    assert sorted(asked) == sorted([*passing, *passing])


async def test_a_call_is_sent_as_often_as_the_settings_say(server):
    with pytest.raises(ModelServerUnavailable, match="status 503"):
        await ask(server, *[fake.Fails(503)] * 3, model_attempts=2)

    assert len(server.requests) == 2


async def test_retry_after_is_waited_for(server):
    await ask(server, fake.Fails(429, retry_after=1), GOOD)

    assert server.requests[1].at - server.requests[0].at >= 1


@pytest.mark.parametrize(
    ("behaviour", "error", "told"),
    [
        (fake.Fails(429, retry_after=30), ModelRateLimited, 30),
        (fake.Fails(429, retry_after=timedelta(seconds=30)), ModelRateLimited, 30),
        (fake.Fails(503, retry_after=30), ModelServerUnavailable, 30),
    ],
)
async def test_a_wait_beyond_the_deadline_is_passed_on_at_once(server, behaviour, error, told):
    set_deadline(20)
    with pytest.raises(error) as failed:
        await ask(server, behaviour)

    assert "did not answer" not in str(failed.value)
    assert failed.value.retry_after_seconds == pytest.approx(told, abs=9)
    assert len(server.requests) == 1


async def test_a_rate_limit_that_stays_is_the_callers_to_wait_for(server):
    with pytest.raises(ModelRateLimited) as failed:
        await ask(server, *[fake.Fails(429)] * 2, model_attempts=2)

    assert (failed.value.code, failed.value.reason) == ("RESOURCE_EXHAUSTED", "MODEL_RATE_LIMITED")
    assert failed.value.retry_after_seconds is not None


@pytest.mark.parametrize(
    ("status", "named"),
    [
        (400, "model's name and its settings"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "model's name and OPENAI_BASE_URL"),
        (422, "settings"),
        (302, "OPENAI_BASE_URL"),
    ],
)
async def test_a_call_that_is_refused_names_what_to_check_and_is_not_repeated(server, status, named):
    with pytest.raises(ModelRejected, match=named) as failed:
        await ask(server, fake.Fails(status, message=f"You said: {SECRET}"))

    assert (failed.value.code, failed.value.reason) == ("FAILED_PRECONDITION", "MODEL_REJECTED")
    assert SECRET not in failed.value.message
    assert failed.value.__cause__ is failed.value.__context__ is None
    assert len(server.requests) == 1


async def test_a_server_that_is_not_there_is_unavailable(free_port):
    settings = ModelServerSettings(
        OPENAI_BASE_URL=f"http://127.0.0.1:{free_port()}/v1", model_attempts=2, model_deadline_seconds=60
    )
    connection = Connection(settings)
    with pytest.raises(ModelServerUnavailable, match="cannot be reached"):
        await OpenAIChat(connection, settings).complete(REQUEST)
    await connection.close()


async def test_no_more_calls_run_at_once_than_the_settings_say(server):
    server.respond = lambda request: GOOD
    async with chatting(server, model_concurrency=3) as chat:
        await asyncio.gather(*(chat.complete(REQUEST) for _ in range(20)))

    assert server.most_running <= 3


async def test_more_calls_than_may_wait_are_refused_at_once(server):
    goes_on = asyncio.Event()
    server.respond = lambda request: fake.Waits(GOOD, goes_on)
    async with chatting(server, model_concurrency=1, model_queue=1) as chat:
        calls = [asyncio.create_task(chat.complete(REQUEST)) for _ in range(2)]
        await server.received(1)
        with pytest.raises(ModelQueueFull):
            await chat.complete(REQUEST)
        goes_on.set()
        replies = await asyncio.gather(*calls)

    assert [reply.text for reply in replies] == ["a reply"] * 2


async def test_waiting_for_a_turn_counts_as_well(server):
    server.respond = lambda request: fake.Hangs()
    async with chatting(server, model_concurrency=1, model_deadline_seconds=0.3) as chat:
        outcomes = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(2)), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [ModelServerUnavailable] * 2


async def test_a_caller_who_goes_away_ends_the_call_at_the_server(server):
    server.respond = lambda request: fake.Hangs()
    async with chatting(server) as chat:
        call = asyncio.create_task(chat.complete(REQUEST))
        await server.received(1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await asyncio.wait_for(server.requests[0].hung_up.wait(), 20)

    assert call.cancelled()


@pytest.mark.parametrize(
    "behaviour",
    [GOOD, fake.HTML, fake.Fails(400, message=SECRET), fake.Fails(401, code=SECRET), fake.Resets()],
)
async def test_neither_logs_nor_spans_hold_prompts_replies_or_the_key(server, spans, caplog, behaviour):
    caplog.set_level(logging.DEBUG)
    spans.clear()
    server.reply(behaviour)
    async with chatting(server, OPENAI_API_KEY=KEY, model_attempts=1) as chat:
        await asyncio.gather(chat.complete(REQUEST), return_exceptions=True)
    told = " ".join(str(vars(record)) for record in caplog.records)
    told += " ".join(span.to_json() for span in spans.get_finished_spans())

    assert not [text for text in (SECRET, "a reply", KEY) if text in told]


async def test_a_refusal_is_logged_with_the_servers_code_and_its_words_only_on_demand(server, caplog):
    refused = fake.Fails(400, message="max_tokens is not known", code="unsupported_parameter")
    for words in (False, True):
        with pytest.raises(ModelRejected):
            await ask(server, refused, model_text_in_spans=words)
    quiet, full = (record for record in caplog.records if record.name == "inference.transport")

    assert (quiet.status, quiet.code) == (400, "unsupported_parameter")
    assert not hasattr(quiet, "words")
    assert "max_tokens is not known" in full.words


async def test_a_call_is_one_client_span_by_the_conventions(server, spans):
    spans.clear()
    await ask(server, fake.Fails(500), GOOD)
    (span,) = [one for one in spans.get_finished_spans() if one.name == "chat gpt-4.1"]

    assert span.kind is trace.SpanKind.CLIENT
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.response.finish_reasons": ("stop",),
        "server.address": "127.0.0.1",
        "clausegate.model.attempts": 2,
    }


async def test_every_name_in_a_span_is_listed(server, spans):
    spans.clear()
    await ask(server, GOOD, model_text_in_spans=True)
    settings = ModelServerSettings(OPENAI_BASE_URL=server.url)
    model = OpenAIEmbedding(Connection(settings), settings, "m", 8)
    server.reply(fake.Vectors(dimensions=8))
    await model.embed_query("fee")
    await model.close()
    ours = [span for span in spans.get_finished_spans() if span.kind is trace.SpanKind.CLIENT]
    listed = re.findall(r"`([\w.]+)`", TELEMETRY.read_text())

    assert {span.name for span in ours} == {"chat gpt-4.1", "embeddings m"}
    assert {name for span in ours for name in span.attributes} <= set(listed)


async def test_prompts_and_replies_are_in_spans_when_the_setting_says_so(server, spans):
    spans.clear()
    await ask(server, GOOD, model_text_in_spans=True)
    (span,) = [one for one in spans.get_finished_spans() if one.name == "chat gpt-4.1"]

    assert SECRET in span.attributes["gen_ai.input.messages"]
    assert "a reply" in span.attributes["gen_ai.output.messages"]
