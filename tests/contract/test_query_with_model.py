"""QueryService beside a chat model: grading, answers, cost and failures, over real sockets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

import grpc
import pytest
import pytest_asyncio

from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1.query_service_pb2 import QueryRequest, StreamQueryRequest
from clausegate.corpus.v1 import citation_pb2
from inference.fetch import DEFAULT_ENCODINGS_DIR
from inference.tokens import TokenCounters
from tests.contract.model_stack import Stubs, answering, failure_of, index_of
from tests.contract.retrieval_index import Text
from tests.contract.traces import kept_spans
from tests.fakes.behaviours import Behaviour, Fails, Hangs, Says, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import contract_of, read
from tests.fakes.renderer import Renderer
from tests.fakes.wire import Request
from tests.registry import attributes_of_span

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = TokenCounters(DEFAULT_ENCODINGS_DIR).of("gpt-4.1").count

FEE = "What is the monthly display fee for each Device?"
LAW = "Which law governs the agreement?"
LAW_SENTENCE = "This Agreement is governed by and construed under the laws of the State of Illinois."
SAYS = Renderer()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("with-model")) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.respond = SAYS
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def stubs(index, server, tmp_path) -> AsyncIterator[Stubs]:
    async with answering(index, tmp_path, server.url) as stubs:
        yield stubs


def when(contract: str, behaviour: Behaviour | Callable[[Request], Behaviour]):
    """This for one contract, a model that behaves for the others."""

    def respond(request: Request) -> Behaviour:
        if contract_of(request) != contract:
            return SAYS(request)
        return behaviour(request) if callable(behaviour) else behaviour

    return respond


def answers(*quotes: tuple[str, str], summary: tuple[str, ...] = ()) -> Behaviour:
    """Quotes by handle, and sentences that all rest on all of them."""
    numbers = list(range(1, len(quotes) + 1))
    return json_reply(
        {
            "addressed": True,
            "quotes": [{"chunk": handle, "quote": quote} for handle, quote in quotes],
            "summary": [{"text": text, "quotes": numbers} for text in summary],
        }
    )


def law_quoted(*summary: str, quote: str = LAW_SENTENCE) -> Callable[[Request], Behaviour]:
    """A quote of the chunk that holds the sentence on governing law, and what is made of it."""

    def respond(request: Request) -> Behaviour:
        handle = next(one.handle for one in read(request).passages.values() if "Illinois" in one.text)
        return answers((handle, quote), summary=summary)

    return respond


def graded(grade: Callable[[str], int]) -> Callable[[Request], Behaviour]:
    """Grades each passage by its text."""

    def respond(request: Request) -> Behaviour:
        passages = read(request).passages.values()
        return json_reply({"grades": [{"chunk": one.handle, "grade": grade(one.text)} for one in passages]})

    return respond


def asked(server: ModelServer) -> list[str]:
    return [contract_of(request) for request in server.chats]


def records(folder) -> list[dict[str, object]]:
    path = folder / "logs" / "queries-000000000001.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def failure(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return failure_of(caught.value)


async def test_an_answer_takes_two_calls_and_says_who_graded_and_who_answered(stubs, server):
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert asked(server) == ["grade", "answer"]
    assert any(LAW_SENTENCE in statement.text for statement in response.statements)
    metadata = response.metadata
    assert (metadata.model, metadata.grader) == ("gpt-4.1", "gpt-4.1-mini")
    assert metadata.prompt_version == "answer/4"
    assert (metadata.grading_failure, metadata.dropped_statements) == ("", 0)
    assert {one.certificate.model for one in response.citations} == {"gpt-4.1"}
    assert all(len(one.certificate.prompt_sha256) == 64 for one in response.citations)


async def test_a_statement_is_the_stored_quote_and_the_summary_stands_above_it_as_the_models_words(
    stubs, server
):
    server.respond = when(
        "answer", law_quoted("Governed by the laws of Illinois.", quote=LAW_SENTENCE.upper())
    )
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    (statement,), (sentence,) = response.statements, response.summary
    assert LAW_SENTENCE in statement.text
    assert statement.text == response.citations[0].quote
    assert response.citations[0].match_level == citation_pb2.MATCH_LEVEL_FOLDED
    assert (sentence.text, list(sentence.citation_numbers)) == ("Governed by the laws of Illinois.", [1])
    headed = "In the model's words (the quotes decide): Governed by the laws of Illinois. "
    assert response.answer.splitlines()[0] == f"{headed}[1]"
    assert response.markdown.startswith(headed)
    assert headed in response.markdown_full


async def test_a_summary_is_an_event_of_its_own_after_the_statements(stubs, server):
    server.respond = when("answer", law_quoted("Governed by the laws of Illinois."))
    events = [event async for event in stubs.queries.StreamQuery(StreamQueryRequest(query=LAW))]
    kinds = [event.WhichOneof("event") for event in events]
    at = kinds.index("summary")
    assert kinds[at - 1] == "statement"
    assert "statement" not in kinds[at:]
    assert events[at].summary.sentences == events[-1].completed.response.summary


async def test_without_a_summary_in_the_settings_none_is_asked_for_and_none_leaves(index, server, tmp_path):
    server.respond = when("answer", law_quoted("Governed by the laws of Illinois."))
    async with answering(index, tmp_path, server.url, summary=False) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert "Leave the summary empty." in server.chats[-1].prompt
    assert response.statements
    assert not response.summary


@pytest.mark.parametrize("summary", [None, "Illinois law governs.", [], ["Illinois"], [{"text": ""}]])
async def test_a_summary_that_is_missing_or_bad_costs_neither_the_quotes_nor_a_second_call(
    stubs, server, summary
):
    reply = {"addressed": True, "quotes": [{"chunk": "c1", "quote": LAW_SENTENCE}], "summary": summary}
    server.respond = _one_chunk(json_reply(reply))
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert asked(server) == ["grade", "answer"]
    assert LAW_SENTENCE in response.statements[0].text
    assert not response.summary


async def test_more_than_eight_quotes_are_cut_to_the_first(stubs, server):
    invented = [("c1", f"Nobody ever wrote this {number} times.") for number in range(40)]
    server.respond = _one_chunk(answers(("c1", LAW_SENTENCE), *invented))
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert asked(server) == ["grade", "answer"]
    assert (len(response.statements), response.metadata.dropped_statements) == (1, 7)


async def test_what_is_only_related_has_no_summary(stubs, server):
    def respond(request: Request) -> Behaviour:
        unsure = graded(lambda _: 1)
        return unsure(request) if contract_of(request) == "grade" else law_quoted("Illinois.")(request)

    server.respond = respond
    response = await stubs.queries.Query(QueryRequest(query=LAW, gate=False))
    assert response.outcome == answer_pb2.OUTCOME_RELATED
    assert response.statements
    assert not response.summary


async def test_the_models_grades_decide_what_is_kept_and_shown(stubs, server):
    server.respond = when("grade", graded(lambda text: 3 if "Illinois" in text else 1))
    response = await stubs.queries.Query(QueryRequest(query=LAW, debug=True))
    assert [clause.grade for clause in response.supporting_clauses] == [3]
    assert not response.supporting_clauses[0].HasField("probability")
    gate = response.debug.confidence_gate
    assert (gate.tier, gate.top_score, gate.threshold, gate.chunks_above_threshold) == (1, 3.0, 2.0, 1)


async def test_the_answer_model_is_shown_what_was_kept_and_nothing_else(stubs, server):
    server.respond = when("grade", graded(lambda text: 3 if "Illinois" in text else 1))
    await stubs.queries.Query(QueryRequest(query=LAW))
    shown = read(server.chats[-1])
    assert len(shown.passages) == 1
    assert LAW in shown.request


async def test_definitions_of_terms_in_kept_passages_are_shown_and_can_be_quoted(stubs, server):
    server.respond = when("grade", graded(lambda text: 3 if "USD 120.50" in text else 0))
    response = await stubs.queries.Query(QueryRequest(query=FEE))
    shown = read(server.chats[-1])
    assert [one.text for one in shown.passages.values() if "Definition of Device" in one.attribution]
    assert "Device" in [one.term for one in response.definitions]


async def test_grades_below_the_threshold_refuse_before_the_answer_model_is_asked(stubs, server, tmp_path):
    server.respond = when("grade", graded(lambda _: 1))
    response = await stubs.queries.Query(QueryRequest(query=LAW, debug=True))
    refusal, fates = response.refusal, {one.fate for one in response.debug.explanation.candidates}
    assert asked(server) == ["grade"]
    assert fates == {debug_pb2.CANDIDATE_FATE_REFUSED, debug_pb2.CANDIDATE_FATE_TOO_WEAK}
    assert refusal.reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
    assert (refusal.gate.top_score, refusal.gate.threshold, refusal.declined_by_model) == (1.0, 2.0, False)
    assert [stage.stage for stage in response.usage] == ["grade"]
    assert [entry["refusal_reason"] for entry in records(tmp_path)] == ["confidence_too_low"]


async def test_without_the_gate_the_best_passage_is_answered_from(stubs, server):
    server.respond = when("grade", graded(lambda _: 0))
    response = await stubs.queries.Query(QueryRequest(query=LAW, gate=False))
    assert asked(server) == ["grade", "answer"]
    assert not response.HasField("refusal")


async def test_without_grading_only_the_answer_model_is_asked(stubs, server):
    response = await stubs.queries.Query(QueryRequest(query=LAW, grading=False, gate=False))
    assert asked(server) == ["answer"]
    assert response.metadata.grader == ""


async def test_each_candidate_can_be_graded_by_a_call_of_its_own(index, server, tmp_path):
    async with answering(index, tmp_path, server.url, grading="each") as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW, debug=True))
    calls = asked(server)
    assert calls.count("grade") == response.debug.reranking.input_chunks > 1
    assert calls.count("answer") == 1
    assert response.metadata.grader == "gpt-4.1-mini"
    assert server.most_running > 1


async def test_grading_can_be_left_to_local_evidence(index, server, tmp_path):
    async with answering(index, tmp_path, server.url, grading="local") as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert asked(server) == ["answer"]
    assert (response.metadata.grader, response.metadata.grading_failure) == ("local", "")


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (json_reply({"grades": []}), "CONTRACT_FAILED"),
        (json_reply({"grades": [{"chunk": "c99", "grade": 3}]}), "CONTRACT_FAILED"),
        (Fails(500), "UPSTREAM_UNAVAILABLE"),
        (Fails(429, retry_after=3_600), "MODEL_RATE_LIMITED"),
        (Fails(404), "MODEL_REJECTED"),
    ],
)
async def test_a_failed_grading_falls_back_to_local_evidence_and_says_so(
    index, server, tmp_path, behaviour, reason
):
    server.respond = when("grade", behaviour)
    async with answering(index, tmp_path, server.url, model_attempts=1) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert (response.metadata.grader, response.metadata.grading_failure) == ("local", reason)
    assert response.metadata.model == "gpt-4.1"
    assert response.statements
    assert response.supporting_clauses[0].HasField("probability")


async def test_one_failed_call_of_many_leaves_the_grading_to_local_evidence(index, server, tmp_path):
    server.respond = when(
        "grade", lambda request: Fails(500) if "Illinois" in request.prompt else SAYS(request)
    )
    async with answering(index, tmp_path, server.url, grading="each", model_attempts=1) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert (response.metadata.grader, response.metadata.grading_failure) == ("local", "UPSTREAM_UNAVAILABLE")


async def test_a_grading_that_hangs_leaves_time_for_the_answer(stubs, server):
    server.respond = when("grade", Hangs())
    response = await stubs.queries.Query(QueryRequest(query=LAW), timeout=15)
    assert response.metadata.grading_failure == "DEADLINE_EXCEEDED"
    assert response.statements


async def test_a_sentence_that_its_quotes_do_not_bear_out_is_left_out_and_the_answer_stays(stubs, server):
    sentences = ("Governed by the laws of Illinois.", "Delaware law governs the agreement.")
    server.respond = _one_chunk(answers(("c1", LAW_SENTENCE), summary=sentences))
    response = await stubs.queries.Query(QueryRequest(query="Does Delaware law govern?", debug=True))
    (statement,), (sentence,) = response.statements, response.summary
    assert LAW_SENTENCE in statement.text
    assert sentence.text == sentences[0]
    metadata = response.metadata
    assert (metadata.dropped_statements, metadata.dropped_summary_sentences) == (0, 1)
    (dropped,) = response.debug.explanation.dropped_summary_sentences
    assert (dropped.number, dropped.reason) == (2, debug_pb2.DROPPED_REASON_GOES_BEYOND)


def _one_chunk(answer: Behaviour) -> Callable[[Request], Behaviour]:
    """Only the chunk on governing law is kept, and this is said of it."""
    keep = graded(lambda text: 3 if "Illinois" in text else 0)
    return lambda request: keep(request) if contract_of(request) == "grade" else answer


@pytest.mark.parametrize(
    "quote",
    [("c1", "This Agreement is governed by the laws of Delaware."), ("c7", LAW_SENTENCE), ("c1", "")],
)
async def test_a_reply_without_a_quote_that_stands_gives_way_to_extracts_and_says_so(
    stubs, server, tmp_path, quote
):
    server.respond = _one_chunk(answers(quote, summary=("Governed by the laws of Illinois.",)))
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert_extracts(response, answer_pb2.NOTE_KIND_MODEL_REPLY_UNUSED)
    assert response.metadata.dropped_statements == 1
    assert [entry["refusal_reason"] for entry in records(tmp_path)] == [None]


def assert_extracts(response, note: int) -> None:
    """What the product says without a model, as nobody's words but the documents', and why."""
    assert any(LAW_SENTENCE in statement.text for statement in response.statements)
    assert note in [one.kind for one in response.notes]
    assert not response.summary
    assert (response.metadata.model, response.metadata.prompt_version) == ("extractive", "")
    assert {one.certificate.model for one in response.citations} == {"extractive"}
    assert [stage.stage for stage in response.usage] == ["grade", "answer"]


@pytest.mark.parametrize(
    ("threshold", "outcome"), [(0.0, answer_pb2.OUTCOME_ANSWERED), (1.0, answer_pb2.OUTCOME_RELATED)]
)
async def test_extracts_in_the_place_of_a_reply_come_to_what_they_do_without_a_model(
    index, server, tmp_path, threshold, outcome
):
    server.respond = when("answer", Says("I am sorry."))
    async with answering(index, tmp_path, server.url, answer_threshold=threshold) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert_extracts(response, answer_pb2.NOTE_KIND_MODEL_REPLY_UNUSED)
    assert response.outcome == outcome


DECLINED = json_reply({"addressed": False, "quotes": [], "summary": [], "why": "EVIL"})


async def test_a_model_that_declines_is_not_believed_against_local_evidence(index, server, tmp_path):
    server.respond = when("answer", DECLINED)
    async with answering(index, tmp_path, server.url, answer_threshold=0.0) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW, debug=True))
    assert_extracts(response, answer_pb2.NOTE_KIND_MODEL_DECLINED)
    assert response.outcome == answer_pb2.OUTCOME_RELATED
    assert response.debug.explanation.HasField("probability")
    assert "EVIL" not in str(response)


async def test_a_model_that_declines_is_believed_where_local_evidence_is_weak_and_never_quoted(
    index, server, tmp_path
):
    server.respond = when("answer", DECLINED)
    async with answering(index, tmp_path, server.url, answer_threshold=1.0) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    refusal = response.refusal
    assert refusal.reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
    assert refusal.declined_by_model
    assert "found no answer in them" in refusal.missing
    assert refusal.nearest_clauses
    assert "EVIL" not in str(response)
    assert (response.metadata.model, response.metadata.prompt_version) == ("gpt-4.1", "answer/4")
    assert [stage.stage for stage in response.usage] == ["grade", "answer"]
    (entry,) = records(tmp_path)
    assert (entry["outcome"], entry["refusal_reason"]) == ("refused", "confidence_too_low")


async def test_a_reply_that_breaks_the_contract_twice_gives_way_to_extracts_and_is_paid_for(
    stubs, server, tmp_path
):
    server.respond = when("answer", json_reply({"addressed": True, "quotes": [], "summary": []}))
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert_extracts(response, answer_pb2.NOTE_KIND_MODEL_REPLY_UNUSED)
    assert asked(server) == ["grade", "answer", "answer"]
    (entry,) = records(tmp_path)
    assert entry["outcome"] in ("answered", "related")
    assert (entry["tokens_input"], entry["tokens_output"]) == (33, 21)


async def test_a_repaired_reply_is_answered_with_and_counted(stubs, server):
    broken, replies = json_reply({"addressed": True}), []

    def respond(request: Request) -> Behaviour:
        replies.append(request)
        return broken if len(replies) == 1 else SAYS(request)

    server.respond = when("answer", respond)
    response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert response.statements
    assert [(one.stage, one.calls, one.repairs) for one in response.usage] == [
        ("grade", 1, 0),
        ("answer", 2, 1),
    ]


async def test_usage_audit_and_debug_record_tell_the_same_tokens_and_cost(stubs, tmp_path):
    response = await stubs.queries.Query(QueryRequest(query=LAW, debug=True))
    cost = (11 * (0.40 + 2.00) + 7 * (1.60 + 8.00)) / 1_000_000
    assert sum(stage.cost_usd for stage in response.usage) == pytest.approx(cost)
    assert all(stage.priced for stage in response.usage)
    llm = response.debug.llm
    assert (llm.model, llm.prompt_tokens, llm.completion_tokens, llm.total_tokens) == ("gpt-4.1", 22, 14, 36)
    (entry,) = records(tmp_path)
    assert (entry["task"], entry["tokens_input"], entry["tokens_output"]) == ("query", 22, 14)
    assert entry["cost"] == pytest.approx(cost)


@pytest.mark.parametrize("limit", [0.0, 0.0001])
async def test_a_call_that_could_cost_too_much_is_not_made(stubs, server, tmp_path, limit):
    failed = await failure(stubs.queries.Query(QueryRequest(query=LAW, max_cost_usd=limit)))
    assert failed.kind == ("FAILED_PRECONDITION", "BUDGET_EXCEEDED")
    assert failed.field == "max_cost_usd"
    assert not server.chats
    assert [entry["error_reason"] for entry in records(tmp_path)] == ["BUDGET_EXCEEDED"]


async def test_calls_that_run_at_once_share_what_a_query_may_cost(index, server, tmp_path):
    async with answering(index, tmp_path, server.url, grading="each") as stubs:
        dry_run = (await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))).dry_run
        limit = dry_run.stages[0].max_cost_usd / 2
        failed = await failure(stubs.queries.Query(QueryRequest(query=LAW, max_cost_usd=limit)))
    assert failed.kind == ("FAILED_PRECONDITION", "BUDGET_EXCEEDED")
    assert "answer" not in asked(server)


async def test_the_answer_is_not_asked_for_with_too_little_left_after_grading(stubs, server):
    dry_run = (await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))).dry_run
    grade = next(stage for stage in dry_run.stages if stage.stage == "grade")
    failed = await failure(stubs.queries.Query(QueryRequest(query=LAW, max_cost_usd=grade.max_cost_usd)))
    assert failed.kind == ("FAILED_PRECONDITION", "BUDGET_EXCEEDED")
    assert asked(server) == ["grade"]


async def test_what_a_dry_run_says_is_enough(stubs):
    dry_run = (await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))).dry_run
    response = await stubs.queries.Query(QueryRequest(query=LAW, max_cost_usd=dry_run.max_cost_usd))
    assert response.statements


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf")])
async def test_a_limit_that_is_no_amount_is_refused(stubs, limit):
    failed = await failure(stubs.queries.Query(QueryRequest(query=LAW, max_cost_usd=limit)))
    assert (*failed.kind, failed.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", "max_cost_usd")


async def test_a_dry_run_sends_nothing_and_tells_what_would_be_sent(stubs, server, tmp_path):
    response = await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))
    assert not server.requests
    assert [stage.stage for stage in response.dry_run.stages] == ["grade", "answer"]
    assert all(stage.priced and stage.prompt_tokens > 500 for stage in response.dry_run.stages)
    total = sum(stage.max_cost_usd for stage in response.dry_run.stages)
    assert response.dry_run.max_cost_usd == pytest.approx(total)
    assert "Answering would cost at most $" in response.answer
    assert not response.HasField("refusal")
    assert [*response.statements, *response.citations, *response.usage] == []
    (entry,) = records(tmp_path)
    assert (entry["outcome"], entry["tokens_input"], entry["answer"]) == ("answered", 0, response.answer)


async def test_a_dry_run_says_no_less_than_is_sent(stubs, server):
    dry_run = (await stubs.queries.Query(QueryRequest(query=FEE, dry_run=True))).dry_run
    await stubs.queries.Query(QueryRequest(query=FEE))
    sent = {contract_of(one): COUNT(one.system) + COUNT(one.prompt) for one in server.chats}
    told = {stage.stage: stage.prompt_tokens for stage in dry_run.stages}
    assert sent.keys() == told.keys()
    assert all(sent[stage] <= told[stage] <= sent[stage] + 1_000 for stage in sent)


async def test_the_stream_of_a_dry_run_ends_with_its_estimate(stubs):
    unary = await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))
    call = stubs.queries.StreamQuery(StreamQueryRequest(query=LAW, dry_run=True))
    events = [event async for event in call]
    assert [event.WhichOneof("event") for event in events] == ["retrieved", "estimated", "completed"]
    assert events[1].estimated.dry_run == unary.dry_run == events[2].completed.response.dry_run


async def test_a_dry_run_without_a_model_costs_nothing(index, tmp_path):
    async with answering(index, tmp_path) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW, dry_run=True))
    assert response.HasField("dry_run")
    assert (len(response.dry_run.stages), response.dry_run.max_cost_usd) == (0, 0.0)


async def test_stream_and_unary_are_equal_but_for_ids_and_times(stubs):
    unary = await stubs.queries.Query(QueryRequest(query=FEE))
    events = [event async for event in stubs.queries.StreamQuery(StreamQueryRequest(query=FEE))]
    streamed = events[-1].completed.response
    for response in (unary, streamed):
        for field in ("query_id", "trace_id", "finished_at", "latency"):
            response.metadata.ClearField(field)
    assert streamed == unary


async def test_nothing_of_an_answer_leaves_before_it_is_checked(stubs, server):
    server.respond = when("answer", Fails(400))
    call = stubs.queries.StreamQuery(StreamQueryRequest(query=LAW))
    assert [(await call.read()).WhichOneof("event") for _ in range(3)] == ["retrieved", "graded", "gated"]
    assert await call.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_what_is_sent_keeps_the_token_budget(index, server, tmp_path):
    limits = {"budget_total_tokens": 4_000, "budget_answer_tokens": 600}
    async with answering(index, tmp_path, server.url, **limits) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=FEE, grading=False, gate=False, debug=True))
    (request,) = server.chats
    budget = response.debug.budget
    assert budget.under_budget
    assert request.body["max_tokens"] == 600
    assert COUNT(request.system) + COUNT(request.prompt) + 600 <= 4_000


async def test_a_budget_that_the_prompt_alone_fills_is_a_refusal(index, server, tmp_path):
    async with answering(index, tmp_path, server.url, budget_total_tokens=700) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=LAW))
    assert response.refusal.reason == answer_pb2.REFUSAL_REASON_EMPTY_CONTEXT_AFTER_BUDGET
    assert asked(server) == ["grade"]


async def test_a_query_that_its_client_leaves_hangs_up_on_the_model(stubs, server):
    server.respond = when("answer", Hangs())
    call = stubs.queries.Query(QueryRequest(query=LAW))
    await server.received(2)
    call.cancel()
    await server.chats[1].hung_up.wait()


@pytest.fixture
def spans():
    with kept_spans() as spans:
        yield spans


async def test_the_spans_of_an_answer_are_those_that_the_documentation_lists(stubs, spans):
    await stubs.queries.Query(QueryRequest(query=LAW))
    ended = {one.name: set(one.attributes) for one in spans.get_finished_spans()}
    answered = ("grade", "gate", "definitions", "budget", "answer", "verify", "render", "contract answer")
    assert {name: ended[name] for name in answered} == {name: attributes_of_span(name) for name in answered}


async def test_the_trace_of_a_refusal_names_its_reason(stubs, server, spans):
    server.respond = when("grade", graded(lambda _: 0))
    await stubs.queries.Query(QueryRequest(query=LAW))
    (render,) = [one for one in spans.get_finished_spans() if one.name == "render"]
    assert render.attributes["clausegate.refusal_reason"] == "confidence_too_low"


async def test_the_span_of_weighing_extracts_names_who_did(stubs, server, spans):
    server.respond = when("answer", Says("I am sorry."))
    await stubs.queries.Query(QueryRequest(query=LAW))
    (weigh,) = [one for one in spans.get_finished_spans() if one.name == "weigh"]
    assert set(weigh.attributes) == attributes_of_span("weigh")


LONG = Text(
    "long/terms.txt", ["Schedule of terms. " + "The Licensee keeps records of use. " * 60 + "The cap is ten."]
)


async def test_a_long_passage_is_graded_as_a_whole(server, tmp_path):
    server.respond = when("grade", graded(lambda text: 3 if "The cap is ten." in text else 0))
    async with (
        index_of(tmp_path / "index", [LONG]) as index,
        answering(index, tmp_path, server.url) as stubs,
    ):
        response = await stubs.queries.Query(QueryRequest(query="What is the cap?"))
    assert response.metadata.grading_failure == ""
    assert [clause.grade for clause in response.supporting_clauses] == [3]
