"""RewriteService over real sockets, beside a real index and a model server of the tests' own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1.rewrite_service_pb2 import RewriteRequest, StreamRewriteRequest
from clausegate.corpus.v1 import citation_pb2
from tests.contract.model_stack import TEXTS, Stubs, answering, failure_of, index_of
from tests.contract.relay import relay
from tests.contract.retrieval_index import Text, service_at
from tests.fakes.behaviours import EMPTY, Fails, Says, commented, cut_off, fenced, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "The customer must pay the display fee for every device, and may not share data."
PLAIN = {"text": "You must pay the display fee for each device, and may not share data.", "references": []}
FEE = "The Licensee shall pay a monthly display fee of USD 120.50 for each Device that shows market data."
WITH_FEE = "The customer must pay the display fee of USD 120.50 for every device, and may not share data."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("answer")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stubs(server, index, folder) -> AsyncIterator[Stubs]:
    prices = {"gpt-4.1": {"input": 1000.0, "output": 2000.0}}
    async with answering(index, folder, server.url, prices=prices, model_attempts=1) as found:
        yield found


@pytest.fixture
def model(server: ModelServer) -> ModelServer:
    """The model server, with nothing left from the test before."""
    server.forget()
    server.respond = Renderer()
    return server


def asked(**fields) -> RewriteRequest:
    return RewriteRequest(**{"text": TEXT, "instruction": "Make it plainer.", **fields})


async def failed(stubs: Stubs, request: RewriteRequest) -> tuple[str, str, str | None]:
    """Code, reason and field of a call that fails."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await stubs.rewriting.Rewrite(request, timeout=20)
    failure = failure_of(raised.value)
    return failure.code, failure.reason, failure.field


def shown(model: ModelServer, call: int = 0) -> str:
    """The user's message of a call."""
    return model.chats[call].body["messages"][1]["content"]


def handle_of(words: str, prompt: str) -> str:
    """The handle of the chunk with these words."""
    before = prompt[: prompt.index(words)]
    return before[before.rindex("\n[c") + 2 : before.rindex("]\n[Section:")]


def with_fee(quote: str = FEE, chunk: str | None = None, text: str = WITH_FEE):
    """A model that takes the fee from the material."""

    def respond(request) -> Says:
        found = chunk or handle_of(
            "monthly display fee of USD 120.50", request.body["messages"][1]["content"]
        )
        return json_reply({"text": text, "references": [{"chunk": found, "quote": quote}]})

    return respond


async def test_a_text_is_rewritten_without_documents(stubs, model):
    model.reply(json_reply(PLAIN))
    response = await stubs.rewriting.Rewrite(asked())
    assert response.text == PLAIN["text"]
    assert list(response.citations) == []
    assert "There is no reference material." in shown(model)


async def test_text_and_instruction_reach_the_model_as_data_and_as_request(stubs, model):
    model.reply(json_reply(PLAIN))
    await stubs.rewriting.Rewrite(asked())
    assert f"\n{TEXT}\ntext " in shown(model)
    assert shown(model).endswith("Instruction:\nMake it plainer.\n")


async def test_what_stands_around_the_text_is_shown_as_data_and_lends_no_number(stubs, model):
    model.reply(*2 * [json_reply({"text": f"{TEXT} It costs USD 77.", "references": []})])
    around = {"before": "It costs USD 77.", "after": "So be it."}
    assert (await failed(stubs, asked(**around)))[1] == "CONTRACT_FAILED"
    assert "\nIt costs USD 77.\nbefore " in shown(model)
    assert "\nSo be it.\nafter " in shown(model)


async def test_a_stream_tells_the_sentences_and_then_the_whole(stubs, model):
    text = "You must pay. You may not share data.\nIt is so."
    model.reply(json_reply({"text": text, "references": []}))
    request = StreamRewriteRequest(text=TEXT, instruction="Make it plainer.")
    *sentences, last = [event async for event in stubs.rewriting.StreamRewrite(request)]
    assert [event.sentence.text for event in sentences] == [
        "You must pay. ",
        "You may not share data.\n",
        "It is so.",
    ]
    assert (last.completed.text, last.completed.metadata.prompt_version) == (text, "rewrite/3")


async def test_nothing_of_a_text_that_fails_its_check_is_streamed(stubs, model):
    model.reply(*2 * [json_reply({"text": f"{TEXT} It costs USD 77.", "references": []})])
    call = stubs.rewriting.StreamRewrite(StreamRewriteRequest(text=TEXT, instruction="Make it plainer."))
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call.read()
    assert failure_of(raised.value).reason == "CONTRACT_FAILED"


