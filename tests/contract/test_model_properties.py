"""Whatever a model says and however its server fails: what leaves is true to the documents, or a typed error.

Replies are generated: mixtures of everything that `mutations` and `behaviours` know, for every task that asks
a model, sent over a real socket through the real services. `model_laws` says what must hold of what leaves.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chassis.channel import open_channel
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1.article_service_pb2 import CompileArticleRequest
from clausegate.answer.v1.query_generation_service_pb2 import GenerateQueriesRequest
from clausegate.answer.v1.query_service_pb2 import QueryRequest, QueryResponse, StreamQueryRequest
from clausegate.answer.v1.research_service_pb2 import (
    UNVERIFIED_SNIPPETS_DROP,
    UNVERIFIED_SNIPPETS_FLAG,
    ExtractSnippetsRequest,
)
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest
from clausegate.corpus.v1.article_pb2 import CLAIM_CONFIDENCE_SOURCED
from tests.contract.model_laws import (
    NUMBER,
    PATIENT_SECONDS,
    assert_citations,
    assert_explained,
    assert_in_quotes,
    assert_no_codes,
    assert_nothing_leaks,
    deadline,
    outcome,
    outcomes,
    strings,
)
from tests.contract.model_stack import (
    TEXTS,
    Failure,
    Reader,
    Stubs,
    answering,
    index_of,
)
from tests.fakes.model_server import ModelServer
from tests.fakes.moves import WELL_FORMED, Move, Played, moves, sound

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Case:
    """A question, and what the model does: for each contract its moves in order, the last one for ever."""

    question: str
    moves: dict[str, tuple[Move, ...]]
    gate: bool = True
    grading: bool = True
    flag: bool = False


questions = st.sampled_from(
    [
        "What is the monthly display fee for each Device?",
        "Which law governs the agreement?",
        "May either party terminate the Agreement, and on what notice?",
        "What is a Non-Professional?",
        "How long shall a Vendor keep records?",
        "When does the notice take effect, and what is waived for schools?",
        "Does the custody wallet support staking rewards of a cryptocurrency?",
    ]
)
queries = st.builds(
    Case,
    question=questions,
    moves=st.fixed_dictionaries({"grade": st.one_of(sound.map(lambda one: (one,)), moves), "answer": moves}),
    gate=st.booleans(),
    grading=st.sampled_from([True, True, False]),
)
researches = st.builds(
    Case, question=questions, moves=st.fixed_dictionaries({"snippets": moves}), flag=st.booleans()
)


REWRITTEN = "The Licensee shall pay USD 5 within 10 days and may not resell the data."
WRITING = {
    "article": lambda stubs, seconds: stubs.articles.CompileArticle(
        CompileArticleRequest(sources=["cme"]), timeout=seconds
    ),
    "queries": lambda stubs, seconds: stubs.generation.GenerateQueries(
        GenerateQueriesRequest(topic="fees"), timeout=seconds
    ),
    "rewrite": lambda stubs, seconds: stubs.rewriting.Rewrite(
        RewriteRequest(text=REWRITTEN, instruction="Make it plainer.", sources=["cme"]), timeout=seconds
    ),
}


@dataclass(frozen=True)
class Stack:
    """One stack for all cases."""

    server: ModelServer
    stubs: Stubs
    reader: Reader


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory) -> AsyncIterator[Stack]:
    folder = tmp_path_factory.mktemp("properties")
    limits = {
        # Repeats are for the failure matrix: here every request has a move of its own.
        "model_attempts": 1,
        "snippets_cache_seconds": 0,
    }
    async with (
        ModelServer() as server,
        index_of(folder / "index") as index,
        open_channel(index) as channel,
        answering(index, folder, server.url, **limits) as stubs,
    ):
        yield Stack(server, stubs, Reader(channel))


generated = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], print_blob=True
)


@settings(generated, max_examples=60)
@given(case=queries)
async def test_an_answer_is_true_to_the_documents_or_a_typed_failure(stack, case):
    await check_query(stack, case)


@settings(generated, max_examples=40)
@given(case=researches)
async def test_snippets_are_true_to_the_documents_or_a_typed_failure(stack, case):
    await check_research(stack, case)


@settings(generated, max_examples=30)
@given(task=st.sampled_from(sorted(WRITING)), said=moves)
async def test_what_a_model_writes_is_true_to_the_documents_or_a_typed_failure(stack, task, said):
    await check_writing(stack, task, said)


@pytest.mark.soak
@settings(generated, max_examples=2_000)
@given(task=st.sampled_from(sorted(WRITING)), said=moves)
async def test_much_that_a_model_writes_is_true_to_the_documents_or_a_typed_failure(stack, task, said):
    await check_writing(stack, task, said)


@pytest.mark.soak
@settings(generated, max_examples=6_000)
@given(case=queries)
async def test_many_answers_are_true_to_the_documents_or_typed_failures(stack, case):
    await check_query(stack, case)


@pytest.mark.soak
@settings(generated, max_examples=4_000)
@given(case=researches)
async def test_many_snippets_are_true_to_the_documents_or_typed_failures(stack, case):
    await check_research(stack, case)


async def check_query(stack: Stack, case: Case) -> None:
    options = {"query": case.question, "gate": case.gate, "grading": case.grading}
    stack.server.respond = played = Played(case.moves)
    seconds = deadline(played)
    unary = await outcome(stack.stubs.queries.Query(QueryRequest(**options), timeout=seconds))
    await check_answer(stack, unary, played, case)
    stack.server.respond = played = Played(case.moves)
    call = stack.stubs.queries.StreamQuery(StreamQueryRequest(**options), timeout=seconds)
    events, failure = await outcomes(call)
    streamed = failure or events[-1].completed.response
    await check_answer(stack, streamed, played, case)
    if failure:
        assert {event.WhichOneof("event") for event in events} <= {"retrieved", "graded", "gated"}
    else:
        assert folded(events) == content_of(streamed)
    if seconds == PATIENT_SECONDS:
        # Where time runs out, two calls may come to different ends.
        assert content_of(unary) == content_of(streamed)


async def check_answer(stack: Stack, answered: QueryResponse | Failure, played: Played, case: Case) -> None:
    if isinstance(answered, Failure):
        assert answered.reason != "CONTRACT_FAILED"
        assert_explained(answered, played, "answer")
    else:
        await assert_true(stack, answered, played, case)


async def check_research(stack: Stack, case: Case) -> None:
    played = Played(case.moves)
    stack.server.respond = played
    request = ExtractSnippetsRequest(
        project="-",
        query=case.question,
        unverified=UNVERIFIED_SNIPPETS_FLAG if case.flag else UNVERIFIED_SNIPPETS_DROP,
    )
    events, failure = await outcomes(stack.stubs.research.ExtractSnippets(request, timeout=deadline(played)))
    if failure:
        assert_explained(failure, played, "snippets")
        assert not events
        return
    done = events[-1].done
    results = [event.result for event in events[:-1]]
    last = played.last("snippets")
    # Nothing near the question: then no model is asked, and there is no result.
    assert last.name in WELL_FORMED if last else not results, f"{last} gave a result"
    assert list(done.snippets) == results
    assert (done.result_count, done.no_results) == (len(results), not results)
    assert len(results) <= 8
    await assert_snippets(stack, results, flag=case.flag)
    # A summary that the code writes says how many passages there are, or were.
    quoted = [one.content for one in results if one.verified]
    counts = (len(results), len(quoted), done.dropped_snippets, len(results) + done.dropped_snippets)
    assert_in_quotes(done.summary, quoted, set(map(str, counts)))
    assert_nothing_leaks([done.summary, *(one.relevance for one in results)], played)


async def check_writing(stack: Stack, task: str, said: tuple[Move, ...]) -> None:
    played = Played({task: said})
    stack.server.respond = played
    written = await outcome(WRITING[task](stack.stubs, deadline(played)))
    if isinstance(written, Failure):
        assert_explained(written, played, task)
        return
    # The prose of an article or a rewritten text may be anything but a number or a link of its own.
    assert_no_codes(strings(MessageToDict(written)), played)
    await LAWS[task](stack, written)


async def assert_article(stack: Stack, response) -> None:
    article = response.article
    sourced = [one for one in article.key_claims if one.HasField("citation")]
    await assert_citations(stack.reader, [one.citation for one in sourced])
    for claim in article.key_claims:
        assert claim.HasField("citation") == (claim.confidence == CLAIM_CONFIDENCE_SOURCED)
    for claim in sourced:
        assert_in_quotes(claim.claim, [claim.citation.quote])
    texts = [article.title, article.summary, article.article_body, *article.concepts, *article.open_questions]
    texts += [one.claim for one in article.key_claims] + [one.title for one in article.backlink_suggestions]
    material = "".join(text for name, text in TEXTS.items() if name.startswith("cme/"))
    assert_numbers(texts, material)


async def assert_queries(stack: Stack, response) -> None:
    assert len({" ".join(query.casefold().split()) for query in response.queries}) == 10
    assert all(query.strip() for query in response.queries)


async def assert_rewrite(stack: Stack, response) -> None:
    await assert_citations(stack.reader, response.citations)
    assert response.text.strip()
    assert_numbers([response.text], "\n".join([REWRITTEN, *(one.quote for one in response.citations)]))


LAWS = {"article": assert_article, "queries": assert_queries, "rewrite": assert_rewrite}


def assert_numbers(texts, material: str) -> None:
    """Numbers stand in the material, and links of the fake do not stand anywhere."""
    for text in texts:
        assert set(NUMBER.findall(text)) <= set(NUMBER.findall(material)), text
        assert "evil.example" not in text


async def assert_true(stack: Stack, response: QueryResponse, played: Played, case: Case) -> None:
    """A response says nothing that the documents do not."""
    await assert_citations(stack.reader, response.citations)
    by_number = {citation.number: citation for citation in response.citations}
    for statement in response.statements:
        assert statement.citation_numbers
        assert_in_quotes(statement.text, [by_number[n].quote for n in statement.citation_numbers])
    for sentence in response.summary:
        assert sentence.citation_numbers
        assert response.outcome == answer_pb2.OUTCOME_ANSWERED
        assert_in_quotes(sentence.text, [by_number[n].quote for n in sentence.citation_numbers])
    for clause in (*response.supporting_clauses, *response.refusal.nearest_clauses):
        assert TEXTS[clause.document][clause.span.start : clause.span.end] == clause.text
    assert_nothing_leaks(strings(MessageToDict(response)), played)
    if response.HasField("refusal"):
        assert_refusal(response, played, case)
    else:
        assert_answer(response, played)


def assert_answer(response: QueryResponse, played: Played) -> None:
    """An answer is a model's, or says that extracts stand in for its reply."""
    last = played.last("answer")
    assert last is not None
    assert response.statements
    kinds = [note.kind for note in response.notes]
    stood_in = answer_pb2.NOTE_KIND_MODEL_REPLY_UNUSED in kinds
    if last.sound or last.name not in WELL_FORMED:
        assert stood_in != last.sound, last
    assert (response.metadata.model == "extractive") == stood_in
    assert not (stood_in and response.summary)


