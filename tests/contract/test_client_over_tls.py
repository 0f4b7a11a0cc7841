"""The public client over TLS, as the entrance of a cluster offers it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import clausegate
from clausegate.retrieval.v1 import document_service_pb2 as messages
from clausegate.retrieval.v1 import document_service_pb2_grpc as wire


def certificate_of(host: str) -> tuple[bytes, bytes]:
    """A key and a certificate, signed by itself, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password)
    return private, certificate.public_bytes(encoding)


class Sources(wire.DocumentServiceServicer):
    async def ListSources(self, request, context):  # noqa: N802
        key = dict(context.invocation_metadata()).get("authorization", "")
        return messages.ListSourcesResponse(sources=[messages.Source(source=key)])


@pytest.fixture
async def entrance() -> AsyncIterator[tuple[str, bytes]]:
    private, certificate = certificate_of("localhost")
    server = grpc.aio.server()
    wire.add_DocumentServiceServicer_to_server(Sources(), server)
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(private, certificate)]))
    await server.start()
    yield f"https://localhost:{port}", certificate
    await server.stop(0)


async def test_key_travels_over_tls(entrance):
    address, certificate = entrance
    async with clausegate.connect(address, api_key="secret", ca_certificates=certificate) as client:
        (source,) = [each async for each in client.sources()]
    assert source.source == "Bearer secret"


async def test_entrance_of_an_unknown_authority_is_not_talked_to(entrance):
    address, _ = entrance
    async with clausegate.connect(address, deadline_seconds=5) as client:
        with pytest.raises(clausegate.ClausegateError) as caught:
            [each async for each in client.sources()]
    assert caught.value.code == "UNAVAILABLE"


@pytest.mark.parametrize("address", ["https://", "https://host/path"])
def test_address_that_names_no_server_is_refused(address):
    with pytest.raises(ValueError, match="expected https://host"):
        clausegate.connect(address)