async def test_numbers_come_from_a_quote_that_is_cited(stubs, model):
    model.respond = with_fee()
    response = await stubs.rewriting.Rewrite(asked(instruction="Add the display fee.", sources=["cme"]))
    assert response.text == WITH_FEE
    (citation,) = response.citations
    assert citation.number == 1
    assert FEE in citation.quote
    assert TEXTS[citation.document][citation.span.start : citation.span.end] == citation.quote
    assert citation.match_level == citation_pb2.MATCH_LEVEL_EXACT
    assert (citation.certificate.model, citation.certificate.prompt_version) == ("gpt-4.1", "rewrite/3")
    assert len(citation.certificate.prompt_sha256) == 64


async def test_documents_may_be_named_instead_of_sources(stubs, model):
    model.respond = with_fee()
    await stubs.rewriting.Rewrite(asked(document_ids=["cme/licence.txt"]))
    assert "cme/licence.txt" in shown(model)
    assert "opra/policy.txt" not in shown(model)


async def test_references_that_stand_nowhere_are_dropped(stubs, model):
    invented = {"chunk": "c1", "quote": "Nobody pays anything."}
    foreign = {"chunk": "c99", "quote": FEE}
    model.reply(json_reply({**PLAIN, "references": [invented, foreign]}))
    response = await stubs.rewriting.Rewrite(asked(sources=["cme"]))
    assert (response.text, list(response.citations)) == (PLAIN["text"], [])


@pytest.mark.parametrize(
    "bad",
    [
        with_fee(text=WITH_FEE.replace("120.50", "125.50")),
        with_fee(text=WITH_FEE.replace("USD", "EUR")),
        with_fee(quote=FEE.replace("120.50", "125.50"), text=WITH_FEE.replace("120.50", "125.50")),
        with_fee(chunk="c99"),
        with_fee(text=WITH_FEE + " See section 9.4."),
        with_fee(text=WITH_FEE + " This holds from 1 May 2031."),
        with_fee(text=WITH_FEE + " See https://evil.example/?q=secret for more."),
        with_fee(text=WITH_FEE + " ![](//evil.example/secret)"),
        with_fee(text=WITH_FEE + " <img src=//evil.example>"),
        with_fee(text="  "),
    ],
)
async def test_what_stands_neither_in_the_text_nor_in_a_quote_never_leaves(stubs, model, bad):
    model.respond = bad
    request = asked(instruction="Add the display fee.", sources=["cme"])
    assert await failed(stubs, request) == ("UNAVAILABLE", "CONTRACT_FAILED", None)
    assert len(model.chats) == 2


async def test_a_dropped_not_is_found_where_the_text_has_no_other(stubs, model):
    text = PLAIN["text"].replace("may not share", "may share")
    model.reply(*2 * [json_reply({"text": text, "references": []})])
    assert (await failed(stubs, asked()))[1] == "CONTRACT_FAILED"


async def test_the_repair_says_which_words_are_unsupported(stubs, model):
    bad = json_reply({"text": f"{TEXT} It costs USD 77.", "references": []})
    model.reply(bad, json_reply(PLAIN))
    response = await stubs.rewriting.Rewrite(asked())
    assert response.text == PLAIN["text"]
    assert (
        "77” stands neither in the user's text nor in a passage"
        in model.chats[1].body["messages"][-1]["content"]
    )
    assert [(one.calls, one.repairs) for one in response.usage] == [(2, 1)]


@pytest.mark.parametrize("reply", [fenced(PLAIN), fenced({**PLAIN, "remark": "extra"}), json_reply(PLAIN)])
async def test_a_reply_is_read_fenced_or_bare(stubs, model, reply):
    model.reply(reply)
    assert (await stubs.rewriting.Rewrite(asked())).text == PLAIN["text"]


@pytest.mark.parametrize("reply", [cut_off(PLAIN), EMPTY, commented({"text": 3}), json_reply({"text": TEXT})])
async def test_a_reply_that_keeps_no_contract_is_repaired_once(stubs, model, reply):
    model.reply(reply, json_reply(PLAIN))
    assert (await stubs.rewriting.Rewrite(asked())).text == PLAIN["text"]
    model.reply(reply, reply)
    assert (await failed(stubs, asked()))[1] == "CONTRACT_FAILED"


async def test_line_breaks_and_quotes_survive(stubs, model):
    text = 'You must pay.\r\n\n\t"Data" – \'may not\' be \\shared\\ {"a": "b"}\u2028« »\n'
    model.reply(json_reply({"text": text, "references": []}))
    original = text.replace("\u2028", " ")
    assert (await stubs.rewriting.Rewrite(asked(text=original))).text == text


