"""The gateway over real sockets, in front of small services of ours that echo, hang and fail on request."""

import asyncio
import hashlib
import json
import os
import re
import signal
import socket
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from chassis.addresses import AddressRefused
from chassis.errors import Exhausted, UpstreamError
from gateway.contracts import load_contracts
from gateway.problems import HTTP_STATUS
from gateway.wiring import bound_socket, serving
from services.ingest.errors import DocumentNotFound
from tests.contract.gateway_services import (
    PATIENCE_SECONDS,
    Script,
    client_of,
    events_of,
    problem_in,
    running,
    seen,
    services,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]


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


async def refused(address: str) -> None:
    """Return when nobody accepts connections at `address` any more."""
    host, _, port = address.rpartition(":")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await accepts(host, int(port)):
            pass


async def accepts(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        await writer.wait_closed()
    except ConnectionError:
        return False
    return True


# Requests and responses -----------------------------------------------------------------------------------


async def test_a_question_is_answered_as_proto3_json(client, script):
    response = await client.post("/v1/query", json={"query": "Fees?", "documentIds": ["cme/a.pdf"]})
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["answer"] == "answer to Fees?"
    assert body["supportingClauses"] == []
    assert "refusal" not in body
    assert list(script.requests[0].document_ids) == ["cme/a.pdf"]


async def test_a_search_returns_candidates(client):
    response = await client.post(
        "/v1/search", json={"query": "fees", "mode": "SEARCH_MODE_KEYWORD", "topK": 3}
    )
    [candidate] = response.json()["candidates"]
    assert candidate["chunk"]["text"] == "fees"
    assert candidate["vectorSimilarity"] == 0.5
    assert "bm25Score" not in candidate


async def test_nested_and_repeated_messages_of_a_body_arrive(client, script):
    versions = [{"documentId": "a/1.txt", "generation": "g"}, {"documentId": "a/2.txt"}]
    await client.post("/v1/search", json={"query": "x", "route": False, "atLeast": versions})
    [request] = script.requests
    assert [version.document_id for version in request.at_least] == ["a/1.txt", "a/2.txt"]
    assert request.HasField("route")
    assert not request.route


async def test_field_names_may_be_written_as_in_the_proto(client, script):
    await client.post("/v1/search", json={"query": "x", "top_k": 7})
    assert script.requests[0].top_k == 7


async def test_null_leaves_a_field_unset(client, script):
    await client.post("/v1/query", json={"query": "x", "gate": None, "sources": None})
    assert not script.requests[0].HasField("gate")


async def test_query_parameters_fill_repeated_and_single_fields(client, script):
    parameters = {"terms": ["Fee", "Rule 1A"], "maxDepth": 3, "page_token": ""}
    response = await client.get("/v1/definitions", params=parameters)
    assert response.json()["nextPageToken"] == "more"
    assert list(script.requests[0].terms) == ["Fee", "Rule 1A"]
    assert script.requests[0].max_depth == 3


async def test_an_additional_binding_takes_the_request_as_body(client, script):
    passages = [{"text": "the Fee"}]
    response = await client.post("/v1/definitions:find", json={"passages": passages})
    assert response.status_code == 200
    assert script.requests[0].passages[0].text == "the Fee"


async def test_a_path_variable_spans_segments_and_is_decoded(client, script):
    response = await client.get("/v1/documents/cme/fees%20and%20dues/schedule%20%C3%A9.pdf")
    document = response.json()["document"]
    assert document["documentId"] == "cme/fees and dues/schedule é.pdf"
    assert document["sizeBytes"] == str(2**40)


async def test_get_and_delete_of_one_path_are_different_calls(client):
    response = await client.delete("/v1/documents/cme/a.pdf")
    assert response.json() == {"indexRevision": "2"}


async def test_head_is_answered_without_a_body(client):
    response = await client.head("/v1/documents")
    assert response.status_code == 200
    assert response.content == b""


# Bad requests ---------------------------------------------------------------------------------------------

BAD_BODIES = [
    pytest.param(b'{"query": ', "MALFORMED_REQUEST", [], id="cut off"),
    pytest.param(b"", "MALFORMED_REQUEST", [], id="empty"),
    pytest.param(b'{"query": "\xff"}', "MALFORMED_REQUEST", [], id="not UTF-8"),
    pytest.param(b"[]", "MALFORMED_REQUEST", [], id="not an object"),
    pytest.param(b'{"query": NaN}', "MALFORMED_REQUEST", [], id="NaN"),
    pytest.param(b'{"topK": ' + b"9" * 5000 + b"}", "MALFORMED_REQUEST", [], id="5,000 digits"),
    pytest.param(b"[" * 100_000, "MALFORMED_REQUEST", [], id="nested 100,000 deep"),
    pytest.param(b'{"query": "a", "query": "b"}', "MALFORMED_REQUEST", ["query"], id="name twice"),
    pytest.param(b'{"topK": 1, "top_k": 2}', "MALFORMED_REQUEST", ["topK"], id="field twice"),
    pytest.param(b'{"question": "a"}', "MALFORMED_REQUEST", ["question"], id="unknown field"),
    pytest.param(b'{"\\ud800": "a"}', "MALFORMED_REQUEST", ["\\ud800"], id="surrogate in a name"),
    pytest.param(b'{"query": "\\ud800"}', "INVALID_FIELD", ["query"], id="surrogate in a value"),
    pytest.param(b'{"query": 5}', "INVALID_FIELD", ["query"], id="number for a string"),
    pytest.param(b'{"query": {"a": 1}}', "INVALID_FIELD", ["query"], id="object for a string"),
    pytest.param(b'{"topK": true}', "INVALID_FIELD", ["topK"], id="bool for a number"),
    pytest.param(b'{"topK": 2147483648}', "INVALID_FIELD", ["topK"], id="out of range"),
    pytest.param(b'{"topK": 1.5}', "INVALID_FIELD", ["topK"], id="fraction"),
    pytest.param(b'{"background": "true"}', "INVALID_FIELD", ["background"], id="string for a bool"),
    pytest.param(b'{"mode": "FAST"}', "INVALID_FIELD", ["mode"], id="unknown enum value"),
    pytest.param(b'{"mode": false}', "INVALID_FIELD", ["mode"], id="bool for an enum"),
    pytest.param(b'{"mode": 99}', "INVALID_FIELD", ["mode"], id="number of no enum value"),
    pytest.param(b'{"sources": "cme"}', "INVALID_FIELD", ["sources"], id="string for a list"),
    pytest.param(b'{"sources": ["cme", null]}', "INVALID_FIELD", ["sources[1]"], id="null in a list"),
    pytest.param(
        b'{"sources": ["cme", "\\udfff"]}', "INVALID_FIELD", ["sources[1]"], id="surrogate in a list"
    ),
    pytest.param(
        b'{"atLeast": [{"generation": 1}]}', "INVALID_FIELD", ["atLeast[0].generation"], id="nested"
    ),
    pytest.param(b'{"atLeast": [{"gen": 1}]}', "MALFORMED_REQUEST", ["atLeast[0].gen"], id="nested unknown"),
    pytest.param(b'{"atLeast": [null]}', "MALFORMED_REQUEST", ["atLeast[0]"], id="null among messages"),
]


@pytest.mark.parametrize(("body", "reason", "fields"), BAD_BODIES)
async def test_a_bad_body_is_a_problem_that_names_the_field(client, script, body, reason, fields):
    response = await client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    problem_in(response, 400, reason, *fields)
    assert script.requests == []


@pytest.mark.parametrize(
    ("parameters", "reason", "field"),
    [
        ("page_size=ten", "INVALID_FIELD", "pageSize"),
        ("pageSize=1&pageSize=2", "INVALID_FIELD", "pageSize"),
        ("size=1", "MALFORMED_REQUEST", "size"),
    ],
)
async def test_a_bad_query_parameter_is_named(client, parameters, reason, field):
    problem_in(await client.get(f"/v1/documents?{parameters}"), 400, reason, field)


async def test_messages_are_no_query_parameters(client):
    problem_in(await client.get("/v1/definitions?passages=x"), 400, "MALFORMED_REQUEST", "passages")


async def test_query_parameters_beside_a_body_are_rejected(client):
    problem_in(await client.post("/v1/query?debug=true", json={}), 400, "MALFORMED_REQUEST", "debug")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
async def test_another_content_type_is_415(client, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    response = await client.post("/v1/query", content=b'{"query": "x"}', headers=headers)
    problem_in(response, 415, "UNSUPPORTED_CONTENT_TYPE", "Content-Type")


async def test_a_charset_beside_the_content_type_is_fine(client):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    response = await client.post("/v1/query", content=b'{"query": "x"}', headers=headers)
    assert response.status_code == 200


async def test_a_body_beyond_the_limit_is_413_however_it_is_sent(script):
    async def chunks():
        for _ in range(64):
            yield b"x" * 2**16

    headers = {"Content-Type": "application/json"}
    async with running(script, max_body_bytes=2**16) as client:
        declared = await client.post("/v1/query", content=b"x" * 2**22, headers=headers)
        chunked = await client.post("/v1/query", content=chunks(), headers=headers)
        large_enough = await client.post("/v1/query", json={"query": "x" * 2**15})
    problem_in(declared, 413, "MALFORMED_REQUEST")
    problem_in(chunked, 413, "MALFORMED_REQUEST")
    assert large_enough.status_code == 200


@pytest.mark.parametrize("path", ["/v2/query", "/v1/query/", "/v1/query:streaming", "/v1", "/console/"])
async def test_an_unknown_route_is_404(client, path):
    problem_in(await client.get(path), 404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/query", "POST"),
        ("PUT", "/v1/documents/cme/a.pdf", "DELETE, GET, HEAD"),
        ("DELETE", "/v1/documents", "GET, HEAD, POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_405_and_says_which_are_right(client, method, path, allowed):
    response = await client.request(method, path)
    problem_in(response, 405, "ROUTE_NOT_FOUND")
    assert response.headers["Allow"] == allowed


# Failures of services -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "status"), HTTP_STATUS.items())
async def test_every_code_of_a_service_has_its_http_status(client, script, code, status):
    script.failure = UpstreamError("why", code=code, reason="INDEX_BEHIND", field="document_ids[0]")
    problem = problem_in(await client.post("/v1/query", json={}), status, "INDEX_BEHIND", "documentIds[0]")
    assert problem["detail"] == "why"
    assert problem["errors"][0]["description"] == "why"


async def test_retry_info_becomes_retry_after_in_whole_seconds(client, script):
    script.failure = Exhausted("later", retry_after_seconds=1.2)
    response = await client.post("/v1/query", json={})
    assert problem_in(response, 429, "OVERLOADED")["retryAfterSeconds"] == 1.2
    assert response.headers["Retry-After"] == "2"


async def test_a_defect_of_a_service_says_nothing_foreign(client, script):
    script.failure = ZeroDivisionError("secret")
    response = await client.post("/v1/query", json={})
    problem_in(response, 500, "INTERNAL")
    assert "secret" not in response.text


async def test_a_service_without_the_method_is_501(client):
    problem_in(await client.get("/v1/index"), 501, "UNIMPLEMENTED")


async def test_a_service_that_is_down_is_503(script):
    async with running(script, answer_address="127.0.0.1:1") as client:
        response = await client.post("/v1/query", json={"query": "x"})
        stream = await client.post("/v1/query:stream", json={"query": "x"})
    problem_in(response, 503, "UPSTREAM_UNAVAILABLE")
    problem_in(stream, 503, "UPSTREAM_UNAVAILABLE")
    assert response.headers["Retry-After"] == "1"


# Deadlines, cancellation, bounds --------------------------------------------------------------------------


async def test_the_deadline_of_the_request_reaches_the_service(client, script):
    await client.post("/v1/query", json={}, headers={"X-Request-Timeout": "7.5"})
    assert 0 < script.seconds_left < 8  # the wire rounds a deadline up


async def test_a_long_deadline_is_capped(script):
    async with running(script, max_deadline_seconds=5) as client:
        await client.post("/v1/query", json={}, headers={"X-Request-Timeout": "1e9"})
    assert 0 < script.seconds_left < 6


async def test_a_deadline_that_passes_is_504(client, script):
    script.hang_after_events = 0
    response = await client.post("/v1/query", json={}, headers={"X-Request-Timeout": "4"})
    problem_in(response, 504, "DEADLINE_EXCEEDED")
    await seen(script.cancelled)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", ""])
async def test_a_timeout_that_is_no_positive_number_is_rejected(client, text):
    response = await client.post("/v1/query", json={}, headers={"X-Request-Timeout": text})
    problem_in(response, 400, "INVALID_FIELD", "X-Request-Timeout")


@pytest.mark.parametrize("path", ["/v1/query", "/v1/query:stream"])
async def test_a_client_that_hangs_up_cancels_the_call(client, script, path):
    script.hang_after_events = 0
    asking = asyncio.create_task(client.post(path, json={"query": "x"}))
    await seen(script.started)
    asking.cancel()
    await seen(script.cancelled)
    await asyncio.gather(asking, return_exceptions=True)


async def test_more_requests_than_allowed_are_429_and_probes_still_pass(script):
    script.hang_after_events = 0
    async with running(script, max_running_calls=1) as client:
        first = asyncio.create_task(client.post("/v1/query", json={}))
        await seen(script.started)
        problem_in(await client.get("/v1/documents"), 429, "OVERLOADED")
        assert (await client.get("/healthz")).status_code == 200
        first.cancel()
        await seen(script.cancelled)
        await asyncio.gather(first, return_exceptions=True)


async def test_credentials_are_passed_on(client, script):
    await client.post("/v1/query", json={}, headers={"Authorization": "Bearer abc"})
    assert script.metadata["authorization"] == "Bearer abc"


async def test_a_request_does_not_inherit_the_credential_of_the_one_before(script):
    body = b'{"query": "x"}'
    head = f"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += "Content-Type: application/json\r\n"
    first = f"{head}Authorization: Bearer abc\r\n\r\n".encode() + body
    second = f"{head}Connection: close\r\n\r\n".encode() + body
    async with services(script) as settings, serving(settings) as address:
        reader, writer = await asyncio.open_connection(*address.split(":"))
        writer.write(first + second)
        async with asyncio.timeout(PATIENCE_SECONDS):
            answers = await reader.read()
        writer.close()
    assert answers.count(b"HTTP/1.1 200") == 2
    assert "authorization" not in script.metadata


async def test_credentials_that_grpc_cannot_carry_are_rejected(client):
    headers = {"Authorization": "Bearer é".encode("latin-1")}
    problem_in(
        await client.post("/v1/query", json={}, headers=headers), 400, "INVALID_FIELD", "Authorization"
    )


# Events ---------------------------------------------------------------------------------------------------


async def test_a_stream_is_sent_as_events_named_after_their_field(client):
    events = await events_of(client, "/v1/query:stream", json={"query": "x"})
    assert [(name, number) for name, number, _ in events] == [
        ("retrieved", "1"),
        ("statement", "2"),
        ("completed", "3"),
    ]
    assert events[0][2]["candidates"] == 12
    assert events[1][2]["statement"]["text"] == "§ 1\n"
    assert events[2][2]["response"]["answer"] == "done"


async def test_a_stream_is_neither_cached_nor_buffered(client):
    response = await client.post("/v1/query:stream", json={"query": "x"})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"


async def test_a_failure_before_the_first_event_is_a_problem(client, script):
    script.failure = DocumentNotFound("no such source", field="sources[0]")
    response = await client.post("/v1/query:stream", json={"query": "x"})
    problem_in(response, 404, "DOCUMENT_NOT_FOUND", "sources[0]")


async def test_a_failure_after_the_first_event_is_an_error_event(client):
    events = await events_of(client, "/v1/query:stream", json={"query": "fail late"})
    name, number, problem = events[-1]
    assert (name, number) == ("error", "4")
    assert (problem["status"], problem["reason"]) == (404, "DOCUMENT_NOT_FOUND")
    assert problem["errors"][0]["field"] == "documentIds[0]"


async def test_events_come_before_the_stream_ends_and_heartbeats_between_them(script):
    script.hang_after_events = 1
    async with (
        running(script, heartbeat_seconds=0.01) as client,
        client.stream("POST", "/v1/query:stream", json={"query": "x"}) as response,
    ):
        lines = response.aiter_lines()
        assert [await anext(lines) for _ in range(2)] == ["event: retrieved", "id: 1"]
        assert [await anext(lines) for _ in range(4)][2:] == [": heartbeat", ""]


async def test_leaving_a_running_stream_cancels_the_call(client, script):
    script.hang_after_events = 1
    async with client.stream("POST", "/v1/query:stream", json={"query": "x"}) as response:
        await anext(response.aiter_lines())
        await seen(script.started)
    await seen(script.cancelled)


# Uploads --------------------------------------------------------------------------------------------------

CONTENT = bytes(range(256)) * 3000
FORM = {"source": "cme", "path": "rules/fees.txt"}


def file_part(content=CONTENT):
    return {"file": ("fees.txt", content)}


async def test_an_upload_answers_its_receipt(client, script):
    response = await client.post("/v1/documents", data=FORM, files=file_part())
    assert response.status_code == 200
    receipt = response.json()
    assert receipt["outcome"] == "INGEST_OUTCOME_CREATED"
    assert receipt["document"]["path"] == "rules/fees.txt"
    assert receipt["document"]["sizeBytes"] == str(len(CONTENT))
    assert script.requests[0].content_sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert script.received == CONTENT


async def test_a_file_that_is_known_is_not_sent(client, script):
    script.known_sha256 = hashlib.sha256(CONTENT).hexdigest()
    response = await client.post("/v1/documents", data=FORM, files=file_part())
    assert response.json()["outcome"] == "INGEST_OUTCOME_UNCHANGED"
    assert script.received == b""


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}])
async def test_the_receipt_is_answered_when_the_service_has_let_go_of_the_document(client, script, headers):
    async with client.stream(
        "POST", "/v1/documents", data=FORM, files=file_part(), headers=headers
    ) as response:
        lines = response.aiter_lines()
        while "INGEST_OUTCOME_CREATED" not in await anext(lines):
            pass
        assert script.ended


async def test_an_empty_file_is_passed_on(client, script):
    response = await client.post("/v1/documents", data=FORM, files=file_part(b""))
    assert response.status_code == 200
    assert script.requests[0].size_bytes == 0
    assert script.requests[0].content_sha256 == hashlib.sha256(b"").hexdigest()


async def test_an_upload_reports_progress_to_who_accepts_events(client):
    events = await events_of(client, "/v1/documents", data=FORM, files=file_part())
    assert [name for name, _, _ in events] == ["progress", "receipt"]
    assert events[1][2]["outcome"] == "INGEST_OUTCOME_CREATED"


async def test_an_original_is_read_again_with_the_time_of_an_upload(script):
    async with running(script, request_deadline_seconds=5, upload_deadline_seconds=50) as client:
        events = await events_of(client, "/v1/documents/cme/rules/fees%20a.txt:reindex", json={})
    assert [name for name, _, _ in events] == ["progress", "receipt"]
    assert events[1][2]["outcome"] == "INGEST_OUTCOME_UPDATED"
    assert events[1][2]["document"]["documentId"] == "cme/rules/fees a.txt"
    assert 5 < script.seconds_left < 51


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}])
async def test_a_rejected_upload_is_a_problem(client, script, headers):
    script.failure = DocumentNotFound("no", field="path")
    response = await client.post("/v1/documents", data=FORM, files=file_part(), headers=headers)
    problem_in(response, 404, "DOCUMENT_NOT_FOUND", "path")