def assert_refusal(response: QueryResponse, played: Played, case: Case) -> None:
    """A refusal has a reason that fits what happened, and hides no failure."""
    reason, last = response.refusal.reason, played.last("answer")
    assert not response.statements
    if last is None:
        assert reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
        assert case.gate
        assert not response.refusal.gate.passed
        return
    assert reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
    assert last.name in WELL_FORMED, f"{last} gave a refusal"
    assert not last.sound, "a sound answer was refused"
    assert response.refusal.gate.passed
    assert response.refusal.declined_by_model


async def assert_snippets(stack: Stack, snippets, *, flag: bool) -> None:
    await assert_citations(stack.reader, [one.citation for one in snippets if one.verified])
    for snippet in snippets:
        assert snippet.verified == snippet.HasField("citation")
        assert snippet.verified or flag
        if snippet.verified:
            assert snippet.content == snippet.citation.quote
            assert snippet.source_id == snippet.citation.document


def folded(events) -> QueryResponse:
    """What the events tell, `completed` left out."""
    response = QueryResponse()
    for event in events:
        kind = event.WhichOneof("event")
        if kind == "supporting_clauses":
            response.outcome = event.supporting_clauses.outcome
            response.supporting_clauses.extend(event.supporting_clauses.clauses)
        elif kind == "refused":
            response.outcome = answer_pb2.OUTCOME_REFUSED
            response.refusal.CopyFrom(event.refused.refusal)
        elif kind == "summary":
            response.summary.extend(event.summary.sentences)
        elif kind in ("statement", "definition", "note"):
            validated = getattr(event, kind)
            getattr(response, f"{kind}s").append(getattr(validated, kind))
            response.citations.extend(validated.citations)
    return response


def content_of(response: QueryResponse | Failure) -> QueryResponse | Failure:
    """Without what differs between two calls and what folding does not give."""
    if isinstance(response, Failure):
        return response
    content = QueryResponse()
    content.CopyFrom(response)
    for derived in ("metadata", "debug", "answer", "markdown", "markdown_full", "usage"):
        content.ClearField(derived)
    return content
