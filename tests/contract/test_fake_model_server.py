"""The fake model server itself: what it is told to do is what a client of the protocol sees."""

from __future__ import annotations

import asyncio
import math
import re
from datetime import timedelta

import httpx
import openai
import pytest

from tests.fakes import behaviours
from tests.fakes.behaviours import (
    Closes,
    Fails,
    Hangs,
    Junk,
    Resets,
    Says,
    Slowly,
    Trickles,
    Vectors,
    Waits,
    embedding,
    json_reply,
)
from tests.fakes.model_server import ModelServer


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def client(server):
    async with client_of(server) as client:
        yield client


def client_of(server, key="k"):
    return openai.AsyncOpenAI(base_url=server.url, api_key=key, max_retries=0, timeout=30)


def ask(client, **options):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which law?"}]
    return client.chat.completions.create(model="m", messages=messages, **options)


async def test_a_completion_has_the_text_and_the_usage_it_was_told(server, client):
    server.reply(Says("Illinois", usage={"prompt_tokens": 5, "completion_tokens": 2}))
    reply = await ask(client)
    assert reply.choices[0].message.content == "Illinois"
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == 7


async def test_requests_are_recorded_with_body_and_headers(server, client):
    server.reply(Says("x"))
    await ask(client)
    (request,) = server.requests
    assert (request.system, request.prompt) == ("Be brief.", "Which law?")
    assert request.headers["authorization"] == "Bearer k"
    assert request.body["model"] == "m"


async def test_behaviours_are_played_in_order_then_respond_is_asked(server, client):
    server.reply(Says("first"), Says("second"))
    server.respond = lambda request: Says(request.prompt.upper())
    replies = [(await ask(client)).choices[0].message.content for _ in range(3)]
    assert replies == ["first", "second", "WHICH LAW?"]


async def test_a_server_told_a_key_refuses_others():
    async with ModelServer(key="right") as server:
        server.respond = lambda _: Says("in")
        async with client_of(server, "wrong") as client:
            with pytest.raises(openai.AuthenticationError):
                await ask(client)
        async with client_of(server, "right") as client:
            assert (await ask(client)).choices[0].message.content == "in"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503, 529])
async def test_an_error_has_its_status(server, client, status):
    server.reply(Fails(status))
    with pytest.raises(openai.APIStatusError) as caught:
        await ask(client)
    assert caught.value.status_code == status


@pytest.mark.parametrize(
    ("retry_after", "expected"), [(2, r"2"), (0.5, r"0\.5"), (timedelta(seconds=60), r"\w{3}, .* GMT")]
)
async def test_retry_after_comes_in_seconds_or_as_a_date(server, client, retry_after, expected):
    server.reply(Fails(429, retry_after))
    with pytest.raises(openai.RateLimitError) as caught:
        await ask(client)
    assert re.fullmatch(expected, caught.value.response.headers["retry-after"])


@pytest.mark.parametrize("behaviour", [Resets(), Resets(Says("x" * 100)), Closes(), behaviours.TOO_SHORT])
async def test_a_broken_connection_is_one(server, client, behaviour):
    server.reply(behaviour)
    with pytest.raises((openai.APIConnectionError, httpx.TransportError)):
        await ask(client)


@pytest.mark.parametrize("behaviour", [Hangs(), Junk(), Trickles(Says("x" * 1000), pause_seconds=0.01)])
async def test_a_client_that_leaves_is_noticed(server, client, behaviour):
    server.reply(behaviour)
    call = asyncio.create_task(ask(client))
    await server.received(1)
    assert server.running == 1
    call.cancel()
    async with asyncio.timeout(20):
        await server.requests[0].hung_up.wait()
        await server.requests[0].done.wait()
    assert server.running == 0


async def test_a_client_that_stays_did_not_hang_up(server, client):
    server.reply(Slowly(Says("late"), 0.01), Says("prompt"))
    await ask(client)
    await ask(client)
    await client.close()
    assert [request.hung_up.is_set() for request in server.requests] == [False, False]


async def test_calls_that_run_at_once_are_counted(server, client):
    go_on = asyncio.Event()
    server.respond = lambda _: Waits(Says("x"), go_on)
    calls = [asyncio.create_task(ask(client)) for _ in range(5)]
    await server.received(5)
    go_on.set()
    await asyncio.gather(*calls)
    await ask(client)
    assert (server.most_running, server.running) == (5, 0)


@pytest.mark.parametrize("name", ["HTML", "NOT_UTF8", "NO_JSON", "WRONG_SHAPE", "TOO_LONG"])
async def test_bad_bodies_arrive_with_status_200(server, name):
    behaviour = getattr(behaviours, name)
    server.reply(behaviour)
    async with httpx.AsyncClient() as client:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        response = await client.post(f"{server.url}/chat/completions", json=body)
    assert response.status_code == 200
    assert behaviour.body.startswith(response.content)


async def test_an_embedding_is_a_unit_vector_of_the_dimension_asked_for(server, client):
    reply = await client.embeddings.create(model="m", input=["alpha beta", "gamma"], dimensions=3072)
    vectors = {one.index: one.embedding for one in reply.data}
    assert {len(vector) for vector in vectors.values()} == {3072}
    assert math.isclose(sum(value**2 for value in vectors[0]), 1, abs_tol=1e-5)
    assert vectors[1] == pytest.approx(embedding("gamma", 3072), abs=1e-6)


async def test_embeddings_come_in_another_order_than_the_input(server, client):
    texts = [f"text {number}" for number in range(9)]
    reply = await client.embeddings.create(model="m", input=texts, dimensions=64, encoding_format="float")
    assert [one.index for one in reply.data] != sorted(one.index for one in reply.data)
    assert {one.index for one in reply.data} == set(range(9))


async def test_embeddings_of_a_wrong_dimension_or_number_can_be_had(server, client):
    server.reply(Vectors(dimensions=7), Vectors(missing=1))
    wrong = await client.embeddings.create(model="m", input=["a"], dimensions=64)
    fewer = await client.embeddings.create(model="m", input=["a", "b"], dimensions=64)
    assert (len(wrong.data[0].embedding), len(fewer.data)) == (7, 1)


def test_texts_that_share_words_have_near_embeddings():
    asked = embedding("which law governs the agreement", 384)
    near = embedding("this agreement is governed by the law of Illinois", 384)
    far = embedding("fees are invoiced monthly in advance", 384)
    assert dot(asked, near) > dot(asked, far)


def dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


def strict(schema):
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}}


@pytest.mark.parametrize("response_format", [{"type": "json_object"}, {"type": "yaml"}, strict(SCHEMA)])
async def test_formats_that_the_real_server_refuses_are_refused(client, response_format):
    with pytest.raises(openai.BadRequestError):
        await ask(client, response_format=response_format)


async def test_a_strict_schema_that_requires_every_property_is_accepted(server, client):
    server.reply(json_reply({"a": "b"}))
    reply = await ask(client, response_format=strict({**SCHEMA, "required": ["a"]}))
    assert reply.choices[0].message.content == '{"a": "b"}'


@pytest.mark.parametrize("texts", [[], [""], ["x"] * 2_049])
async def test_inputs_that_the_real_server_refuses_are_refused(server, client, texts):
    with pytest.raises(openai.BadRequestError):
        await client.embeddings.create(model="m", input=texts)


async def test_a_chat_that_nobody_told_what_to_reply_is_refused(client):
    with pytest.raises(openai.BadRequestError, match="Nobody told"):
        await ask(client)


async def test_unknown_routes_are_not_found(server):
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{server.url}/models")).status_code == 404