@pytest.mark.parametrize(
    ("data", "files", "reason", "field"),
    [
        ({"path": "a.txt"}, file_part(), "INVALID_FIELD", "source"),
        ({"source": "cme"}, file_part(), "INVALID_FIELD", "path"),
        (FORM, {"other": ("a", b"")}, "MALFORMED_REQUEST", "other"),
        ({**FORM, "note": "x"}, file_part(), "MALFORMED_REQUEST", "note"),
        ({**FORM, "source": ["a", "b"]}, file_part(), "INVALID_FIELD", "source"),
        (FORM, [("file", ("a", b"1")), ("file", ("b", b"2"))], "INVALID_FIELD", "file"),
        ({**FORM, "path": "x" * 5000}, file_part(), "INVALID_FIELD", "path"),
        (FORM, {"file": ("a", b"1"), "path": ("b", b"\xff")}, "INVALID_FIELD", "path"),
    ],
)
async def test_a_bad_form_is_a_problem_that_names_the_field(client, script, data, files, reason, field):
    response = await client.post("/v1/documents", data=data, files=files)
    problem_in(response, 400, reason, field)
    assert script.requests == []


async def test_a_form_without_a_file_names_it(client):
    files = {name: (None, value) for name, value in FORM.items()}
    problem_in(await client.post("/v1/documents", files=files), 400, "INVALID_FIELD", "file")


