"""REST over TLS: the gateway's own certificate, client certificates, and new ones while it runs."""

import asyncio
import ssl
from contextlib import asynccontextmanager

import httpx
import pytest

from gateway.settings import GatewaySettings
from gateway.wiring import serving
from tests.contract.certificates import files, put
from tests.contract.test_tls import spoken_with


@asynccontextmanager
async def gateway(folder, address="127.0.0.1:0", **settings):
    """A gateway without services behind it; yields its address."""
    put(folder, "server", "server")
    put(folder, "ca", "ca")
    configured = GatewaySettings(
        gateway_address=address,
        drain_seconds=0,
        tls_certificate_file=folder / "server.pem",
        tls_key_file=folder / "server.key",
        tls_ca_file=folder / "ca.pem",
        **settings,
    )
    async with serving(configured) as bound:
        yield bound


def client(folder, own="", ca="ca", **options):
    """A caller with this certificate, which trusts `ca` as strictly as newer versions of Python do."""
    shown = files(folder, own, ca)
    context = ssl.create_default_context(cafile=shown.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    if own:
        context.load_cert_chain(shown.certificate, shown.key)
    return httpx.AsyncClient(verify=context, timeout=20, trust_env=False, **options)


async def alive(url, caller):
    """`SERVING`, or what kept the caller from an answer."""
    async with caller:
        try:
            return (await caller.get(f"{url}/healthz")).json()["status"]
        except httpx.TransportError as error:
            return f"{type(error).__name__}: {error}"


async def test_a_caller_that_trusts_the_authority_is_answered(tmp_path):
    async with gateway(tmp_path, "[::1]:0") as address:
        answer = await alive(f"https://{address}", client(tmp_path))

    assert answer == "SERVING"


async def test_a_caller_without_tls_is_not_answered(tmp_path):
    async with gateway(tmp_path) as address:
        answer = await alive(f"http://{address}", client(tmp_path))

    assert answer.startswith("RemoteProtocolError")


async def test_a_caller_of_another_authority_breaks_off(tmp_path):
    async with gateway(tmp_path) as address:
        answer = await alive(f"https://{address}", client(tmp_path, ca="foreign-ca"))

    assert "CERTIFICATE_VERIFY_FAILED" in answer


@pytest.mark.parametrize(
    ("own", "answered"),
    [("client", True), ("server", True), ("", False), ("foreign-client", False), ("expired", False)],
)
async def test_where_client_certificates_are_required_only_the_authoritys_are_answered(
    tmp_path, own, answered
):
    callers = tmp_path / "callers"
    callers.mkdir()
    async with gateway(tmp_path, tls_client_certificates="required") as address:
        answer = await alive(f"https://{address}", client(callers, own))

    assert (answer == "SERVING") is answered


@pytest.mark.parametrize(
    ("version", "spoken"),
    [(ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True)],
    ids=["1.1", "1.2"],
)
async def test_nothing_older_than_tls_1_2_is_spoken(tmp_path, version, spoken):
    async with gateway(tmp_path) as address:
        assert await spoken_with(address, version) is spoken


async def test_new_files_hold_for_new_connections_and_old_ones_go_on(tmp_path):
    """The gateway moves to another authority, for itself and for its callers."""
    callers = tmp_path / "callers"
    callers.mkdir()
    async with (
        gateway(tmp_path, tls_client_certificates="required") as address,
        client(callers, "client") as open_already,
    ):
        url = f"https://{address}"
        assert (await open_already.get(f"{url}/healthz")).json()["status"] == "SERVING"
        put(tmp_path, "server", "foreign-server")
        put(tmp_path, "ca", "foreign-ca")

        assert (await open_already.get(f"{url}/healthz")).json()["status"] == "SERVING"
        assert await alive(url, client(callers, "foreign-client", "foreign-ca")) == "SERVING"
        assert "CERTIFICATE_VERIFY_FAILED" in await alive(url, client(callers, "client", "ca"))
        assert await alive(url, client(callers, "client", "foreign-ca")) != "SERVING"


async def test_a_unix_socket_speaks_no_tls(tmp_path, socket_dirs):
    socket = f"{socket_dirs()}/rest"
    async with gateway(tmp_path, f"unix:{socket}", tls_client_certificates="required"):
        transport = httpx.AsyncHTTPTransport(uds=socket)
        answer = await alive("http://localhost", httpx.AsyncClient(transport=transport, timeout=20))

    assert answer == "SERVING"


async def test_a_handshake_that_does_not_end_is_dropped(tmp_path):
    async with gateway(tmp_path, client_stall_seconds=0.4) as address:
        host, port = address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(bytes.fromhex("1603010200"))  # the beginning of a client's first record
        async with asyncio.timeout(30):  # asyncio itself would wait for a minute
            assert await reader.read() == b""
        writer.close()
        answer = await alive(f"https://{address}", client(tmp_path))

    assert answer == "SERVING"
