"""Every call of every service, and every route, asks for a key: both are read from the contracts."""

import asyncio
import re
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pb2

import clausegate
from chassis.api_keys import new_key, to_json
from chassis.auth import Caller
from chassis.status import error_of
from gateway.contracts import CONTRACTS, VARIABLE, load_contracts
from tests.contract.keyed_stack import ANNA, KEYS, NOW, WITHOUT_A_VALID_KEY, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

ARITY = ("unary", "stream")
CALLS = [
    (f"/{file.package}.{service.name}/{method.name}", method.client_streaming, method.server_streaming)
    for file in descriptor_pb2.FileDescriptorSet.FromString(CONTRACTS.read_bytes()).file
    if file.package.startswith("clausegate.")
    for service in file.service
    for method in service.method
]
ROUTES = [
    (binding.verb, VARIABLE.sub("x", binding.template))
    for method in load_contracts().methods
    for binding in method.bindings
]
OPEN = ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/docs.css", "/docs/docs.js"]

each_call = pytest.mark.parametrize("call", CALLS, ids=[path for path, *_ in CALLS])
each_route = pytest.mark.parametrize("route", ROUTES, ids=[" ".join(route) for route in ROUTES])
each_refused = pytest.mark.parametrize(
    "authorization", WITHOUT_A_VALID_KEY.values(), ids=list(WITHOUT_A_VALID_KEY)
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("keys")) as stack:
        yield stack


async def failure_of(stack, call, authorization):
    """How a call with an empty request ends: its error, or None."""
    path, streams_requests, streams_responses = call
    address = getattr(stack.addresses, path.split(".")[1])
    metadata = [] if authorization is None else [("authorization", authorization)]
    async with grpc.aio.insecure_channel(address) as channel:
        make = getattr(channel, f"{ARITY[streams_requests]}_{ARITY[streams_responses]}")
        running = make(path)(iter([b""]) if streams_requests else b"", metadata=metadata, timeout=20)
        try:
            await (running.read() if streams_responses else running)
        except grpc.aio.AioRpcError as error:
            return error_of(error)
        finally:
            running.cancel()


async def test_the_contracts_have_calls_and_routes():
    assert len(CALLS) > 30
    assert len(ROUTES) > 25


@each_call
@each_refused
async def test_a_call_without_a_valid_key_is_refused(stack, call, authorization):
    error = await failure_of(stack, call, authorization)

    assert (error.code, error.reason) == ("UNAUTHENTICATED", "UNAUTHENTICATED")


@each_call
async def test_a_call_with_a_key_is_served(stack, call):
    error = await failure_of(stack, call, f"Bearer {ANNA}")

    assert error is None or error.code not in ("UNAUTHENTICATED", "INTERNAL", "UNIMPLEMENTED")


@each_route
@each_refused
async def test_a_route_without_a_valid_key_is_401(stack, route, authorization):
    verb, path = route
    async with stack.http(authorization) as http:
        response = await http.request(verb, path)

    assert (response.status_code, response.json()["reason"]) == (401, "UNAUTHENTICATED")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.headers["Content-Type"] == "application/problem+json"


@each_route
async def test_a_route_with_a_key_is_served(stack, route):
    verb, path = route
    async with stack.http(f"Bearer {ANNA}") as http:
        response = await http.request(verb, path)

    assert response.status_code not in (401, 500)


@pytest.mark.parametrize(
    "path", ["/", "/v1/nothing", "/healthz/", "//healthz", "/docs/../v1/documents", "/v1/docs"]
)
async def test_what_is_no_route_is_401_as_well(stack, path):
    async with stack.http(None) as http:
        assert (await http.get(path)).status_code == 401


@pytest.mark.parametrize("path", OPEN)
@each_refused
async def test_health_and_the_documentation_need_no_key(stack, path, authorization):
    async with stack.http(authorization) as http:
        assert (await http.get(path)).status_code == 200


async def test_the_openapi_document_says_where_a_key_is_needed(stack):
    async with stack.http(None) as http:
        document = (await http.get("/openapi.json")).json()

    [(name, scheme)] = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["security"] == [{name: []}]
    free = [path for path, item in document["paths"].items() if item.get("get", {}).get("security") == []]
    assert free == ["/healthz", "/readyz"]


async def test_an_upload_is_refused_before_its_file_comes(stack):
    place = urlsplit(stack.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(
        b"POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        b"Expect: 100-continue\r\nContent-Length: 50000000\r\n\r\n"
    )
    async with asyncio.timeout(20):
        status = await reader.readline()
    writer.close()

    assert b" 401 " in status


async def test_a_body_that_came_unasked_does_not_cost_the_answer(stack):
    async with stack.http(None) as http:
        response = await http.post("/v1/documents", files={"file": bytes(8 * 2**20)})

    assert response.status_code == 401


async def test_two_credentials_are_none(stack):
    async with httpx.AsyncClient(base_url=stack.url, trust_env=False) as http:
        headers = [("Authorization", f"Bearer {ANNA}")] * 2
        assert (await http.get("/v1/documents", headers=headers)).status_code == 401


async def test_the_client_presents_its_key(stack):
    async with stack.client(ANNA) as client:
        assert (await client.describe_index()).document_count == 0
    async with stack.client("") as client:
        with pytest.raises(clausegate.ClausegateError, match="UNAUTHENTICATED: A valid credential is needed"):
            await client.describe_index()


@pytest.mark.parametrize("key", ["two words", "line\n", "schlüssel"])
async def test_a_client_takes_no_key_that_cannot_be_sent(stack, key):
    with pytest.raises(ValueError, match="printable ASCII") as refused:
        stack.client(key)

    assert key not in str(refused.value)


async def test_keys_are_taken_and_refused_while_everything_runs(stack):
    late, presented = new_key(Caller("acme", "dora"), NOW)

    async def statuses():
        async with stack.http(f"Bearer {presented}") as http:
            route = (await http.get("/v1/documents")).status_code
        call = await failure_of(
            stack, ("/clausegate.ingest.v1.IngestService/RemoveDocument", False, False), f"Bearer {presented}"
        )
        return route, call.code

    before = await statuses()
    replaced(stack.keys_file, [*KEYS, late])
    during = await statuses()
    replaced(stack.keys_file, KEYS)

    assert (before, during, await statuses()) == (
        (401, "UNAUTHENTICATED"),
        (200, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
    )


def replaced(file, keys):
    staged = file.with_suffix(".new")
    staged.write_text(to_json(keys))
    staged.replace(file)


async def test_problems_never_show_what_was_presented(stack):
    async with stack.http(WITHOUT_A_VALID_KEY["revoked"]) as http:
        assert not re.search("cg_|[0-9a-f]{64}", (await http.get("/v1/documents")).text)
