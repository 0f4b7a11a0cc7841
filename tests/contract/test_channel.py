"""Client-side balancing: one name, several replicas, all on the same port of addresses of their own."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest

from chassis.channel import open_channel
from chassis.policy import ServerPolicy
from chassis.server import Services, serving
from tests.contract.wires import Wire
from tests.fakes.name_server import name_server

SERVICE = "clausegate.tests.Naming"
METHOD = f"/{SERVICE}/Name"


def naming(address):
    """A service whose every answer is the address that it has."""

    async def name(request, context):
        return address.encode()

    handlers = {"Name": grpc.unary_unary_rpc_method_handler(name)}
    handler = grpc.method_handlers_generic_handler(SERVICE, handlers)
    return Services((), lambda server: server.add_generic_rpc_handlers((handler,)))


@asynccontextmanager
async def replica(address, port):
    async with serving(f"{address}:{port}", [naming(address)], ServerPolicy(drain_seconds=5)):
        yield


async def asked(channel, calls):
    """How many of `calls` calls, none of which is repeated, each address answered."""
    call = channel.unary_unary(METHOD)
    return Counter([(await call(b"", timeout=60)).decode() for _ in range(calls)])


async def asked_until(channel, addresses):
    """Call until a round was answered by just these addresses; fails as soon as a call does."""
    async with asyncio.timeout(60):
        while set(await asked(channel, 10)) != set(addresses):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)


@pytest.fixture
def port(free_port):
    return free_port()


async def test_calls_are_spread_evenly_over_all_addresses_of_a_name(port):
    async with (
        replica("127.0.0.1", port),
        replica("127.0.0.2", port),
        name_server("127.0.0.1", "127.0.0.2") as (_, names),
        open_channel(f"{names}retrieval:{port}") as channel,
    ):
        await asked_until(channel, ["127.0.0.1", "127.0.0.2"])

        assert await asked(channel, 40) == {"127.0.0.1": 20, "127.0.0.2": 20}


async def test_a_replica_that_stops_takes_no_call_with_it(port):
    async with (
        replica("127.0.0.1", port),
        name_server("127.0.0.1", "127.0.0.2") as (_, names),
        open_channel(f"{names}retrieval:{port}") as channel,
    ):
        async with replica("127.0.0.2", port):
            await asked_until(channel, ["127.0.0.1", "127.0.0.2"])

        assert await asked(channel, 20) == {"127.0.0.1": 20}


async def test_a_rollout_that_replaces_every_replica_loses_no_call(port):
    async with AsyncExitStack() as stack:
        first, second = AsyncExitStack(), AsyncExitStack()
        stack.push_async_callback(first.aclose)
        stack.push_async_callback(second.aclose)
        await first.enter_async_context(replica("127.0.0.1", port))
        await second.enter_async_context(replica("127.0.0.2", port))
        server, names = await stack.enter_async_context(name_server("127.0.0.1", "127.0.0.2"))
        channel = await stack.enter_async_context(open_channel(f"{names}retrieval:{port}"))
        await asked_until(channel, ["127.0.0.1", "127.0.0.2"])

        await stack.enter_async_context(replica("127.0.0.3", port))
        server.addresses = ["127.0.0.2", "127.0.0.3"]
        await first.aclose()
        await asked_until(channel, ["127.0.0.2", "127.0.0.3"])
        await stack.enter_async_context(replica("127.0.0.4", port))
        server.addresses = ["127.0.0.3", "127.0.0.4"]
        await second.aclose()
        await asked_until(channel, ["127.0.0.3", "127.0.0.4"])


async def test_reads_go_round_a_replica_whose_machine_is_silent():
    async with AsyncExitStack() as stack:
        near, far = [
            await stack.enter_async_context(serving("127.0.0.1:0", [naming(name)]))
            for name in ("near", "far")
        ]
        wire = await stack.enter_async_context(Wire(int(far.rpartition(":")[2])))
        both = f"ipv4:{near},127.0.0.1:{wire.port}"
        channel = await stack.enter_async_context(open_channel(both, retried_services=[SERVICE]))
        await asked_until(channel, ["near", "far"])

        wire.hold()

        assert await asked(channel, 20) == {"near": 20}