@pytest.mark.parametrize("content", [b"", b"--b\r\n", b"no boundary at all", b"--b\r\nbroken\r\n\r\n"])
async def test_a_broken_form_is_malformed(client, content):
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = await client.post("/v1/documents", content=content, headers=headers)
    assert problem_in(response, 400, "MALFORMED_REQUEST")


async def test_an_upload_of_another_content_type_is_415(client):
    response = await client.post("/v1/documents", json=FORM)
    problem_in(response, 415, "UNSUPPORTED_CONTENT_TYPE", "Content-Type")


async def test_a_file_beyond_the_limit_is_413(script):
    async with running(script, max_upload_bytes=10_000) as client:
        just_beyond = await client.post("/v1/documents", data=FORM, files=file_part(b"x" * 10_001))
        far_beyond = await client.post("/v1/documents", data=FORM, files=file_part(CONTENT))
        at_limit = await client.post("/v1/documents", data=FORM, files=file_part(b"x" * 10_000))
    problem_in(just_beyond, 413, "DOCUMENT_TOO_LARGE", "file")
    problem_in(far_beyond, 413, "DOCUMENT_TOO_LARGE", "file")
    assert at_limit.status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}])
async def test_leaving_an_upload_cancels_its_call(client, script, headers):
    script.hang_after_events = 0
    uploading = asyncio.create_task(
        client.post("/v1/documents", data=FORM, files=file_part(), headers=headers)
    )
    await seen(script.started)
    uploading.cancel()
    await seen(script.cancelled)
    await asyncio.gather(uploading, return_exceptions=True)


