"""The routes of projects and of what models make, over the gateway in front of small services of ours."""

import base64

import pytest
import pytest_asyncio

from chassis.errors import UpstreamError
from tests.contract.gateway_services import Script, events_of, problem_in, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

RESEARCH = "/v1/projects/licences/research/query"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared():
    """One gateway for all tests that need nothing special of it: to start one takes a tenth of a second."""
    script = Script()
    async with running(script) as client:
        yield client, script


@pytest.fixture
def script(shared) -> Script:
    vars(shared[1]).update(vars(Script()))
    return shared[1]


@pytest.fixture
def client(shared, script):
    return shared[0]


# Paths, bodies and parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "request_type"),
    [
        ("POST", "/v1/projects", {"projectId": "p", "sources": ["cme"]}, "CreateProjectRequest"),
        ("GET", "/v1/projects", None, "ListProjectsRequest"),
        ("GET", "/v1/projects/p", None, "GetProjectRequest"),
        ("PUT", "/v1/projects/p", {"sources": ["cme"]}, "UpdateProjectRequest"),
        ("DELETE", "/v1/projects/p", None, "DeleteProjectRequest"),
        ("POST", RESEARCH, {"query": "x"}, "ExtractSnippetsRequest"),
        ("POST", "/v1/projects/-/research/query", {"query": "x"}, "ExtractSnippetsRequest"),
        ("GET", "/v1/articles", None, "ListArticlesRequest"),
        ("POST", "/v1/articles:compile", {"sources": ["cme"]}, "CompileArticleRequest"),
        ("GET", "/v1/articles/fees", None, "GetArticleRequest"),
        ("GET", "/v1/articles/compile", None, "GetArticleRequest"),
        ("DELETE", "/v1/articles/fees", None, "DeleteArticleRequest"),
        ("POST", "/v1/queries:generate", {"topic": "x"}, "GenerateQueriesRequest"),
        ("POST", "/v1/texts:rewrite", {"text": "x", "instruction": "y"}, "RewriteRequest"),
        ("GET", "/v1/models", None, "DescribeModelsRequest"),
        ("POST", "/v1/grounding:check", {"text": "x"}, "CheckGroundingRequest"),
        ("POST", "/v1/citations:verify", {"citation": {"quote": "x"}}, "VerifyCitationRequest"),
        ("GET", "/v1/chunks:list?documentId=cme%2Fa.pdf", None, "ListChunksRequest"),
        ("POST", "/v1/context:assemble", {"sources": ["cme"]}, "AssembleContextRequest"),
    ],
)
async def test_every_route_reaches_its_call(client, script, method, path, body, request_type):
    response = await client.request(method, path, json=body)
    assert response.status_code == 200
    assert [type(request).__name__ for request in script.requests] == [request_type]


async def test_a_put_takes_its_variable_from_the_path_and_the_rest_from_the_body(client, script):
    response = await client.put("/v1/projects/p", json={"displayName": "P", "sources": ["cme", "opra"]})
    assert response.json()["project"]["projectId"] == "p"
    [request] = script.requests
    assert (request.project_id, request.display_name) == ("p", "P")
    assert list(request.sources) == ["cme", "opra"]


@pytest.mark.parametrize("repeated", ["p", "", None])
async def test_a_body_may_repeat_what_the_path_says(client, script, repeated):
    response = await client.put("/v1/projects/p", json={"projectId": repeated, "sources": ["cme"]})
    assert response.status_code == 200
    assert script.requests[0].project_id == "p"


@pytest.mark.parametrize(
    ("method", "path", "arguments", "field"),
    [
        ("PUT", "/v1/projects/p", {"json": {"projectId": "q"}}, "projectId"),
        ("PUT", "/v1/projects/p", {"json": {"project_id": "q"}}, "projectId"),
        ("POST", RESEARCH, {"json": {"project": "other", "query": "x"}}, "project"),
        ("GET", "/v1/articles/fees?articleId=dues", {}, "articleId"),
    ],
)
async def test_a_request_that_contradicts_its_path_is_rejected(
    client, script, method, path, arguments, field
):
    problem_in(await client.request(method, path, **arguments), 400, "INVALID_FIELD", field)
    assert script.requests == []


@pytest.mark.parametrize(("text", "stale"), [("true", True), ("false", False)])
async def test_a_query_parameter_may_be_a_boolean(client, script, text, stale):
    response = await client.get("/v1/articles", params={"stale": text, "pageSize": 3})
    assert response.status_code == 200
    assert (script.requests[0].stale, script.requests[0].page_size) == (stale, 3)


@pytest.mark.parametrize("text", ["1", "yes", "True", ""])
async def test_a_boolean_is_true_or_false(client, text):
    problem = problem_in(await client.get(f"/v1/articles?stale={text}"), 400, "INVALID_FIELD", "stale")
    assert problem["detail"] == "Must be true or false."


