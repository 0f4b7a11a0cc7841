"""What commands say when a server and they do not fit, above all by TLS."""

import pytest

from chassis.server import serving
from clausegate import ClausegateError
from cli.connection import client_of
from cli.errors import CallFailed, CommandError
from cli.settings import CommandSettings
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from tests.contract.certificates import files
from tests.contract.test_gateway_over_tls import gateway
from tests.contract.test_tls import server

NO_GRPC = "it does not speak gRPC, as the gateway does not"


async def said(address, settings):
    """What a command says that lists sources; the server has no services."""
    async with client_of(address, settings) as client:
        with pytest.raises(ClausegateError) as failed:
            [each async for each in client.sources()]
    return str(CallFailed(failed.value))


def shown(folder, own="", ca="ca"):
    """Settings of a command that shows one certificate and trusts another."""
    theirs = folder / "theirs"
    theirs.mkdir(exist_ok=True)
    given = files(theirs, own, ca)
    return CommandSettings(
        ca_file=given.ca, client_certificate_file=given.certificate, client_key_file=given.key
    )


@pytest.mark.parametrize(
    ("own", "ca", "advice"),
    [
        ("client", "ca", "This server does not offer this call"),  # it got through
        ("client", "", "its certificate is not trusted; CLAUSEGATE_CA_FILE"),
        ("client", "foreign-ca", "its certificate is not trusted; CLAUSEGATE_CA_FILE"),
        ("", "ca", "It may ask for a client certificate"),
        ("foreign-client", "ca", "It may ask for a client certificate that it trusts"),
    ],
)
async def test_what_is_the_matter_is_said_with_the_setting_that_mends_it(tmp_path, own, ca, advice):
    async with server(files(tmp_path, "server", "ca", client_certificates=True)) as address:
        assert advice in await said(f"https://{address}", shown(tmp_path, own, ca))


async def test_a_certificate_of_another_host_is_said(tmp_path):
    async with server(files(tmp_path, "elsewhere")) as address:
        assert "is not for the host of this address" in await said(f"https://{address}", shown(tmp_path))


async def test_a_server_with_tls_alone_and_one_without_are_told_apart(tmp_path):
    async with server(files(tmp_path, "server")) as address:
        without = await said(address, shown(tmp_path))
    async with serving("127.0.0.1:0", []) as address:
        needless = await said(f"https://{address}", shown(tmp_path))

    assert "Without https:// in its address, it may speak TLS only" in without
    assert "it does not speak TLS: try host:port without https://" in needless


async def test_an_address_of_rest_is_told_from_one_of_the_services(tmp_path):
    async with gateway(tmp_path) as address:
        by_tls = await said(f"https://{address}", shown(tmp_path))
    async with serving_rest(GatewaySettings(gateway_address="127.0.0.1:0")) as address:
        without = await said(address, shown(tmp_path))

    assert NO_GRPC in by_tls
    assert NO_GRPC in without


@pytest.mark.parametrize(
    ("address", "why"),
    [
        (
            "http://127.0.0.1:8000",
            "is an address of REST, and commands call the services by gRPC",
        ),
        ("https://clausegate.example/v1", r"expected https://host\[:port\]"),
        ("clausegate.example", "expected host:port, unix:/path or, for TLS"),
        ("ingest:7001,retrieval:7002", "expected one address, or those of ingest, retrieval and answer"),
    ],
)
def test_what_is_no_address_of_services_is_refused(address, why):
    with pytest.raises(CommandError, match=f"--server: .*{why}"):
        client_of(address, CommandSettings())


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"client_certificate_file": "client.pem"}, "go together"),
        ({"client_key_file": "client.key"}, "go together"),
        ({"ca_file": "none.pem"}, "CLAUSEGATE_CA_FILE: none.pem: No such file"),
        (
            {"client_certificate_file": "none.pem", "client_key_file": "none.key"},
            "CLAUSEGATE_CLIENT_CERTIFICATE_FILE: none.pem: No such file",
        ),
        ({"ca_file": __file__}, "CLAUSEGATE_CA_FILE: .*: no certificates in PEM"),
    ],
)
def test_files_that_cannot_be_used_are_named(given, why):
    with pytest.raises(CommandError, match=why):
        client_of("127.0.0.1:7000", CommandSettings(**given))


@pytest.mark.parametrize(
    ("own", "key", "why"),
    [
        ("expired", "expired", "CLIENT_CERTIFICATE_FILE: .* expired at"),
        ("client", "foreign-client", "CLIENT_KEY_FILE: .*: the key does not fit"),
    ],
)
def test_a_client_certificate_that_nobody_takes_is_named(tmp_path, own, key, why):
    shown, other = files(tmp_path, own), files(tmp_path, key)
    settings = CommandSettings(client_certificate_file=shown.certificate, client_key_file=other.key)
    with pytest.raises(CommandError, match=why):
        client_of("127.0.0.1:7000", settings)
