"""Every call of every service, and every route, is asked with credentials of all kinds.

Calls and routes are read from the contracts, so that a new one cannot be forgotten.
"""

import asyncio
import re
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import clausegate
from chassis.access import declared_access
from chassis.api_keys import new_key, to_json
from chassis.auth import Caller
from chassis.status import error_of
from clausegate.rpc.v1 import access_pb2
from gateway.contracts import CONTRACTS, VARIABLE, load_contracts
from tests.contract.keyed_stack import (
    ANNA,
    KEYS,
    NOW,
    OF_GLOBEX,
    REFUSED,
    SCOPED,
    TOKENS,
    keyed_stack,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ARITY = ("unary", "stream")
FILES = descriptor_pb2.FileDescriptorSet.FromString(CONTRACTS.read_bytes()).file
CALLS = {
    f"/{file.package}.{service.name}/{method.name}": method
    for file in FILES
    if file.package.startswith("clausegate.")
    for service in file.service
    for method in service.method
}
ROUTES = {
    f"{binding.verb} {VARIABLE.sub('x', binding.template)}": method.access
    for method in load_contracts().methods
    for binding in method.bindings
}
DOORS = ("UNAUTHENTICATED", "PERMISSION_DENIED", "INGEST_ONLY")
OPEN = [
    *("/healthz", "/readyz", "/openapi.json", "/docs", "/docs/docs.css", "/docs/docs.js"),
    *("/", "/ask", "/console/console.css", "/console/main.js"),
]

each_call = pytest.mark.parametrize("call", CALLS)
each_route = pytest.mark.parametrize("route", ROUTES)
each_refused = pytest.mark.parametrize("authorization", REFUSED.values(), ids=list(REFUSED))

SECRET = "kumquats"
DOCUMENT = "cme/licence.txt"
FIELDS = {
    "document_id": DOCUMENT,
    "document_ids": [DOCUMENT],
    "sources": ["cme"],
    "source_ids": ["cme"],
    "query": "What is the monthly display fee?",
    "text": "The monthly display fee is payable in advance.",
    "terms": ["Display Fee", "display fee"],
    "project": "review",
    "project_id": "review",
    "display_name": "Review",
    "article_id": "terms",
    "topic": "fees",
    "instruction": "Shorten it.",
}
"""What a request names, by the name of its field."""
LICENCE = f"""LICENCE

Section 1. Definitions

"Display Fee" means what the Licensee pays in {SECRET}.

Section 2. Fees

The Licensee shall pay a monthly display fee of ten {SECRET} for each Device, in advance.
""".encode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("keys")) as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def channels(stack):
    """By the area of the contracts."""
    areas = {area: getattr(stack.addresses, area) for area in ("ingest", "retrieval", "answer")}
    opened = {area: grpc.aio.insecure_channel(address) for area, address in areas.items()}
    yield opened
    for channel in opened.values():
        await channel.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(stack):
    async with stack.http(None) as http:
        yield http


async def answers(channels, call, authorization, request=b""):
    """All that a call answers to one request."""
    method, channel = CALLS[call], channels[call.split(".")[1]]
    make = getattr(channel, f"{ARITY[method.client_streaming]}_{ARITY[method.server_streaming]}")
    metadata = [] if authorization is None else [("authorization", authorization)]
    running = make(call)(
        iter([request]) if method.client_streaming else request, metadata=metadata, timeout=20
    )
    try:
        return [each async for each in running] if method.server_streaming else [await running]
    finally:
        running.cancel()


async def reason_of(channels, call, authorization):
    """Why a call with an empty request failed, or that it did not."""
    try:
        await answers(channels, call, authorization)
    except grpc.aio.AioRpcError as failure:
        error = error_of(failure)
        assert error.code not in DOORS or error.reason in (error.code, "INGEST_ONLY")
        return error.reason
    return "SERVED"


async def door_of(channels, call, authorization):
    """The same, where all that is behind the door is one."""
    reason = await reason_of(channels, call, authorization)
    assert reason not in ("INTERNAL", "UNIMPLEMENTED")
    return reason if reason in DOORS else "OPEN"


def door_for(access, scopes):
    return "OPEN" if access.allows(scopes) else "PERMISSION_DENIED"


def door_of_service(access, scopes):
    """What no credential of a caller opens stays closed to those, too, who may ask ingest for it."""
    door = door_for(access, scopes)
    return "INGEST_ONLY" if access.ingest_only and door == "OPEN" else door


async def asked(http, route, authorization):
    verb, path = route.split(" ")
    headers = {} if authorization is None else {"Authorization": authorization}
    return await http.request(verb, path, headers=headers)