def spools() -> int:
    """Temporary files that this process holds open, those of the gateway among them."""
    return sum(target(entry.path).endswith("(deleted)") for entry in os.scandir("/proc/self/fd"))


def target(path: str) -> str:
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


async def test_no_upload_leaves_a_temporary_file_behind(client, script):
    before = spools()
    await client.post("/v1/documents", data=FORM, files=file_part())
    await events_of(client, "/v1/documents", data=FORM, files=file_part())
    await client.post("/v1/documents", data={**FORM, "note": "x"}, files=file_part())
    script.failure = DocumentNotFound("no")
    await client.post("/v1/documents", data=FORM, files=file_part())
    script.failure, script.hang_after_events = None, 0
    leaving = asyncio.create_task(client.post("/v1/documents", data=FORM, files=file_part()))
    await seen(script.started)
    assert spools() == before + 1
    leaving.cancel()
    await seen(script.cancelled)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while spools() > before:  # noqa: ASYNC110 - nobody reports that a file was closed
            await asyncio.sleep(0)


# Health and shutdown --------------------------------------------------------------------------------------


async def test_the_process_is_alive_whatever_its_services_do(script):
    async with running(script, answer_address="127.0.0.1:1") as client:
        assert (await client.get("/healthz")).json() == {"status": "SERVING"}


