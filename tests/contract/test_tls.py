"""gRPC over TLS between processes: who talks to whom, and what is said when they do not."""

import asyncio
import ssl
import warnings
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.addresses import AddressRefused
from chassis.channel import open_channel
from chassis.policy import ServerPolicy, server_policy
from chassis.server import serving
from chassis.settings import NO_TLS, ProcessSettings
from chassis.tls import Tls, TlsBroken
from clausegate.retrieval.v1.document_service_pb2 import ListSourcesRequest
from clausegate.retrieval.v1.document_service_pb2_grpc import DocumentServiceStub
from tests.contract.certificates import files, pairs, put


@asynccontextmanager
async def server(tls_files, address="127.0.0.1:0"):
    async with serving(address, [], ServerPolicy(tls=Tls(tls_files, serves=True))) as bound:
        yield bound


async def ask(channel):
    request = health_pb2.HealthCheckRequest()
    return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=20)).status


async def answer_of(address, tls_files):
    """SERVING, or the code and words of the failure."""
    async with open_channel(address, tls_files) as channel:
        try:
            return health_pb2.HealthCheckResponse.ServingStatus.Name(await ask(channel))
        except grpc.aio.AioRpcError as failure:
            return f"{failure.code().name}: {failure.details()}"


async def certificate_of(address):
    """Which certificate a new connection is shown."""
    host, _, port = address.rpartition(":")
    pem = await asyncio.to_thread(ssl.get_server_certificate, (host, int(port)), timeout=20)
    return next(name for name, pair in pairs().items() if pair.certificate_pem().decode() == pem)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_a_caller_that_trusts_the_authority_is_served(tmp_path, host):
    async with server(files(tmp_path, "server"), f"{host}:0") as address:
        assert await answer_of(address, files(tmp_path, ca="ca")) == "SERVING"


async def said_by(address, tls_files, caplog):
    """What the log advises after a call that failed, which is said once however often it fails."""
    async with open_channel(address, tls_files) as channel:
        for _ in range(3):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await DocumentServiceStub(channel).ListSources(ListSourcesRequest(), timeout=20)
            assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    (said,) = [each for each in caplog.records if each.message == "service unreachable"]
    assert (said.address, said.levelname) == (address, "WARNING")
    return said.advice


@pytest.mark.parametrize(
    ("own", "caller", "advice"),
    [
        ("server", ("", "foreign-ca"), "its certificate is not trusted"),
        ("foreign-server", ("", "ca"), "its certificate is not trusted"),
        ("elsewhere", ("", "ca"), "its certificate is not valid for the host of this address"),
        ("server", ("", ""), "it closed the connection; it may speak TLS only"),
    ],
    ids=["another authority trusted", "signed by another authority", "another name", "no TLS"],
)
async def test_a_caller_and_a_server_that_do_not_fit_fail_and_the_log_says_why(
    tmp_path, caplog, own, caller, advice
):
    async with server(files(tmp_path, own)) as address:
        said = await said_by(address, files(tmp_path, *caller), caplog)

    assert said.startswith(advice)


async def test_tls_is_not_spoken_with_a_server_that_has_none_and_the_log_says_so(tmp_path, caplog):
    async with serving("127.0.0.1:0", []) as address:
        said = await said_by(address, files(tmp_path, ca="ca"), caplog)

    assert said.startswith("it does not speak TLS")


@pytest.mark.parametrize(
    ("own", "served"),
    [("client", True), ("server", True), ("", False), ("foreign-client", False), ("expired", False)],
)
async def test_where_client_certificates_are_required_only_the_authoritys_are_served(tmp_path, own, served):
    required = files(tmp_path, "server", "ca", client_certificates=True)
    async with server(required) as address:
        put(tmp_path, own or "none", own or "ca")
        answer = await _presenting(address, tmp_path, own)

    assert (answer == "SERVING") is served
    assert served or answer.startswith("UNAVAILABLE: ")


async def _presenting(address, folder, own):
    """The answer to a caller with this certificate, an expired one too, which our channels would refuse."""
    chain, key = (folder / f"{own}.pem", folder / f"{own}.key") if own else (None, None)
    credentials = grpc.ssl_channel_credentials(
        (folder / "ca.pem").read_bytes(), key and key.read_bytes(), chain and chain.read_bytes()
    )
    async with grpc.aio.secure_channel(address, credentials) as channel:
        try:
            return health_pb2.HealthCheckResponse.ServingStatus.Name(await ask(channel))
        except grpc.aio.AioRpcError as failure:
            return f"{failure.code().name}: {failure.details()}"