async def test_the_contracts_have_calls_and_routes():
    assert len(CALLS) > 30
    assert len(ROUTES) > 25


@each_call
async def test_a_call_declares_which_scopes_open_it_and_what_it_weighs(call):
    options = CALLS[call].options

    assert options.HasExtension(access_pb2.access)
    assert options.Extensions[access_pb2.access].scopes
    assert options.Extensions[access_pb2.access].load


@each_call
async def test_a_call_without_a_valid_credential_is_refused(channels, call):
    doors = {name: await reason_of(channels, call, presented) for name, presented in REFUSED.items()}

    assert doors == dict.fromkeys(REFUSED, "UNAUTHENTICATED")


@each_call
async def test_a_call_needs_a_scope_that_opens_it(channels, call):
    doors = {name: await door_of(channels, call, presented) for name, (_, presented) in SCOPED.items()}

    access = declared_access(CALLS[call].options)
    assert doors == {name: door_of_service(access, scopes) for name, (scopes, _) in SCOPED.items()}


@each_route
async def test_a_route_without_a_valid_credential_is_401(http, route):
    responses = {name: await asked(http, route, presented) for name, presented in REFUSED.items()}

    told = {
        name: (response.status_code, response.json()["reason"], response.headers["WWW-Authenticate"])
        for name, response in responses.items()
    }
    assert told == dict.fromkeys(REFUSED, (401, "UNAUTHENTICATED", "Bearer"))
    assert {response.headers["Content-Type"] for response in responses.values()} == {
        "application/problem+json"
    }


@each_route
async def test_a_route_needs_a_scope_that_opens_it(http, route):
    responses = {name: await asked(http, route, presented) for name, (_, presented) in SCOPED.items()}

    doors = {
        name: response.json()["reason"] if response.status_code in (401, 403, 500) else "OPEN"
        for name, response in responses.items()
    }
    assert doors == {name: door_for(ROUTES[route], scopes) for name, (scopes, _) in SCOPED.items()}


async def test_who_lacks_a_scope_is_told_which(http, channels):
    response = await asked(http, "DELETE /v1/documents/x", SCOPED["key: query"][1])
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await answers(
            channels, "/clausegate.ingest.v1.IngestService/RemoveDocument", SCOPED["token: query"][1]
        )

    said = "This call needs a credential of scope ingest."
    assert (response.status_code, response.json()["detail"], failed.value.details()) == (403, said, said)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chunk_ids(stack):
    """Of a document that acme has."""
    async with stack.client(ANNA) as client:
        await client.ingest(LICENCE, source="cme", path="licence.txt")
        await client.create_project("review", ["cme"])
        yield [chunk.chunk_id async for chunk in client.chunks(DOCUMENT)]
        await client.delete_project("review")
        await client.remove_document(DOCUMENT)


POOL = descriptor_pool.DescriptorPool()
for file in FILES:
    POOL.Add(file)


def request_of(call, chunk_ids):
    """A request that names what acme has, wherever its fields can."""
    kind = message_factory.GetMessageClass(POOL.FindMessageTypeByName(CALLS[call].input_type.lstrip(".")))
    named = {**FIELDS, "chunk_ids": chunk_ids}
    names = named.keys() & kind.DESCRIPTOR.fields_by_name.keys()
    return kind(**{name: named[name] for name in names}).SerializeToString()


async def told(channels, call, authorization, request):
    """All the bytes that a caller sees."""
    try:
        return b"".join(await answers(channels, call, authorization, request))
    except grpc.aio.AioRpcError as failure:
        return f"{failure.details()} {failure.trailing_metadata()}".encode()


@each_call
@pytest.mark.parametrize("authorization", OF_GLOBEX.values(), ids=list(OF_GLOBEX))
async def test_a_call_for_another_tenant_tells_and_changes_nothing(channels, chunk_ids, call, authorization):
    seen = await told(channels, call, authorization, request_of(call, chunk_ids))
    listing = "/clausegate.retrieval.v1.RetrievalService/ListChunks"
    left = await told(channels, listing, f"Bearer {ANNA}", request_of(listing, chunk_ids))

    assert SECRET.encode() not in seen
    assert SECRET.encode() in left


async def test_the_same_calls_tell_the_tenant_its_own(channels, chunk_ids):
    reading = [
        call for call in CALLS if not re.search("/(Delete|Remove|Create|Update|Put|Replace|Ingest|Re)", call)
    ]
    answered = {
        call.rpartition("/")[2]
        for call in reading
        if SECRET.encode() in await told(channels, call, f"Bearer {ANNA}", request_of(call, chunk_ids))
    }

    assert answered >= {
        "AssembleContext",
        "ExtractSnippets",
        "FindDefinitions",
        "GetChunks",
        "GetOriginal",
        "ListChunks",
        "Query",
        "Search",
        "StreamQuery",
    }