async def test_a_document_cannot_give_orders(stubs, model):
    model.respond = with_fee()
    await stubs.rewriting.Rewrite(asked(sources=["cme"], reference_tokens=50_000))
    prompt = shown(model)
    code = prompt[prompt.index("<<<documents ") :].split()[1]
    assert prompt.count(f"documents {code}>>>") == 1
    assert "\n\\<<<documents 0000000000000000" in prompt


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (asked(text=""), "text"),
        (asked(text=" \n "), "text"),
        (asked(text="x" * 20_001), "text"),
        (asked(text="a\x07"), "text"),
        (asked(instruction=""), "instruction"),
        (asked(instruction="x" * 2_001), "instruction"),
        (asked(before="x" * 4_001), "before"),
        (asked(after="x" * 4_001), "after"),
        (asked(after="a\x07"), "after"),
        (asked(sources=["x"] * 101), "sources"),
        (asked(sources=[""]), "sources[0]"),
        (asked(document_ids=["x"] * 101), "document_ids"),
        (asked(sources=["cme"], reference_tokens=-1), "reference_tokens"),
        (asked(max_cost_usd=float("nan")), "max_cost_usd"),
    ],
)
async def test_a_bad_request_is_refused_by_field_before_any_call(stubs, model, request_, field):
    assert await failed(stubs, request_) == ("INVALID_ARGUMENT", "INVALID_FIELD", field)
    assert model.requests == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (asked(sources=["cme", "none"]), ("NOT_FOUND", "SOURCE_NOT_FOUND", "sources[1]")),
        (asked(document_ids=["cme/none.txt"]), ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[0]")),
    ],
)
async def test_unknown_documents_are_not_found(stubs, model, request_, expected):
    assert await failed(stubs, request_) == expected


async def test_tokens_that_no_chunk_fits_into_are_refused_with_the_field(stubs, model):
    refused = await failed(stubs, asked(sources=["cme"], reference_tokens=5))
    assert refused == ("FAILED_PRECONDITION", "CONTEXT_TOO_SMALL", "reference_tokens")
    assert model.requests == []


async def test_without_a_chat_model_nothing_is_read(folder):
    async with answering("127.0.0.1:9", folder / "other") as stubs:
        expected = ("FAILED_PRECONDITION", "MODEL_NOT_CONFIGURED", None)
        assert await failed(stubs, asked(sources=["cme"])) == expected


async def test_a_call_that_could_cost_too_much_is_not_made(stubs, model):
    assert (await failed(stubs, asked(max_cost_usd=0.5)))[1:] == ("BUDGET_EXCEEDED", "max_cost_usd")
    assert model.requests == []


async def test_a_failing_model_server_is_a_typed_error(stubs, model):
    model.reply(Fails(503))
    assert (await failed(stubs, asked()))[:2] == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")


async def test_every_call_leaves_one_audit_record(stubs, model, folder):
    before = len((folder / "logs" / "queries-000000000001.jsonl").read_text().splitlines())
    model.respond = with_fee()
    response = await stubs.rewriting.Rewrite(asked(sources=["cme"]))
    await failed(stubs, asked(text=""))
    lines = (folder / "logs" / "queries-000000000001.jsonl").read_text().splitlines()[before:]
    answered, refused = (json.loads(line) for line in lines)
    assert (answered["task"], answered["answer"], answered["sources"]) == ("rewrite", WITH_FEE, ["cme"])
    assert (answered["chunks_used"], answered["tokens_input"]) == (1, 11)
    assert answered["query_id"] == response.metadata.query_id
    assert refused["error_reason"] == "INVALID_FIELD"


async def test_metadata_tells_of_material_model_and_prompt(stubs, model):
    model.respond = with_fee()
    metadata = (await stubs.rewriting.Rewrite(asked(sources=["cme"]))).metadata
    assert (metadata.model, metadata.prompt_version) == ("gpt-4.1", "rewrite/3")
    assert metadata.context_tokens > 0
    assert metadata.index_revision


async def test_a_quoted_document_replaced_while_the_model_writes_is_a_conflict(server, model, tmp_path):
    async with index_of(tmp_path / "index") as index, open_channel(index) as channel:

        async def replace_document(method: str) -> None:
            if method == "GetChunks":
                await service_at(channel).put(Text("cme/licence.txt", ["2. Fees. There are none."]))

        async with (
            relay(index, replace_document) as between,
            answering(between, tmp_path, server.url) as stubs,
        ):
            model.respond = with_fee()
            assert await failed(stubs, asked(sources=["cme"])) == ("ABORTED", "DOCUMENT_CONFLICT", None)
