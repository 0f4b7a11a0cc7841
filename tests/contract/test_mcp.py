"""MCP over HTTP, asked by the SDK's own client over real sockets: whose documents, what comes, what fails."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from chassis.access import Scope
from clausegate.answer.v1 import answer_pb2, query_service_pb2
from clausegate.corpus.v1 import citation_pb2
from tests.contract.gateway_services import PATIENCE_SECONDS, Script, problem_in, running, seen
from tests.contract.keyed_stack import ANNA, BERT, REFUSED, SCOPED, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODES = ["auto", "legacy"]
FEE = "What is the monthly display fee for each device?"
LICENCE = """LICENCE

Section 1. Fees

The Licensee shall pay a monthly display fee of {fee} for each device that shows market data.

Section 2. Termination

Either party may terminate this Agreement for convenience on ninety (90) days' written notice.
"""
TOOLS = ["ask", "search", "define", "list_documents", "open_citation", "verify_citation", "check_grounding"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def asking(url, key="", mode="auto"):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result):
    return result.content[0].text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("mcp")) as stack:
        for key, fee in ((ANNA, "USD 120.50"), (BERT, "USD 999.00")):
            async with stack.client(key) as client:
                await client.ingest(LICENCE.format(fee=fee).encode(), source="cme", path="licence.txt")
        async with stack.client(BERT) as client:
            await client.ingest(b"RULES\n\nThese rules bind Globex alone.\n", source="ice", path="own.txt")
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripted():
    script = Script()
    async with running(script) as client:
        yield client, script


@pytest.fixture
def script(scripted):
    vars(scripted[1]).update(vars(Script()))
    return scripted[1]


@pytest.fixture
def url(scripted):
    return str(scripted[0].base_url).rstrip("/")


@pytest.fixture
def http(scripted):
    return scripted[0]


@pytest.mark.parametrize("mode", MODES)
async def test_all_tools_are_listed_as_only_reading(stack, mode):
    async with asking(stack.url, ANNA, mode) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools)


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_has_quotes_and_where_they_stand(stack, mode):
    async with asking(stack.url, ANNA, mode) as client:
        result = await client.call_tool("ask", {"question": FEE})

    answer = result.structured_content
    assert answer["outcome"] in ("ANSWERED", "RELATED")
    assert "USD 120.50" in answer["quotes"][0]["quote"]
    assert f"“{answer['quotes'][0]['quote']}”" in text_of(result)
    assert "documentId cme/licence.txt" in text_of(result)


async def test_a_refusal_is_a_result_with_its_outcome(stack):
    async with asking(stack.url, ANNA) as client:
        result = await client.call_tool("ask", {"question": "Who insures the ship against piracy?"})

    assert not result.is_error
    assert result.structured_content["outcome"] == "REFUSED"
    assert "not addressed in the provided documents" in text_of(result)


async def test_what_is_only_related_says_so(script, url):
    script.response = query_service_pb2.QueryResponse(
        outcome=answer_pb2.OUTCOME_RELATED,
        citations=[
            citation_pb2.Citation(
                number=1, document="cme/a.pdf", title="A", quote="Fees are due.", page=3, last_page=3
            )
        ],
        statements=[answer_pb2.Statement(text="Fees are due.", citation_numbers=[1], possibly_related=True)],
    )
    async with asking(url) as client:
        result = await client.call_tool("ask", {"question": "When are fees due?"})

    assert result.structured_content["quotes"][0]["related"]
    assert text_of(result).startswith("outcome: RELATED.")
    assert "Possibly related:\n[1] “Fees are due.” — A, page 3 (" in text_of(result)


@pytest.mark.parametrize("mode", MODES)
async def test_callers_who_ask_at_once_get_their_own_documents(stack, mode):
    async def asked(key):
        async with asking(stack.url, key, mode) as client:
            results = [client.call_tool("ask", {"question": FEE}) for _ in range(3)]
            return "".join(text_of(result) for result in await asyncio.gather(*results))

    of_anna, of_bert = await asyncio.gather(asked(ANNA), asked(BERT))

    assert "120.50" in of_anna
    assert "999.00" not in of_anna
    assert "999.00" in of_bert
    assert "120.50" not in of_bert


async def test_a_document_of_another_tenant_is_as_absent_as_none(stack):
    async with asking(stack.url, ANNA) as client:
        listed = await client.call_tool("list_documents", {})
        there = await client.call_tool("open_citation", {"documentId": "ice/own.txt", "start": 0, "end": 5})
        nowhere = await client.call_tool("open_citation", {"documentId": "ice/no.txt", "start": 0, "end": 5})

    assert [document["documentId"] for document in listed.structured_content["documents"]] == [
        "cme/licence.txt"
    ]
    assert there.is_error
    assert text_of(there).replace("own", "no") == text_of(nowhere)
    assert "list_documents" in text_of(there)


async def test_a_quote_is_opened_in_its_context_and_verified(stack):
    async with asking(stack.url, ANNA) as client:
        quote = (await client.call_tool("ask", {"question": FEE})).structured_content["quotes"][0]
        place = {name: quote[name] for name in ("documentId", "start", "end")}
        opened = await client.call_tool("open_citation", place)
        verified = await client.call_tool("verify_citation", {"citation": quote["citation"]})

    assert opened.structured_content["quote"] == quote["quote"]
    assert "Section 2" in opened.structured_content["after"]
    assert verified.structured_content["holds"]


async def test_a_changed_citation_does_not_hold(stack):
    async with asking(stack.url, ANNA) as client:
        quote = (await client.call_tool("ask", {"question": FEE})).structured_content["quotes"][0]
        changed = quote["citation"] | {"quote": "The Licensee pays nothing."}
        verified = await client.call_tool("verify_citation", {"citation": changed})

    assert not verified.structured_content["holds"]


async def test_a_text_is_checked_claim_by_claim(stack):
    said = "Either party may terminate this Agreement for convenience on ninety (90) days' written notice."
    async with asking(stack.url, ANNA) as client:
        result = await client.call_tool("check_grounding", {"text": f"{said} Fees are waived on Sundays."})

    verdicts = [claim["verdict"] for claim in result.structured_content["claims"]]
    assert verdicts[0] == "VERBATIM"
    assert not result.structured_content["grounded"]


async def test_documents_are_listed_page_by_page(stack):
    async with asking(stack.url, BERT) as client:
        first = await client.call_tool("list_documents", {"limit": 1})
        rest = await client.call_tool("list_documents", {"limit": 1, "after": "cme/licence.txt"})

    assert (first.structured_content["more"], rest.structured_content["more"]) == (True, False)
    assert rest.structured_content["documents"][0]["documentId"] == "ice/own.txt"


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("ask", {}, "question"),
        ("ask", {"question": FEE, "colour": "red"}, "colour"),
        ("ask", {"question": FEE, "sources": "cme"}, "sources"),
        ("ask", {"question": ""}, "query"),
        ("search", {"query": "fee", "limit": 1000}, "limit"),
        ("open_citation", {"documentId": "cme/licence.txt", "start": 5, "end": 5}, "end"),
        ("verify_citation", {"citation": {"colour": "red"}}, "citation"),
    ],
)
async def test_a_wrong_argument_is_an_error_that_names_it(stack, tool, arguments, named):
    async with asking(stack.url, ANNA) as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert text_of(result).startswith(f"INVALID_FIELD: {named}: ")


@pytest.mark.parametrize("mode", MODES)
async def test_an_unknown_tool_is_an_error_of_the_protocol(stack, mode):
    async with asking(stack.url, ANNA, mode) as client:
        with pytest.raises(MCPError, match="list_documents"):
            await client.call_tool("delete_everything", {})


@pytest.mark.parametrize("mode", MODES)
async def test_a_defect_tells_none_of_its_words(script, url, mode):
    script.response = query_service_pb2.QueryResponse(outcome=99)
    async with asking(url, mode=mode) as client:
        result = await client.call_tool("ask", {"question": FEE})

    assert result.is_error
    assert text_of(result).startswith("INTERNAL: ")
    assert "99" not in text_of(result)


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED.keys())
async def test_without_a_valid_credential_nothing_is_told(stack, refused):
    async with stack.http(refused) as client:
        response = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)

    problem_in(response, 401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("credential", SCOPED)
async def test_it_takes_the_scope_of_asking(stack, credential):
    scopes, authorization = SCOPED[credential]
    async with stack.http(authorization) as client:
        response = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)

    assert response.status_code == (200 if scopes & {Scope.QUERY, Scope.ADMIN} else 403)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
async def test_a_page_of_another_site_may_not_ask_even_with_a_credential(stack, origin):
    async with stack.http(f"Bearer {ANNA}") as client:
        response = await client.post("/mcp", json=INITIALIZE, headers={**ACCEPT, "Origin": origin})

    problem_in(response, 403, "PERMISSION_DENIED")


async def test_a_name_that_was_made_to_point_here_is_refused(http):
    response = await http.post("/mcp", json=INITIALIZE, headers={**ACCEPT, "Host": "evil.example:8000"})

    problem_in(response, 403, "PERMISSION_DENIED")


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT"])
async def test_there_is_nothing_to_listen_to_or_to_end(http, verb):
    response = await http.request(verb, "/mcp")

    problem_in(response, 405, "ROUTE_NOT_FOUND")
    assert response.headers["allow"] == "POST"


async def test_a_body_that_is_no_json_is_an_error_of_the_protocol(http):
    headers = {**ACCEPT, "Content-Type": "application/json"}
    response = await http.post("/mcp", content=b"{", headers=headers)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32700


async def test_another_type_of_body_is_refused(http):
    response = await http.post("/mcp", data={"question": FEE}, headers=ACCEPT)

    problem_in(response, 415, "UNSUPPORTED_CONTENT_TYPE", "Content-Type")


@pytest.mark.parametrize("mode", MODES)
async def test_the_work_ends_when_the_caller_hangs_up(script, url, mode):
    script.hang_after_events = 0

    async def ask():
        async with asking(url, mode=mode) as client:
            await client.call_tool("ask", {"question": FEE})

    asked = asyncio.create_task(ask())
    await seen(script.started)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)

    await seen(script.cancelled)


async def test_a_large_body_is_refused():
    async with running(Script(), max_body_bytes=1000) as client:
        response = await client.post("/mcp", json={"text": "x" * 1000}, headers=ACCEPT)

    problem_in(response, 413, "MALFORMED_REQUEST")


async def test_a_service_that_is_away_is_an_error_that_says_so():
    async with running(Script(), answer_address="127.0.0.1:1") as client:
        url = str(client.base_url).rstrip("/")
        async with asking(url) as asked:
            result = await asked.call_tool("ask", {"question": FEE})

    assert result.is_error
    assert "cannot be reached" in text_of(result)
