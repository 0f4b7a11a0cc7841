"""The public client over TLS, as the entrance of a cluster offers it."""

from contextlib import asynccontextmanager

import grpc
import pytest

import clausegate
from clausegate.retrieval.v1 import document_service_pb2 as messages
from clausegate.retrieval.v1 import document_service_pb2_grpc as wire
from tests.contract.certificates import pairs

CA = pairs()["ca"].certificate_pem()


class Sources(wire.DocumentServiceServicer):
    async def ListSources(self, request, context):  # noqa: N802
        key = dict(context.invocation_metadata()).get("authorization", "")
        return messages.ListSourcesResponse(sources=[messages.Source(source=key)])


@asynccontextmanager
async def server_policy(*, client_certificates=False):
    """A server by TLS; yields its address."""
    server, own = grpc.aio.server(), pairs()["server"]
    wire.add_DocumentServiceServicer_to_server(Sources(), server)
    credentials = grpc.ssl_server_credentials(
        [(own.key_pem(), own.certificate_pem())], CA if client_certificates else None, client_certificates
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    yield f"https://localhost:{port}"
    await server.stop(0)


def shown(name):
    return pairs()[name].certificate_pem(), pairs()[name].key_pem()


async def sources(client):
    return [each.source async for each in client.sources()]


async def test_key_travels_over_tls():
    async with (
        server_policy() as address,
        clausegate.connect(address, credential="secret", ca_certificates=CA) as client,
    ):
        assert await sources(client) == ["Bearer secret"]


async def test_entrance_of_an_unknown_authority_is_not_talked_to():
    async with server_policy() as address, clausegate.connect(address, deadline_seconds=20) as client:
        with pytest.raises(clausegate.ClausegateError) as caught:
            await sources(client)
    assert caught.value.code == "UNAVAILABLE"


async def test_a_client_certificate_opens_an_entrance_that_asks_for_one():
    async with (
        server_policy(client_certificates=True) as address,
        clausegate.connect(address, ca_certificates=CA, client_certificate=shown("client")) as client,
    ):
        assert await sources(client) == [""]


@pytest.mark.parametrize("certificate", [None, shown("foreign-client")], ids=["none", "foreign"])
async def test_no_other_certificate_opens_it(certificate):
    async with (
        server_policy(client_certificates=True) as address,
        clausegate.connect(
            address, ca_certificates=CA, client_certificate=certificate, deadline_seconds=20
        ) as client,
    ):
        with pytest.raises(clausegate.ClausegateError) as caught:
            await sources(client)
    assert caught.value.code == "UNAVAILABLE"


@pytest.mark.parametrize("address", ["https://", "https://host/path"])
def test_address_that_names_no_server_is_refused(address):
    with pytest.raises(ValueError, match="expected https://host"):
        clausegate.connect(address)