async def test_client_certificates_are_ignored_where_none_is_asked_for(tmp_path):
    async with server(files(tmp_path, "server", "ca")) as address:
        assert await answer_of(address, files(tmp_path, "foreign-client", "ca")) == "SERVING"


async def test_a_unix_socket_speaks_no_tls(tmp_path, socket_dirs):
    tls_files = files(tmp_path, "server", "ca", client_certificates=True)
    async with server(tls_files, f"unix:{socket_dirs()}/grpc") as address:
        assert await answer_of(address, NO_TLS) == "SERVING"
        assert await answer_of(address, tls_files) == "SERVING"


@pytest.mark.parametrize(
    ("version", "spoken"),
    [(ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)],
    ids=["1.1", "1.2", "1.3"],
)
async def test_nothing_older_than_tls_1_2_is_spoken(tmp_path, version, spoken):
    async with server(files(tmp_path, "server")) as address:
        assert await spoken_with(address, version) is spoken
        assert await answer_of(address, files(tmp_path, ca="ca")) == "SERVING"


async def spoken_with(address, version):
    """Whether a client that speaks this version alone gets a connection."""
    context = ssl.create_default_context(cadata=pairs()["ca"].certificate_pem().decode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    context.set_ciphers("DEFAULT@SECLEVEL=0")  # or OpenSSL itself refuses to speak 1.1
    context.set_alpn_protocols(["h2", "http/1.1"])
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    except (ssl.SSLError, ConnectionError):
        return False
    writer.transport.abort()
    return True


async def test_a_replaced_certificate_is_shown_to_new_connections_and_old_ones_go_on(tmp_path):
    async with (
        server(files(tmp_path, "server")) as address,
        open_channel(address, files(tmp_path, ca="ca")) as channel,
    ):
        await ask(channel)
        before = await certificate_of(address)
        put(tmp_path, "server", "renewed")
        after = await certificate_of(address)
        await ask(channel)

    assert (before, after) == ("server", "renewed")


async def test_a_channel_takes_new_certificates_and_its_running_calls_go_on(tmp_path):
    """Everything moves to another authority: first the server, then its caller."""
    required = files(tmp_path, "server", "ca", client_certificates=True)
    mine = tmp_path / "caller"
    mine.mkdir()
    async with server(required) as address, open_channel(address, files(mine, "client", "ca")) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest(service="liveness"), timeout=60)
        await watch.read()
        for folder, name, content in (
            (tmp_path, "server", "foreign-server"),
            (tmp_path, "ca", "foreign-ca"),
            (mine, "client", "foreign-client"),
            (mine, "ca", "foreign-ca"),
        ):
            put(folder, name, content)

        assert await ask(channel) == health_pb2.HealthCheckResponse.SERVING
        assert not watch.done()
        watch.cancel()


async def test_what_does_not_fit_yet_is_not_taken(tmp_path, caplog):
    """Files are replaced one after the other: a certificate stands beside the former key for a while."""
    async with server(files(tmp_path, "server")) as address:
        (tmp_path / "server.pem").write_bytes(pairs()["renewed"].certificate_pem())
        halfway = await certificate_of(address)
        (tmp_path / "server.key").write_bytes(pairs()["renewed"].key_pem())
        after = await certificate_of(address)
        await answer_of(address, files(tmp_path, ca="ca"))

    assert (halfway, after) == ("server", "renewed")
    assert "the key does not fit" in caplog.records[0].error


async def test_client_certificates_do_not_replace_credentials(tmp_path):
    """They say that somebody belongs here, not whose documents they may read."""
    with pytest.raises(AddressRefused):
        async with server(files(tmp_path, "server", "ca", client_certificates=True), "0.0.0.0:0"):
            pass


async def test_a_file_of_authorities_that_cannot_be_read_ends_the_start_though_nobody_is_called(tmp_path):
    with pytest.raises(TlsBroken, match=r"CLAUSEGATE_TLS_CA_FILE: .*none.pem: No such file"):
        async with server_policy(ProcessSettings(tls_ca_file=tmp_path / "none.pem")):
            pass
