"""A changed word of the index leaves in nothing that is made of it, over files and over Weaviate alike."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

import clausegate
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.span_pb2 import Span
from tests.contract.damage import STORES, ChangeWord
from tests.contract.model_stack import LICENCE, TEXTS, answering, index_of
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "What is the monthly display fee for each Device?"
FEE = "The Licensee shall pay a monthly display fee of USD 120.50 for each Device that shows market data."
START = TEXTS[LICENCE.document_id].index(FEE)
CITATION = Citation(
    document=LICENCE.document_id, quote=FEE, span=Span(start=START, end=START + len(FEE)), source="cme"
)
WRONG = {
    "chunk": ("USD 120.50", "USD 520.50"),
    "definition": ("displays market data", "prints market data"),
    "document": (LICENCE.document().content_sha256, "f" * 64),
}


async def all_of(events):
    return [event async for event in events]


CALLS: dict[str, Callable[[clausegate.Client], Awaitable[object]]] = {
    "Query": lambda client: client.query(QUESTION, sources=["cme"]),
    "StreamQuery": lambda client: all_of(client.stream_query(QUESTION, sources=["cme"])),
    "ExtractSnippets": lambda client: all_of(client.snippets(QUESTION, source_ids=["cme"])),
    "CheckGrounding": lambda client: client.check_grounding(FEE, sources=["cme"]),
    "VerifyCitation": lambda client: client.verify_citation(CITATION),
    "CompileArticle": lambda client: client.compile_article(sources=["cme"], topic=QUESTION),
    "Rewrite": lambda client: client.rewrite("The fee.", "Name the fee.", sources=["cme"]),
    "AssembleContext": lambda client: client.assemble_context(QUESTION, sources=["cme"]),
}
NOT_MADE_OF = {
    "chunk": set(),
    "definition": set(CALLS) - {"Query", "StreamQuery"},
    "document": {"AssembleContext"},
}
"""What needs neither definitions nor documents goes on without them."""


@dataclass
class Stack:
    """A stack whose index can be damaged."""

    client: clausegate.Client
    change_word: ChangeWord
    model: ModelServer
    records: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server():
    async with ModelServer() as running:
        running.respond = Renderer()
        yield running


@pytest_asyncio.fixture(loop_scope="module", params=STORES)
async def stack(request, tmp_path, server):
    server.forget()
    with request.param(tmp_path / "index") as (store, change_word):
        async with (
            index_of(tmp_path / "index", **store) as index,
            answering(index, tmp_path, server.url, snippets_cache_seconds=0) as stubs,
            clausegate.connect(clausegate.Addresses(index, index, stubs.address)) as client,
        ):
            yield Stack(client, change_word, server, tmp_path / "logs" / "queries-000000000001.jsonl")


async def refusal(stack, name):
    """Why a call failed; None when it did not."""
    try:
        await CALLS[name](stack.client)
    except clausegate.ClausegateError as error:
        return error
    return None


@pytest.mark.parametrize("kind", WRONG)
async def test_nothing_is_made_of_a_changed_word(stack, kind, caplog):
    assert {name: await refusal(stack, name) for name in CALLS} == dict.fromkeys(CALLS)
    stack.model.forget()
    old, new = WRONG[kind]
    stack.change_word(kind, old, new)

    with caplog.at_level(logging.ERROR):
        found = {name: await refusal(stack, name) for name in CALLS}

    refused = {name: error for name, error in found.items() if error}
    assert refused.keys() == CALLS.keys() - NOT_MADE_OF[kind]
    assert {(error.code, error.reason) for error in refused.values()} == {("DATA_LOSS", "INDEX_DAMAGED")}
    assert all(LICENCE.document_id in error.message for error in refused.values())
    logged = [record.document for record in caplog.records if record.msg == "the index is damaged"]
    assert set(logged) == {LICENCE.document_id}
    assert not any(new in str(chat.body) for chat in stack.model.chats)
    assert new not in stack.records.read_text()


@pytest.mark.parametrize("kind", ["article", "article body"])
async def test_a_changed_article_is_not_given_out_until_it_is_compiled_again(stack, kind, caplog):
    options = {"sources": ["cme"], "topic": QUESTION, "article_id": "fees"}
    compiled = (await stack.client.compile_article(**options)).article
    stack.change_word(kind, "USD 120.50", "USD 520.50")

    with caplog.at_level(logging.ERROR), pytest.raises(clausegate.ClausegateError) as refused:
        await stack.client.get_article("fees")

    assert (refused.value.code, refused.value.reason) == ("DATA_LOSS", "INDEX_DAMAGED")
    assert "article fees" in refused.value.message
    (logged,) = {record.article for record in caplog.records if record.msg == "the index is damaged"}
    assert logged == "fees"
    await stack.client.compile_article(**options)
    assert (await stack.client.get_article("fees")).article_body == compiled.article_body


async def test_a_list_with_a_changed_article_is_refused_until_it_is_deleted(stack):
    await stack.client.compile_article(sources=["cme"], topic=QUESTION, article_id="fees")
    await stack.client.compile_article(sources=["opra"], topic="audit", article_id="audit")
    stack.change_word("article", "USD 120.50", "USD 520.50")

    with pytest.raises(clausegate.ClausegateError, match="article fees"):
        await all_of(stack.client.articles())

    await stack.client.delete_article("fees")
    assert [each.article_id for each in await all_of(stack.client.articles())] == ["audit"]
