"""Who calls, from one service to the next, tried over real sockets with small services of ours."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chassis.access import Scope
from chassis.api_keys import ApiKey, ApiKeys, new_key, to_json
from chassis.auth import Caller, current_caller
from chassis.channel import open_channel
from chassis.credentials import Credentials, configured_credentials
from chassis.errors import ServiceError, Unavailable
from chassis.policy import ServerPolicy
from chassis.server import Services, serving
from chassis.settings import ProcessSettings
from chassis.status import error_of, upstream_errors
from tests.fakes.token_issuer import AUDIENCE, ISSUER, Issuer, KeyServer, answer_of

NAME = "clausegate.test.Echo"
KINDS = pytest.mark.parametrize("kind", ["unary_unary", "unary_stream", "stream_unary", "stream_stream"])
NOW = datetime(2026, 11, 21, tzinfo=UTC)
ANNAS, ANNA = new_key(Caller("acme", "anna"), NOW)
BERTS, BERT = new_key(Caller("globex", "bert"), NOW)
_, UNKNOWN = new_key(Caller("acme", "anna"), NOW)


class Echo:
    """Says who calls, or who calls the service behind it by a call of the kind named in the request."""

    def __init__(self, behind: grpc.aio.Channel | None = None) -> None:
        self._behind = behind
        self.begun = 0
        self.carried: list[str] = []
        self.failures = 0

    def register(self, server: grpc.aio.Server) -> None:
        handlers = {
            "unary_unary": grpc.unary_unary_rpc_method_handler(self._unary),
            "unary_stream": grpc.unary_stream_rpc_method_handler(self._stream),
            "stream_unary": grpc.stream_unary_rpc_method_handler(self._last),
            "stream_stream": grpc.stream_stream_rpc_method_handler(self._each),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))

    async def _unary(self, request: bytes, context) -> bytes:
        self.begun += 1
        self.carried += [value for key, value in context.invocation_metadata() if key == "authorization"]
        if self.failures:
            self.failures -= 1
            raise Unavailable("not yet")
        if self._behind is not None and request:
            with upstream_errors():
                return await asked(self._behind, request.decode())
        await asyncio.sleep(0)
        caller = current_caller()
        return f"{caller.tenant}/{caller.subject}".encode()

    async def _stream(self, request: bytes, context):
        yield await self._unary(request, context)

    async def _last(self, requests, context) -> bytes:
        return [await self._unary(request, context) async for request in requests][-1]

    async def _each(self, requests, context):
        async for request in requests:
            yield await self._unary(request, context)


async def asked(channel: grpc.aio.Channel, kind: str, key: str | None = None, request: bytes = b"") -> bytes:
    """What the service answers to one call of a kind, made with a key or without one."""
    metadata = [] if key is None else [("authorization", f"Bearer {key}")]
    sent = request if kind.startswith("unary") else sending(request)
    call = getattr(channel, kind)(f"/{NAME}/{kind}")(sent, metadata=metadata, timeout=10)
    if kind.endswith("unary"):
        return await call
    return [answer async for answer in call][-1]


async def sending(*requests: bytes):
    for request in requests:
        yield request


async def refusal_of(channel: grpc.aio.Channel, kind: str, key: str | None) -> ServiceError:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await asked(channel, kind, key)
    return error_of(failed.value)


def keys_in(folder, *keys: ApiKey) -> Credentials:
    (folder / "keys.json").write_text(to_json(keys))
    return Credentials(ApiKeys(folder / "keys.json"))


@asynccontextmanager
async def running(echo: Echo, keys: Credentials | None, **channel):
    services = Services((NAME,), echo.register)
    async with (
        serving("127.0.0.1:0", [services], ServerPolicy(keys, drain_seconds=1)) as address,
        open_channel(address, **channel) as opened,
    ):
        yield opened


@asynccontextmanager
async def two_services(keys: Credentials, behind: Echo, front_keys: Credentials | None, **channel):
    """A channel to a service that asks the one behind it."""
    async with running(behind, keys, **channel) as inner, running(Echo(inner), front_keys) as outer:
        yield outer


@KINDS
async def test_a_key_says_who_calls(tmp_path, kind):
    async with running(Echo(), keys_in(tmp_path, ANNAS, BERTS)) as channel:
        assert [await asked(channel, kind, key) for key in (ANNA, BERT)] == [b"acme/anna", b"globex/bert"]


@KINDS
@pytest.mark.parametrize(
    "key", [None, "", "x", UNKNOWN, f"{ANNA[:-1]}x"], ids=["none", "empty", "short", "unknown", "malformed"]
)
async def test_a_call_without_a_valid_key_is_refused_before_anything_of_it_is_read(tmp_path, kind, key):
    echo = Echo()
    async with running(echo, keys_in(tmp_path, ANNAS)) as channel:
        error = await refusal_of(channel, kind, key)

    assert (error.code, error.reason) == ("UNAUTHENTICATED", "UNAUTHENTICATED")
    assert error.message == "A valid credential is needed: `authorization: Bearer <API key or token>`."
    assert echo.begun == 0


@pytest.mark.parametrize("kind", ["stream_unary", "stream_stream"])
async def test_a_sender_that_waits_to_go_on_is_told(tmp_path, kind):
    # As uploads do: grpc.aio loses the status of a call that ends while it is written to.
    async def header_alone():
        yield b"header"
        await asyncio.Event().wait()

    async with running(Echo(), keys_in(tmp_path, ANNAS)) as channel:
        call = getattr(channel, kind)(f"/{NAME}/{kind}")(header_alone(), timeout=10)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await (call if kind.endswith("unary") else call.read())

    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_call_that_does_not_exist_is_refused_like_any_other(tmp_path):
    async with running(Echo(), keys_in(tmp_path, ANNAS)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary(f"/{NAME}/TellFortunes")(b"")

    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_two_keys_at_once_are_refused(tmp_path):
    async with running(Echo(), keys_in(tmp_path, ANNAS, BERTS)) as channel:
        both = [("authorization", f"Bearer {key}") for key in (ANNA, BERT)]
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary(f"/{NAME}/unary_unary")(b"", metadata=both)

    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_health_needs_no_key(tmp_path):
    async with running(Echo(), keys_in(tmp_path)) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        checked = await stub.Check(health_pb2.HealthCheckRequest(service=NAME))
        watched = await stub.Watch(health_pb2.HealthCheckRequest()).read()

    assert checked.status == watched.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_needs_a_key(tmp_path):
    question = reflection_pb2.ServerReflectionRequest(list_services="")
    async with running(Echo(), keys_in(tmp_path, ANNAS)) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.ServerReflectionInfo(iter([question])).read()
        metadata = [("authorization", f"Bearer {ANNA}")]
        answer = await stub.ServerReflectionInfo(iter([question]), metadata=metadata).read()

    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert NAME in [service.name for service in answer.list_services_response.service]


@pytest.mark.parametrize("scope", Scope)
async def test_reflection_of_another_version_is_told_apart_from_what_scopes_close(tmp_path, scope):
    key, secret = new_key(Caller("acme", "anna", scopes=frozenset({scope})), NOW)
    async with running(Echo(), keys_in(tmp_path, key)) as channel:
        info = channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await info(iter([b""]), metadata=[("authorization", f"Bearer {secret}")]).read()

    assert failed.value.code() is grpc.StatusCode.UNIMPLEMENTED


@KINDS
async def test_without_keys_everybody_is_the_local_caller_whatever_is_presented(kind):
    async with running(Echo(), None) as channel:
        assert [await asked(channel, kind, key) for key in (None, ANNA)] == [b"default/anonymous"] * 2


async def test_with_keys_any_address_is_bound(tmp_path):
    async with serving("0.0.0.0:0", [], ServerPolicy(keys_in(tmp_path), drain_seconds=1)) as address:
        assert address.startswith("0.0.0.0:")


@KINDS
async def test_calls_made_for_a_caller_carry_its_credential(tmp_path, kind):
    keys = keys_in(tmp_path, ANNAS, BERTS)
    async with two_services(keys, Echo(), keys) as channel:
        for answering in ("unary_unary", "unary_stream", "stream_unary", "stream_stream"):
            answers = await asyncio.gather(
                *(asked(channel, answering, key, kind.encode()) for key in (ANNA, BERT) * 5)
            )
            assert answers == [b"acme/anna", b"globex/bert"] * 5


async def test_a_call_that_is_tried_again_carries_it_again(tmp_path):
    keys, behind = keys_in(tmp_path, ANNAS), Echo()
    behind.failures = 2
    async with two_services(keys, behind, keys, retried_services=[NAME]) as channel:
        assert await asked(channel, "unary_unary", ANNA, b"unary_unary") == b"acme/anna"

    assert behind.carried == [f"Bearer {ANNA}"] * 3


async def test_a_call_that_is_made_for_nobody_carries_none(tmp_path):
    keys, behind = keys_in(tmp_path, ANNAS), Echo()
    async with AsyncExitStack() as stack:
        inner = await stack.enter_async_context(running(behind, keys))
        outer = await stack.enter_async_context(running(Echo(inner), keys))
        assert await asked(outer, "unary_unary", ANNA, b"unary_unary") == b"acme/anna"
        error = await refusal_of(inner, "unary_unary", None)

    assert error.code == "UNAUTHENTICATED"


async def test_a_service_without_keys_does_not_pass_on_what_it_cannot_check(tmp_path):
    # Its own caller is the tenant `default`: what it keeps for that must not be filled on behalf of others.
    async with two_services(keys_in(tmp_path, ANNAS), Echo(), None) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await asked(channel, "unary_unary", ANNA, b"unary_unary")

    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_key_that_is_revoked_while_the_server_runs_is_refused_from_the_next_call(tmp_path):
    async with running(Echo(), keys_in(tmp_path, ANNAS)) as channel:
        assert await asked(channel, "unary_unary", ANNA) == b"acme/anna"
        staged = tmp_path / "staged"
        staged.write_text(to_json([replace(ANNAS, revoked=NOW), BERTS]))
        staged.replace(tmp_path / "keys.json")

        assert (await refusal_of(channel, "unary_unary", ANNA)).code == "UNAUTHENTICATED"
        assert await asked(channel, "unary_unary", BERT) == b"globex/bert"


@asynccontextmanager
async def with_tokens(folder, url: str, *keys: ApiKey):
    """A channel to a service that takes keys and tokens, whose keys are at a URL."""
    (folder / "keys.json").write_text(to_json(keys))
    settings = ProcessSettings(
        api_keys_file=folder / "keys.json", jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks=url
    )
    async with configured_credentials(settings) as credentials, running(Echo(), credentials) as channel:
        yield channel


async def test_a_token_is_checked_with_the_keys_at_a_url(tmp_path):
    issuer = Issuer(now=datetime.now(UTC))
    async with (
        KeyServer(answer_of(issuer.jwks().encode())).running() as server,
        with_tokens(tmp_path, server.url, ANNAS) as channel,
    ):
        answers = [await asked(channel, "unary_unary", key) for key in (ANNA, issuer.token(sub="bert"))]
        for _ in range(20):
            assert (
                await refusal_of(channel, "unary_unary", issuer.token({"kid": "x"}))
            ).code == "UNAUTHENTICATED"

    assert answers == [b"acme/anna", b"acme/bert"]
    assert len(server.asked) == 1


async def test_tokens_are_unavailable_until_keys_could_be_read_and_keys_are_not(tmp_path):
    issuer = Issuer(now=datetime.now(UTC))
    async with (
        KeyServer(answer_of(b"", "503 Service Unavailable")).running() as server,
        with_tokens(tmp_path, server.url, ANNAS) as channel,
    ):
        error = await refusal_of(channel, "unary_unary", issuer.token())
        malformed = await refusal_of(channel, "unary_unary", "no.to.ken")
        answer = await asked(channel, "unary_unary", ANNA)

    assert (error.code, error.reason, error.retry_after_seconds) == (
        "UNAVAILABLE",
        "UPSTREAM_UNAVAILABLE",
        10.0,
    )
    assert malformed.code == "UNAUTHENTICATED"
    assert answer == b"acme/anna"


async def test_a_token_goes_on_to_the_next_service_and_is_checked_there(tmp_path):
    issuer = Issuer(now=datetime.now(UTC))
    async with (
        KeyServer(answer_of(issuer.jwks().encode())).running() as server,
        with_tokens(tmp_path, server.url) as inner,
        running(Echo(inner), keys_in(tmp_path, ANNAS)) as only_keys,
        AsyncExitStack() as stack,
    ):
        settings = ProcessSettings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks=server.url)
        credentials = await stack.enter_async_context(configured_credentials(settings))
        outer = await stack.enter_async_context(running(Echo(inner), credentials))
        answer = await asked(outer, "unary_unary", issuer.token(), b"unary_unary")
        error = await refusal_of(only_keys, "unary_unary", issuer.token())

    assert answer == b"acme/anna"
    assert error.code == "UNAUTHENTICATED"
