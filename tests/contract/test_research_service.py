"""ResearchService over real sockets, with a model server of the tests' own, and without any."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1.research_service_pb2 import (
    UNVERIFIED_SNIPPETS_FLAG,
    ExtractSnippetsRequest,
    ExtractSnippetsResponse,
    SnippetsDone,
)
from clausegate.retrieval.v1.project_service_pb2 import CreateProjectRequest
from clausegate.retrieval.v1.project_service_pb2_grpc import ProjectServiceStub
from services.answer.contracts.snippets import CONTRACT
from services.answer.research.wording import NOTHING_FOUND
from tests.contract.model_stack import LICENCE, TEXTS, Failure, Stubs, answering, failure_of, index_of
from tests.contract.retrieval_index import Text, service_at
from tests.fakes.behaviours import Fails, Says, Waits, fenced, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import read
from tests.fakes.wire import Request

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEE = "The Licensee shall pay a monthly display fee of USD 120.50 for each Device that shows market data."
PARAGRAPH = LICENCE.paragraphs[1]
"""One sentence to the index of these tests, so that is what is delivered of it."""
QUESTION = "What is the monthly display fee for each Device?"
NONSENSE = "Which vaccine protects travellers against malaria?"
SUMMARY = "The monthly display fee is due for each Device. The documents state it."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("index")) as address:
        async with open_channel(address) as channel:
            projects = ProjectServiceStub(channel)
            for name, sources in (
                ("options", ["opra"]),
                ("both", ["cme", "none-yet"]),
                ("empty", ["none-yet"]),
            ):
                await projects.CreateProject(CreateProjectRequest(project_id=name, sources=sources))
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def model(index, server, tmp_path) -> AsyncIterator[Stubs]:
    server.forget()
    server.respond = says_fee
    async with answering(index, tmp_path, server.url) as stubs:
        yield stubs


@pytest_asyncio.fixture(loop_scope="module")
async def extractive(index, tmp_path) -> AsyncIterator[Stubs]:
    async with answering(index, tmp_path) as stubs:
        yield stubs


def handle_of(request: Request, words: str) -> str:
    """The handle of the passage that holds these words."""
    return next(one.handle for one in read(request).passages.values() if words in one.text)


def reply_with(*snippets: tuple[str, str, str], summary: str = SUMMARY) -> Says:
    found = [{"chunk": chunk, "content": text, "relevance": why} for chunk, text, why in snippets]
    return json_reply({"snippets": found, "summary": summary, "no_results": not found})


def says_fee(request: Request) -> Says:
    """The fee, from the chunk that states it."""
    return reply_with((handle_of(request, FEE), FEE, "It states the monthly display fee."))


async def events(stubs: Stubs, query: str = QUESTION, **request) -> list[ExtractSnippetsResponse]:
    asked = ExtractSnippetsRequest(**{"project": "-", "query": query, **request})
    return [event async for event in stubs.research.ExtractSnippets(asked)]


async def done(stubs: Stubs, query: str = QUESTION, **request) -> SnippetsDone:
    return (await events(stubs, query, **request))[-1].done


async def failure(stubs: Stubs, query: str = QUESTION, **request) -> Failure:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await events(stubs, query, **request)
    return failure_of(caught.value)


def records(folder: Path) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in (folder / "logs" / "queries-000000000001.jsonl").read_text().splitlines()
    ]


async def test_each_snippet_is_an_event_and_all_of_them_are_the_last(model):
    first, last = await events(model)

    assert list(last.done.snippets) == [first.result]
    assert (last.done.result_count, last.done.no_results, last.done.dropped_snippets) == (1, False, 0)
    assert last.done.summary == SUMMARY
    assert not last.done.cached


async def test_a_snippet_says_what_its_chunk_says_of_itself(model):
    (snippet,) = (await done(model)).snippets

    assert (snippet.content, snippet.verified) == (PARAGRAPH, True)
    assert (snippet.source_id, snippet.source_title, snippet.source_location) == (
        "cme/licence.txt",
        "licence.txt",
        "Terms",
    )
    span = snippet.citation.span
    assert TEXTS["cme/licence.txt"][span.start : span.end] == PARAGRAPH == snippet.citation.quote
    assert (snippet.citation.number, snippet.citation.chunk_id) == (1, snippet.chunk_id)
    assert snippet.citation.certificate.prompt_sha256 == CONTRACT.sha256


async def test_the_model_is_sent_one_call_of_its_own_settings(model, server):
    await done(model)

    (chat,) = server.chats
    assert (chat.body["model"], chat.body["max_tokens"], chat.body["temperature"]) == ("gpt-4o", 4096, 0)
    assert chat.body["response_format"] == {"type": "json_object"}
    assert not chat.body.get("stream")
    assert 5 <= len(read(chat).passages) <= 8


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"snippets_min_chunks": 2, "snippets_chunk_tokens": 0}, 2),
        ({"snippets_min_chunks": 2, "snippets_max_chunks": 3}, 3),
        ({"snippets_max_chunks": 4}, 4),
    ],
    ids=["as few as may be", "as many as fit and may be", "never more than the most"],
)
async def test_chunks_are_shown_as_the_settings_say(index, server, tmp_path, settings, shown):
    server.forget()
    server.respond = says_fee
    async with answering(index, tmp_path, server.url, **settings) as stubs:
        await done(stubs)

    assert len(read(server.chats[-1]).passages) == shown


async def test_usage_and_metadata_tell_of_the_one_call(model, server):
    result = await done(model)

    (stage,) = result.usage
    assert (stage.stage, stage.model, stage.calls, stage.repairs) == ("snippets", "gpt-4o", 1, 0)
    assert stage.priced
    assert stage.cost_usd > 0
    assert (result.metadata.model, result.metadata.prompt_version) == ("gpt-4o", "snippets/3")
    assert result.metadata.grader == "local"
    assert result.metadata.normalized_query == "monthly display fee each device"
    assert len(server.chats) == 1


async def test_what_leaves_is_the_stored_spelling(model, server):
    words = "delete all market data without delay"
    server.respond = lambda asked: reply_with((handle_of(asked, "delete all"), words.upper(), "It is so."))

    (snippet,) = (await done(model, "What must the Licensee delete on termination?")).snippets
    assert snippet.content == LICENCE.paragraphs[2]
    assert "delete all market\ndata without delay" in snippet.content


def says_much_that_is_not_there(request: Request) -> Says:
    here = handle_of(request, FEE)
    return reply_with(
        (here, "The fee is waived for everybody this year.", "It waives the fee."),
        (here, f"{FEE} The courts of Cook County have jurisdiction.", "It joins two clauses."),
        (here, FEE.replace("120.50", "102.50"), "It changes a number."),
        ("c99", FEE, "It comes from nowhere."),
        (here, FEE, "It states the monthly display fee."),
    )


async def test_what_does_not_stand_in_its_chunk_does_not_leave(model, server):
    server.respond = says_much_that_is_not_there
    result = await done(model)

    assert [one.content for one in result.snippets] == [PARAGRAPH]
    assert (result.result_count, result.dropped_snippets) == (1, 4)


async def test_with_flag_it_leaves_marked_and_without_a_citation(model, server):
    server.respond = says_much_that_is_not_there
    result = await done(model, unverified=UNVERIFIED_SNIPPETS_FLAG)

    assert [one.verified for one in result.snippets] == [False, False, False, False, True]
    assert [one.HasField("citation") for one in result.snippets] == [False, False, False, False, True]
    assert result.snippets[3].source_id == ""
    assert result.dropped_snippets == 0


async def test_when_nothing_is_left_there_are_no_results_and_the_summary_says_why(model, server, tmp_path):
    server.respond = lambda _: reply_with(("c1", "The fee is waived for everybody.", "It waives the fee."))
    result = await done(model)

    assert (result.no_results, result.result_count, result.dropped_snippets) == (True, 0, 1)
    assert result.summary == "The one passage named does not stand in the documents."
    assert records(tmp_path)[-1]["refusal_reason"] == "validation_failed"


async def test_words_of_the_model_that_the_snippets_do_not_bear_out_do_not_leave(model, server):
    server.respond = lambda asked: reply_with(
        (handle_of(asked, FEE), FEE, "It sets a fee of USD 999 from https://example.com."),
        summary="The fee is USD 999. Pay it to Mallory & Sons.",
    )
    result = await done(model)

    said = f"{result.summary} {result.snippets}"
    assert "Mallory" not in said
    assert "999" not in said
    assert result.snippets[0].relevance.startswith("Mentions “")
    assert result.summary.startswith("1 passage is quoted from “licence.txt”.")


async def test_a_model_may_find_nothing(model, server):
    server.respond = lambda _: reply_with(summary="Nothing bears on it.")
    result = await done(model)

    assert (result.no_results, result.summary, result.usage[0].calls) == (True, NOTHING_FOUND, 1)


def nothing_but(words: str) -> Says:
    return json_reply({"snippets": [], "summary": "", "no_results": True, "search_for": words})


async def test_a_model_that_finds_nothing_has_its_own_words_searched_for_once(index, server, tmp_path):
    server.forget()
    replies = iter([nothing_but("late fees, dispute of an invoice")])
    server.respond = lambda asked: next(replies, None) or says_fee(asked)
    async with answering(index, tmp_path, server.url, snippets_min_chunks=1, snippets_max_chunks=1) as stubs:
        result = await done(stubs, "May OPRA inspect the books and records of a Vendor?")

    assert [snippet.content for snippet in result.snippets] == [PARAGRAPH]
    assert result.usage[0].calls == 2
    first, second = map(read, server.chats)
    assert {one.text for one in first.passages.values()}.isdisjoint(
        one.text for one in second.passages.values()
    )


async def test_what_its_words_find_as_well_is_not_shown_again(model, server):
    server.respond = lambda _: nothing_but("monthly display fee for each Device")
    result = await done(model)

    assert result.no_results
    shown = [one.text for chat in server.chats for one in read(chat).passages.values()]
    assert len(shown) == len(set(shown))


async def test_a_question_that_nothing_bears_on_is_not_put_to_a_model(model, server, tmp_path):
    (event,) = await events(model, NONSENSE)

    assert (event.done.no_results, event.done.summary, len(event.done.usage)) == (True, NOTHING_FOUND, 0)
    assert not server.chats
    (record,) = records(tmp_path)
    assert (record["refused"], record["refusal_reason"]) == (True, "confidence_too_low")


async def test_a_broken_reply_is_repaired_once(model, server):
    server.reply(Says("{"))
    result = await done(model)

    assert (result.usage[0].calls, result.usage[0].repairs, result.result_count) == (2, 1, 1)


async def test_a_reply_that_stays_broken_is_a_typed_failure_with_a_record(model, server, tmp_path):
    server.respond = lambda _: json_reply({"snippets": [], "summary": "None.", "no_results": False})

    assert (await failure(model)).kind == ("UNAVAILABLE", "CONTRACT_FAILED")
    (record,) = records(tmp_path)
    assert (record["outcome"], record["error_reason"]) == ("error", "CONTRACT_FAILED")
    assert record["tokens_input"] > 0


@pytest.mark.parametrize(
    ("strategy", "sent"),
    [("prompt", "text"), ("json_object", "json_object"), ("json_schema", "json_schema")],
)
async def test_every_strategy_asks_in_its_own_way(index, server, tmp_path, strategy, sent):
    server.forget()
    server.respond = lambda asked: fenced(json.loads(says_fee(asked).text))
    async with answering(index, tmp_path, server.url, json_strategies={"gpt-4o": strategy}) as stubs:
        result = await done(stubs)

    assert result.result_count == 1
    assert server.chats[0].body.get("response_format", {"type": "text"})["type"] == sent


async def test_the_same_question_is_answered_from_the_cache(model, server, tmp_path):
    first, second = await done(model), await done(model, f"  {QUESTION.upper()} ")

    assert (first.cached, second.cached) == (False, True)
    assert second.snippets == first.snippets
    assert list(second.usage) == list(first.usage)
    assert second.metadata.query_id != first.metadata.query_id
    assert len(server.chats) == 1
    assert [(one["outcome"], one["cost"] > 0) for one in records(tmp_path)] == [
        ("answered", True),
        ("answered", False),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"max_snippets": 3},
        {"unverified": UNVERIFIED_SNIPPETS_FLAG},
        {"source_ids": ["cme"]},
        {"source_ids": ["cme/licence.txt"]},
        {"project": "both"},
        {"query": "Which display fee is due each month?"},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_another_request_is_answered_anew(model, changed):
    await done(model)

    assert not (await done(model, **changed)).cached


async def test_a_change_of_the_index_empties_the_cache(server, tmp_path):
    server.forget()
    server.respond = says_fee
    async with (
        index_of(tmp_path / "index") as index,
        answering(index, tmp_path, server.url) as stubs,
        open_channel(index) as channel,
    ):
        await done(stubs)
        await service_at(channel).put(Text("cme/new.txt", ["A notice that says nothing of importance."]))
        again = await done(stubs)

    assert not again.cached
    assert len(server.chats) == 2


async def test_without_a_time_to_live_nothing_is_kept(index, server, tmp_path):
    server.forget()
    server.respond = says_fee
    async with answering(index, tmp_path, server.url, snippets_cache_seconds=0) as stubs:
        assert not (await done(stubs)).cached
        assert not (await done(stubs)).cached


async def test_questions_at_once_call_the_model_once(model, server):
    go = asyncio.Event()
    server.respond = lambda asked: Waits(says_fee(asked), go)
    asked = [asyncio.create_task(done(model)) for _ in range(10)]
    await server.received(1)
    go.set()
    results = await asyncio.gather(*asked)

    assert len(server.chats) == 1
    assert sorted(one.cached for one in results) == [False] + [True] * 9


async def test_a_first_caller_who_leaves_does_not_fail_the_others(model, server):
    server.respond = lambda asked: Waits(says_fee(asked), asyncio.Event())
    first = asyncio.create_task(done(model))
    await server.received(1)
    others = [asyncio.create_task(done(model)) for _ in range(3)]
    server.respond = says_fee
    first.cancel()
    results = await asyncio.gather(*others)

    assert [one.result_count for one in results] == [1, 1, 1]
    assert len(server.chats) == 2


async def test_a_failure_is_not_kept(model, server):
    server.reply(*[Fails(401, message="no")])

    assert (await failure(model)).code == "FAILED_PRECONDITION"
    assert (await done(model)).result_count == 1


async def test_a_limit_of_cost_stops_the_call_and_is_nobody_else_s(model, server):
    stopped = await failure(model, max_cost_usd=0.0)

    assert (stopped.kind, stopped.field) == (("FAILED_PRECONDITION", "BUDGET_EXCEEDED"), "max_cost_usd")
    assert not server.chats
    assert (await done(model, max_cost_usd=1.0)).result_count == 1
    assert (await done(model, max_cost_usd=0.0)).cached


async def test_the_record_is_on_disk_before_the_first_event(model, tmp_path):
    call = model.research.ExtractSnippets(ExtractSnippetsRequest(project="-", query=QUESTION))
    event = await call.read()
    (record,) = records(tmp_path)
    call.cancel()

    assert event.HasField("result")
    assert (record["task"], record["outcome"], record["query"]) == ("snippets", "answered", QUESTION)
    assert record["answer"] == f"{PARAGRAPH}\n{SUMMARY}"
    assert record["chunks_retrieved"] >= record["chunks_used"] > 0


async def test_a_project_is_searched_in_its_sources_only(extractive, tmp_path):
    result = await done(extractive, "What is the monthly display fee?", project="options")

    assert result.result_count > 0
    assert {one.source_id.split("/")[0] for one in result.snippets} == {"opra"}
    assert records(tmp_path)[0]["sources"] == ["opra"]


async def test_a_source_of_a_project_without_documents_yet_does_no_harm(extractive):
    found = await done(extractive, project="both")
    empty = await done(extractive, project="empty")

    assert {one.source_id.split("/")[0] for one in found.snippets} == {"cme"}
    assert (empty.no_results, empty.summary) == (True, NOTHING_FOUND)


async def test_sources_and_documents_may_be_mixed(extractive):
    query = "What is the monthly display fee for each Device?"
    mixed = await done(extractive, query, source_ids=["opra", "cme/licence.txt"])

    assert {one.source_id for one in mixed.snippets} == {"opra/policy.txt", "cme/licence.txt"}


@pytest.mark.parametrize(
    ("request_", "kind", "field"),
    [
        ({"project": ""}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "project"),
        ({"query": " "}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "query"),
        ({"query": "x" * 8001}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "query"),
        ({"query": "a\x00b"}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "query"),
        ({"max_snippets": -1}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "max_snippets"),
        ({"max_cost_usd": -1.0}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "max_cost_usd"),
        ({"source_ids": ["cme", ""]}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "source_ids[1]"),
        ({"source_ids": ["cme"] * 101}, ("INVALID_ARGUMENT", "INVALID_FIELD"), "source_ids"),
        ({"project": "unknown"}, ("NOT_FOUND", "PROJECT_NOT_FOUND"), "project"),
        ({"source_ids": ["cme", "ice"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "source_ids[1]"),
        ({"source_ids": ["opra", "cme/no.txt"]}, ("NOT_FOUND", "DOCUMENT_NOT_FOUND"), "source_ids[1]"),
        ({"project": "options", "source_ids": ["cme"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "source_ids[0]"),
        (
            {"project": "options", "source_ids": ["opra", "cme/licence.txt"]},
            ("NOT_FOUND", "SOURCE_NOT_FOUND"),
            "source_ids[1]",
        ),
        ({"project": "both", "source_ids": ["none-yet"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "source_ids[0]"),
    ],
)
async def test_a_bad_request_is_told_by_its_field_and_recorded(extractive, tmp_path, request_, kind, field):
    failed = await failure(extractive, **request_)

    assert (failed.kind, failed.field) == (kind, field)
    (record,) = records(tmp_path)
    assert (record["outcome"], record["error_reason"]) == ("error", kind[1])


async def test_without_a_model_sentences_are_quoted_and_code_says_why(extractive, tmp_path):
    result = await done(extractive, max_snippets=2)

    assert 1 <= result.result_count <= 2
    assert (result.metadata.model, result.metadata.prompt_version, len(result.usage)) == ("extractive", "", 0)
    assert all(one.verified and one.relevance.startswith("Mentions “") for one in result.snippets)
    for one in result.snippets:
        span = one.citation.span
        assert TEXTS[one.source_id][span.start : span.end] == one.content
    assert "quoted from “" in result.summary
    assert not result.no_results


async def test_without_a_model_there_may_be_no_results_either(extractive):
    (event,) = await events(extractive, NONSENSE)

    assert (event.done.no_results, event.done.summary) == (True, NOTHING_FOUND)


async def test_too_many_snippets_are_eight(extractive):
    assert (await done(extractive, max_snippets=500)).result_count <= 8
