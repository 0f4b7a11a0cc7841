"""What commands say when a gateway and they do not fit by TLS."""

import httpx
import pytest

from cli.errors import CommandError
from cli.gateway_client import GatewayClient
from cli.settings import CommandSettings
from cli.tls import tls_context
from tests.contract.certificates import files
from tests.contract.test_gateway_over_tls import gateway


async def said(url, settings):
    """What a command says that lists sources; nothing is behind the gateway."""
    async with httpx.AsyncClient(base_url=url, verify=tls_context(settings), timeout=20) as http:
        with pytest.raises(CommandError) as failed:
            [each async for each in GatewayClient(http).sources()]
    return str(failed.value)


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
        ("client", "ca", "A service that this one needs does not answer"),  # it got through
        ("client", "", "its certificate is not trusted"),
        ("client", "foreign-ca", "its certificate is not trusted"),
        ("", "ca", "It may ask for a client certificate"),
        ("foreign-client", "ca", "It may ask for a client certificate that it trusts"),
    ],
)
async def test_what_is_the_matter_is_said_with_the_setting_that_mends_it(tmp_path, own, ca, advice):
    behind = {f"{area}_address": "127.0.0.1:1" for area in ("answer", "ingest", "retrieval")}
    async with gateway(tmp_path, tls_client_certificates="required", **behind) as address:
        assert advice in await said(f"https://{address}", shown(tmp_path, own, ca))


async def test_a_gateway_with_tls_alone_and_one_without_are_told_apart(tmp_path, free_port):
    async with gateway(tmp_path) as address:
        without = await said(f"http://{address}", shown(tmp_path))

    assert "try https:// in place of http://" in without


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"client_certificate_file": "client.pem"}, "go together"),
        ({"client_key_file": "client.key"}, "go together"),
        ({"ca_file": "none.pem"}, "CLAUSEGATE_CA_FILE: none.pem: No such file"),
        (
            {"client_certificate_file": "none.pem", "client_key_file": "none.key"},
            "CLAUSEGATE_CLIENT_CERTIFICATE_FILE and CLAUSEGATE_CLIENT_KEY_FILE: none.pem: No such file",
        ),
    ],
)
def test_files_that_cannot_be_used_are_named(given, why):
    with pytest.raises(CommandError, match=why):
        tls_context(CommandSettings(**given))