async def test_the_gateway_is_ready_when_every_service_serves(client):
    response = await client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "SERVING"
    assert set(response.json()["services"].values()) == {"SERVING"}
    assert set(response.json()["services"]) == {name for _, name in load_contracts().services}


async def test_the_gateway_is_not_ready_while_a_service_is_down(script):
    async with running(script, answer_address="127.0.0.1:1") as client:
        response = await client.get("/readyz")
    assert response.status_code == 503
    services = response.json()["services"]
    assert services["clausegate.answer.v1.QueryService"] == "UNREACHABLE"
    assert services["clausegate.retrieval.v1.RetrievalService"] == "SERVING"


async def test_a_running_request_is_finished_during_the_drain(script):
    script.hang_after_events = 1
    async with services(script, drain_seconds=PATIENCE_SECONDS) as settings, AsyncExitStack() as gateway:
        address = await gateway.enter_async_context(serving(settings))
        async with client_of(address) as client:
            asking = asyncio.create_task(events_of(client, "/v1/query:stream", json={"query": "x"}))
            await seen(script.started)
            closing = asyncio.create_task(gateway.aclose())
            await refused(address)
            script.go_on.set()
            events = await asking
            await closing
    assert events[-1][0] == "completed"


@pytest.mark.parametrize(("path", "events"), [("/v1/query", 0), ("/v1/query:stream", 1)])
async def test_a_request_that_outlasts_the_drain_is_told_and_its_call_cancelled(script, path, events):
    script.hang_after_events = events
    async with services(script, drain_seconds=0) as settings, AsyncExitStack() as gateway:
        address = await gateway.enter_async_context(serving(settings))
        async with client_of(address) as client:
            asking = asyncio.create_task(client.post(path, json={"query": "x"}))
            await seen(script.started)
            await gateway.aclose()
            response = await asking
    assert "UPSTREAM_UNAVAILABLE" in response.text
    assert "The gateway is shutting down." in response.text
    await seen(script.cancelled)