async def test_a_cost_limit_is_a_number(client, script):
    await client.post("/v1/articles:compile", json={"articleId": "a", "maxCostUsd": 0.5})
    assert script.requests[0].max_cost_usd == 0.5
    response = await client.post("/v1/articles:compile", json={"maxCostUsd": "cheap"})
    problem_in(response, 400, "INVALID_FIELD", "maxCostUsd")


async def test_a_citation_is_sent_back_as_it_came(client, script):
    certificate = {"keyId": "k1", "signature": base64.b64encode(bytes(range(256))).decode()}
    citation = {"number": 1, "quote": "§ 1", "span": {"start": 3, "end": 6}, "certificate": certificate}
    response = await client.post("/v1/citations:verify", json={"citation": citation})
    assert response.json()["signature"] == "SIGNATURE_STATE_VALID"
    assert response.json()["text"] == "TEXT_STATE_PRESENT"
    assert script.requests[0].citation.certificate.signature == bytes(range(256))


async def test_a_signature_in_broken_base64_is_rejected(client):
    body = {"citation": {"certificate": {"signature": "no base64!"}}}
    response = await client.post("/v1/citations:verify", json=body)
    problem_in(response, 400, "INVALID_FIELD", "citation.certificate.signature")


# Research -------------------------------------------------------------------------------------------------


async def test_snippets_are_result_events_and_then_done(client):
    events = await events_of(client, RESEARCH, json={"query": "fees"})
    assert [name for name, _, _ in events] == ["result", "done"]
    result, done = (data for _, _, data in events)
    assert set(result) >= {"sourceId", "sourceTitle", "sourceLocation", "relevance", "content"}
    assert (done["resultCount"], done["noResults"], done["processingTimeMs"]) == (1, False, 7)
    assert done["snippets"] == [result]


async def test_nothing_found_is_done_at_once(client):
    [(name, _, done)] = await events_of(client, RESEARCH, json={"query": "nothing"})
    assert (name, done["noResults"], done["resultCount"], done["snippets"]) == ("done", True, 0, [])


async def test_a_failure_between_results_is_an_error_event(client):
    events = await events_of(client, RESEARCH, json={"query": "fail late"})
    assert [name for name, _, _ in events] == ["result", "error"]
    problem = events[-1][2]
    assert (problem["status"], problem["reason"]) == (503, "UPSTREAM_UNAVAILABLE")
    assert problem["retryAfterSeconds"] == 2


# Failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        ("ALREADY_EXISTS", "PROJECT_EXISTS", 409),
        ("NOT_FOUND", "PROJECT_NOT_FOUND", 404),
        ("FAILED_PRECONDITION", "BUDGET_EXCEEDED", 400),
        ("FAILED_PRECONDITION", "MODEL_NOT_CONFIGURED", 501),
        ("FAILED_PRECONDITION", "MODEL_REJECTED", 502),
        ("UNAVAILABLE", "CONTRACT_FAILED", 502),
    ],
)
async def test_what_models_fail_with_has_its_http_status(client, script, code, reason, status):
    script.failure = UpstreamError("why", code=code, reason=reason)
    problem_in(await client.post("/v1/queries:generate", json={"topic": "x"}), status, reason)


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [("RESOURCE_EXHAUSTED", "MODEL_RATE_LIMITED", 429), ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", 503)],
)
async def test_what_may_be_repeated_says_when(client, script, code, reason, status):
    script.failure = UpstreamError("later", code=code, reason=reason, retry_after_seconds=20)
    response = await client.post("/v1/queries:generate", json={"topic": "x"})
    assert problem_in(response, status, reason)["retryAfterSeconds"] == 20
    assert response.headers["Retry-After"] == "20"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/query", {"query": "x"}),
        ("/v1/query:stream", {"query": "x"}),
        (RESEARCH, {"query": "x"}),
        ("/v1/articles:compile", {"sources": ["a"]}),
        ("/v1/queries:generate", {"topic": "x"}),
        ("/v1/texts:rewrite", {"text": "x", "instruction": "y"}),
        ("/v1/projects", {"projectId": "x"}),
    ],
)
async def test_a_call_that_costs_or_writes_is_never_repeated(client, script, path, body):
    script.failure = UpstreamError("gone", code="UNAVAILABLE", reason="UPSTREAM_UNAVAILABLE")
    problem_in(await client.post(path, json=body), 503, "UPSTREAM_UNAVAILABLE")
    assert len(script.requests) == 1


async def test_a_check_without_a_model_is_repeated_while_its_service_restarts(client, script):
    script.failure = UpstreamError("gone", code="UNAVAILABLE", reason="UPSTREAM_UNAVAILABLE")
    problem_in(await client.post("/v1/grounding:check", json={"text": "x"}), 503, "UPSTREAM_UNAVAILABLE")
    assert len(script.requests) == 3


async def test_a_request_may_take_as_long_as_two_calls_of_a_model(client, script):
    await client.post("/v1/queries:generate", json={"topic": "x"})
    assert 230 < script.seconds_left < 241