@pytest.mark.parametrize(
    "path", ["/console/", "/v1/nothing", "/healthz/", "//healthz", "/docs/../v1/documents", "/v1/docs"]
)
async def test_what_is_no_route_is_401_as_well(stack, path):
    async with stack.http(None) as http:
        address = str(http.base_url).rstrip("/") + path
        assert (await http.get(address)).status_code == 401


@pytest.mark.parametrize("path", OPEN)
async def test_health_and_the_pages_need_no_credential(http, path):
    statuses = {(await asked(http, f"GET {path}", presented)).status_code for presented in REFUSED.values()}

    assert statuses == {200}


async def test_the_openapi_document_says_which_scopes_open_what(http):
    document = (await http.get("/openapi.json")).json()
    operations = [operation for item in document["paths"].values() for operation in item.values()]

    assert document["components"]["securitySchemes"]["credential"]["scheme"] == "bearer"
    free = [path for path, item in document["paths"].items() if item.get("get", {}).get("security") == []]
    assert free == ["/healthz", "/readyz"]
    asking = document["paths"]["/v1/query"]["post"]
    assert asking["security"] == [{"credential": ["query"]}, {"credential": ["admin"]}]
    assert all({"401", "403"} <= each["responses"].keys() for each in operations if each["security"])


@pytest.mark.parametrize(
    ("presented", "code"), [("x", b"401"), (SCOPED["key: query"][1], b"403")], ids=["nobody", "reader"]
)
async def test_an_upload_is_refused_before_its_file_comes(stack, presented, code):
    place = urlsplit(stack.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(
        b"POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        b"Expect: 100-continue\r\nContent-Length: 50000000\r\n"
        b"Authorization: " + presented.encode() + b"\r\n\r\n"
    )
    async with asyncio.timeout(20):
        status = await reader.readline()
    writer.close()

    assert status.split()[1] == code


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
        assert (await client.describe_index()).store == "embedded"
    async with stack.client("") as client:
        with pytest.raises(clausegate.ClausegateError, match="UNAUTHENTICATED: A valid credential is needed"):
            await client.describe_index()


async def test_the_client_presents_a_token(stack):
    async with stack.client(TOKENS.token(tenant="empty")) as client:
        assert (await client.describe_index()).document_count == 0


async def test_a_function_is_asked_for_the_token_of_each_call(stack):
    tokens = iter([TOKENS.token(), TOKENS.token(exp=1_000_000_000)])
    async with stack.client(lambda: next(tokens)) as client:
        assert (await client.describe_index()).store == "embedded"
        with pytest.raises(clausegate.ClausegateError, match="UNAUTHENTICATED"):
            await client.describe_index()


async def test_a_token_of_the_longest_kind_reaches_every_service(stack):
    room = 8192 - len(TOKENS.token(tenant="empty", note=""))
    token = TOKENS.token(tenant="empty", note="x" * (room * 3 // 4 - 2))
    async with stack.client(token) as client, stack.http(f"Bearer {token}") as http:
        assert not [document async for document in client.documents()]
        assert (await http.post("/v1/query", json={"query": "What is the fee?"})).status_code == 200


@pytest.mark.parametrize("key", ["two words", "line\n", "schlüssel"])
async def test_a_client_takes_no_credential_that_cannot_be_sent(stack, key):
    with pytest.raises(ValueError, match="printable ASCII") as refused:
        stack.client(key)

    assert key not in str(refused.value)


async def test_keys_are_taken_and_refused_while_everything_runs(stack, channels):
    late, presented = new_key(Caller("acme", "dora"), NOW)

    async def statuses():
        async with stack.http(f"Bearer {presented}") as http:
            route = (await http.get("/v1/documents")).status_code
        call = "/clausegate.ingest.v1.IngestService/RemoveDocument"
        return route, await door_of(channels, call, f"Bearer {presented}")

    before = await statuses()
    replaced(stack.keys_file, [*KEYS, late])
    during = await statuses()
    replaced(stack.keys_file, KEYS)

    assert (before, during, await statuses()) == (
        (401, "UNAUTHENTICATED"),
        (200, "OPEN"),
        (401, "UNAUTHENTICATED"),
    )


def replaced(file, keys):
    staged = file.with_suffix(".new")
    staged.write_text(to_json(keys))
    staged.replace(file)


async def test_problems_never_show_what_was_presented(stack):
    for presented in ("revoked key", "expired token"):
        async with stack.http(REFUSED[presented]) as http:
            assert not re.search("cg_|eyJ|[0-9a-f]{64}", (await http.get("/v1/documents")).text)