async def test_an_upload_that_is_still_arriving_at_the_end_of_the_drain_is_told(script):
    head = b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
    head += b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
    async with services(script, drain_seconds=0) as settings, AsyncExitStack() as gateway:
        address = await gateway.enter_async_context(serving(settings))
        reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
        writer.write(head)
        await writer.drain()
        # Answered requests on further connections mean that the first has been taken up.
        async with client_of(address) as client:
            assert (await client.get("/healthz")).is_success
        await gateway.aclose()
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"The gateway is shutting down." in answer


async def test_accepted_connections_are_not_delayed_by_nagle():
    # asyncio does it by itself, but only for sockets whose protocol is named.
    with bound_socket("127.0.0.1:0") as listener:
        assert listener.proto == socket.IPPROTO_TCP


async def test_the_process_answers_and_ends_when_asked_to(script):
    async with services(script, gateway_address="127.0.0.1:0") as settings:
        environment = {
            f"CLAUSEGATE_{name.upper()}": str(value) for name, value in settings if value is not None
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gateway", env=environment, cwd=ROOT, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            serving_line = json.loads(await process.stderr.readline())
            async with client_of(serving_line["address"]) as client:
                response = await client.post("/v1/query", json={"query": "x"})
            process.send_signal(signal.SIGTERM)
            log = (await process.stderr.read()).decode().splitlines()
            assert await process.wait() == 0
    assert response.status_code == 200
    [access] = [json.loads(line) for line in log]
    assert (access["http_route"], access["http_status"]) == ("/v1/query", 200)
    assert access["trace_id"] == response.headers["X-Trace-Id"]


async def test_only_local_addresses_are_bound(script):
    with pytest.raises(AddressRefused):
        async with running(script, gateway_address="0.0.0.0:0"):
            pass


async def test_a_unix_socket_serves_its_owner_only_and_replaces_a_stale_one(script, tmp_path):
    path = tmp_path / "gateway.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with (
        services(script, gateway_address=f"unix:{path}") as settings,
        serving(settings) as address,
        httpx.AsyncClient(transport=transport) as client,
    ):
        assert address == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        assert (await client.get("http://gateway/healthz")).status_code == 200
    assert not path.exists()


