"""Quotes of items of a list, wherever they leave, over real sockets beside a real index."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1 import answer_pb2
from clausegate.answer.v1 import grounding_service_pb2 as grounding_pb2
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceStub
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from clausegate.answer.v1.research_service_pb2 import ExtractSnippetsRequest, SnippetsDone
from clausegate.corpus.v1.chunk_pb2 import TEXT_DOUBT_KIND_MISSING_WORDS, TEXT_DOUBT_KIND_READING_ORDER
from tests.contract.listed import CONSENT, LEAD_IN, LIST, SHARE, WHOLE
from tests.contract.model_stack import Stubs, answering, index_of
from tests.contract.retrieval_index import service_at
from tests.fakes.behaviours import Behaviour, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import contract_of, read
from tests.fakes.renderer import Renderer
from tests.fakes.wire import Request

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "May the Licensee share the Data with any third party for commercial purposes?"
KEY = "k-2026:" + "a1" * 32 + "\n"
SAYS = Renderer()
VERDICTS = grounding_pb2.GroundingVerdict
WORDS = SHARE.removeprefix("2. ")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("lists"), (LIST,)) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stubs(index, tmp_path_factory) -> AsyncIterator[Stubs]:
    folder = tmp_path_factory.mktemp("answer")
    keys = folder / "keys"
    keys.write_text(KEY)
    async with answering(index, folder, signing_keys_file=keys) as stubs:
        yield stubs


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.respond = SAYS
        yield server


async def grounded(stubs: Stubs, text: str, *quotes: str) -> grounding_pb2.CheckGroundingResponse:
    request = grounding_pb2.CheckGroundingRequest(
        claims=[grounding_pb2.GroundingClaim(text=text, quotes=quotes)]
    )
    async with open_channel(stubs.address) as channel:
        return await GroundingServiceStub(channel).CheckGrounding(request)


async def verified(stubs: Stubs, citation) -> grounding_pb2.VerifyCitationResponse:
    async with open_channel(stubs.address) as channel:
        request = grounding_pb2.VerifyCitationRequest(citation=citation)
        return await GroundingServiceStub(channel).VerifyCitation(request)


async def snippets(stubs: Stubs) -> SnippetsDone:
    request = ExtractSnippetsRequest(project="-", query=QUESTION)
    return [event async for event in stubs.research.ExtractSnippets(request)][-1].done


def quoting(sentence: str, *quotes: str) -> Callable[[Request], Behaviour]:
    """A model that makes `sentence` of quotes of the chunk that holds the second item."""

    def respond(request: Request) -> Behaviour:
        if contract_of(request) != "answer":
            return SAYS(request)
        handle = next(one.handle for one in read(request).passages.values() if SHARE in one.text)
        said = [{"chunk": handle, "quote": quote} for quote in quotes]
        summary = [{"text": sentence, "quotes": list(range(1, len(quotes) + 1))}]
        return json_reply({"addressed": True, "quotes": said, "summary": summary})

    return respond


async def test_an_extract_says_what_the_list_says_and_tells_where_each_part_stands(stubs):
    response = await stubs.queries.Query(QueryRequest(query=QUESTION))
    statement = next(one for one in response.statements if SHARE in one.text)
    (number,) = statement.citation_numbers
    citation = response.citations[number - 1]
    assert statement.text == citation.quote == WHOLE
    text = "\n\n".join(LIST.paragraphs)
    assert [text[one.span.start : one.span.end] for one in citation.parts] == [LEAD_IN, SHARE, CONSENT]
    assert text[citation.span.start : citation.span.end] == SHARE


async def test_nothing_of_an_answer_shows_an_item_without_its_lead_in(stubs):
    response = await stubs.queries.Query(QueryRequest(query=QUESTION))
    shown = [*response.answer.splitlines(), *(one.quote for one in response.citations)]
    assert all(LEAD_IN in line for line in shown if WORDS in line)
    before_items = response.markdown_full.split(WORDS)[:-1]
    assert len(before_items) >= 3
    before_items += response.markdown.split(WORDS)[:-1]
    assert all("shall not:" in piece[-60:] for piece in before_items)
    clause = next(one for one in response.supporting_clauses if one.text == SHARE)
    assert [one.text for one in clause.context_before] == [LEAD_IN]
    assert [one.text for one in clause.context_after] == [CONSENT]


async def test_a_snippet_has_its_lead_in_and_condition_beside_it(stubs):
    done = await snippets(stubs)
    snippet = next(one for one in done.snippets if one.content == SHARE)
    assert (snippet.context_before, snippet.context_after) == (LEAD_IN, CONSENT)
    assert snippet.citation.quote == WHOLE


@pytest.mark.parametrize(
    ("text", "quotes", "verdict"),
    [
        (SHARE, (), "OVERSTATED"),
        (WORDS, (), "OVERSTATED"),
        (WORDS, (WORDS,), "OVERSTATED"),
        ("The Licensee may share the Data with any third party.", (WORDS,), "CONTRADICTED"),
        (f"The Licensee may: … {SHARE}", (), "CONTRADICTED"),
        (f"{LEAD_IN} … {SHARE}", (), "OVERSTATED"),
        (WHOLE, (), "VERBATIM"),
        (WHOLE, (WHOLE,), "VERBATIM"),
        (
            "The Licensee shall not share the Data with any third party for commercial purposes, and only "
            "with the prior written consent of the Licensor in each case.",
            (SHARE,),
            "SUPPORTED",
        ),
    ],
    ids=[
        "item",
        "words",
        "quoted",
        "turned",
        "other lead-in",
        "no condition",
        "whole",
        "quoted whole",
        "told",
    ],
)
async def test_a_claim_is_compared_with_all_that_the_quote_says(stubs, text, quotes, verdict):
    response = await grounded(stubs, text, *quotes)
    assert VERDICTS.Name(response.claims[0].verdict) == f"GROUNDING_VERDICT_{verdict}"


async def test_a_statement_of_ours_is_grounded(stubs):
    answer = await stubs.queries.Query(QueryRequest(query=QUESTION))
    async with open_channel(stubs.address) as channel:
        request = grounding_pb2.CheckGroundingRequest(text=answer.answer.split("\n", 1)[-1])
        response = await GroundingServiceStub(channel).CheckGrounding(request)
    assert [VERDICTS.Name(one.verdict) for one in response.claims] == [
        "GROUNDING_VERDICT_VERBATIM" for _ in answer.statements
    ]


async def test_a_citation_is_present_only_with_all_its_parts(stubs):
    response = await grounded(stubs, WHOLE)
    (citation,) = response.citations
    sound = await verified(stubs, citation)
    assert (sound.signature, sound.text) == (
        grounding_pb2.SIGNATURE_STATE_VALID,
        grounding_pb2.TEXT_STATE_PRESENT,
    )
    other = type(citation)()
    other.CopyFrom(citation)
    other.parts[0].text = "The Licensee may now:  "
    other.quote = other.quote.replace(LEAD_IN, "The Licensee may now:  ")
    told = await verified(stubs, other)
    assert (told.signature, told.text) == (
        grounding_pb2.SIGNATURE_STATE_INVALID,
        grounding_pb2.TEXT_STATE_GONE,
    )
    shorn = type(citation)()
    shorn.CopyFrom(citation)
    del shorn.parts[0]
    told = await verified(stubs, shorn)
    assert (told.signature, told.text) == (
        grounding_pb2.SIGNATURE_STATE_INVALID,
        grounding_pb2.TEXT_STATE_GONE,
    )


@pytest.mark.parametrize(("lead_in", "stands"), [(LEAD_IN, True), ("The Licensee may:", False)])
async def test_words_under_another_lead_in_of_a_new_version_are_other_words(tmp_path, lead_in, stands):
    new = dataclasses.replace(LIST, paragraphs=(lead_in, "0. Sell the Data.", *LIST.paragraphs[1:]))
    async with (
        index_of(tmp_path / "index", (LIST,)) as index,
        answering(index, tmp_path) as stubs,
        open_channel(index) as channel,
    ):
        (citation,) = (await grounded(stubs, WHOLE)).citations
        await service_at(channel).put(new)
        told = await verified(stubs, citation)
    assert told.text == grounding_pb2.TEXT_STATE_SUPERSEDED
    assert told.HasField("current_span") is stands


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (SHARE, (SHARE,)),
        ("The Licensee shall not share the Data with any third party.", (LEAD_IN, SHARE)),
        ("The Licensee shall not share the Data with any third party.", (WORDS,)),
    ],
    ids=["item alone", "lead-in and item", "told"],
)
async def test_a_model_is_shown_the_lead_in_and_whatever_it_quotes_leaves_with_it(
    index, server, tmp_path, text, quotes
):
    server.respond = quoting(text, *quotes)
    async with answering(index, tmp_path, server.url) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=QUESTION))
    assert [one.text for one in response.statements] == [WHOLE]
    for request in server.chats:
        passage = next(one for one in read(request).passages.values() if SHARE in one.text)
        assert passage.text.splitlines() == [
            f"[Leads into this:] {LEAD_IN}",
            SHARE,
            f"[Holds for this:] {CONSENT}",
        ]


async def test_a_model_that_turns_a_prohibition_round_is_not_believed(index, server, tmp_path):
    server.respond = quoting("The Licensee may share the Data with any third party.", WORDS)
    async with answering(index, tmp_path, server.url) as stubs:
        response = await stubs.queries.Query(QueryRequest(query=QUESTION))
    assert [one.text for one in response.statements] == [WHOLE]
    assert list(response.summary) == []
    assert response.metadata.dropped_summary_sentences == 1


@pytest.mark.parametrize(
    ("doubt", "kind"),
    [
        (TEXT_DOUBT_KIND_READING_ORDER, answer_pb2.NOTE_KIND_READING_ORDER),
        (TEXT_DOUBT_KIND_MISSING_WORDS, answer_pb2.NOTE_KIND_MISSING_WORDS),
    ],
    ids=["order", "words"],
)
async def test_what_is_in_doubt_is_never_an_answer_and_says_so_everywhere(tmp_path, doubt, kind):
    document = dataclasses.replace(LIST, doubts=(doubt,))
    async with index_of(tmp_path / "index", (document,)) as index, answering(index, tmp_path) as stubs:
        answer = await stubs.queries.Query(QueryRequest(query=QUESTION, grading=False, gate=False))
        done = await snippets(stubs)
        checked = await grounded(stubs, WHOLE)
    statement = next(one for one in answer.statements if SHARE in one.text)
    assert statement.possibly_related
    notes = [note for note in answer.notes if note.kind == kind]
    assert {number for note in notes for number in note.citation_numbers} >= set(statement.citation_numbers)
    assert [note.kind for one in done.snippets if one.content == SHARE for note in one.notes] == [kind]
    assert [note.kind for note in checked.claims[0].notes] == [kind]