# Traces and logs ------------------------------------------------------------------------------------------

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACE_HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


async def test_the_trace_of_the_caller_goes_through_to_the_service_and_back(client, script):
    response = await client.post("/v1/query", json={}, headers=TRACE_HEADERS)
    assert response.headers["X-Trace-Id"] == TRACE
    assert TRACE in script.metadata["traceparent"]


async def test_a_trace_does_not_leak_into_the_next_request_of_the_connection(client):
    # A large body pauses reading; asyncio resumes it, and all that follows, in the context of that request.
    await client.post("/v1/query", json={"query": "x" * 2**20}, headers=TRACE_HEADERS)
    other = "1" * 32
    headers = {"traceparent": f"00-{other}-b7ad6b7169203331-01"}
    response = await client.post("/v1/query", json={}, headers=headers)
    assert response.headers["X-Trace-Id"] == other


async def test_a_problem_carries_the_trace_id(client):
    response = await client.post("/v1/query", content=b"x", headers=TRACE_HEADERS)
    assert response.json()["traceId"] == TRACE
    assert response.headers["X-Trace-Id"] == TRACE


async def test_the_access_log_names_the_route_and_never_the_body(client, caplog):
    caplog.set_level("INFO", logger="gateway.observation")
    await client.get("/v1/documents/cme/secret.pdf")
    await client.post("/v1/query", json={"query": "secret", "oops": 1})
    await client.get("/secret")
    lines = [(r.http_method, r.http_route, r.http_status) for r in caplog.records]
    assert lines == [
        ("GET", "/v1/documents/{document_id}", 200),
        ("POST", "/v1/query", 400),
        ("GET", "(none)", 404),
    ]
    assert all(record.duration_ms >= 0 for record in caplog.records)
    assert "secret" not in json.dumps([vars(record) for record in caplog.records], default=str)


# Documentation --------------------------------------------------------------------------------------------


async def test_the_contract_is_served_as_openapi(client):
    document = (await client.get("/openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    assert "/v1/documents/{documentId}" in document["paths"]


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_the_pages_need_nothing_from_elsewhere(client, path):
    page = await client.get(path)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    linked = re.findall(r'(?:src|href)="(/[^"]*)"', page.text)
    assert linked
    assert [(await client.get(path)).status_code for path in linked] == [200] * len(linked)
    assert "//" not in re.sub(r"[^\"]*data:,", "", page.text)


@pytest.mark.parametrize(
    "said",
    [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example:80"),
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
    ],
    ids=["a name that points here", "one that looks local", "a form elsewhere", "a page without origin"],
)
async def test_without_credentials_pages_of_other_machines_are_refused(client, said):
    ask = partial(client.post, "/v1/query", json={"query": "x"})
    assert (await ask(headers=[said])).status_code == 403
    assert (await ask(headers=[("Origin", str(client.base_url))])).status_code == 200
