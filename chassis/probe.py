"""Asks a process on this machine whether it serves: what a container's health check runs.

`python -m chassis.probe 127.0.0.1:7001` asks gRPC health for the server as a whole, with a second argument
for the service of that name (`liveness`), and `python -m chassis.probe http://127.0.0.1:8000/readyz` expects
200. The exit code is 0 when it serves; else 1, with one line that says what was answered. Neither needs a
credential.

Where the settings give the process a certificate, both ask by TLS and show that certificate. Whose the
server's is they do not check: they ask this machine, and tell it nothing.
"""

from __future__ import annotations

import http.client
import os
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

DEADLINE_SECONDS = 3.0
SERVING = "SERVING"


@dataclass(frozen=True, slots=True)
class Shown:
    """The certificate that the process has by its settings, and its key."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """For asking by TLS whoever answers."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain(self.certificate, self.key, password="")
        return context


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    address: str
    """`host:port` or `unix:path` for gRPC, or a `http://` URL."""
    service: str = ""
    """A name that gRPC health knows; empty: the server as a whole."""
    shown: Shown | None = None
    """With it TCP addresses are asked by TLS."""
    deadline_seconds: float = DEADLINE_SECONDS


def probe(question: Question) -> str:
    """`SERVING`, or what is wrong at the address."""
    try:
        return (_ask_http if question.address.startswith("http://") else _ask_grpc)(question)
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"


def _ask_grpc(question: Question) -> str:
    with _channel(question) as channel:
        try:
            response = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(service=question.service), timeout=question.deadline_seconds
            )
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))


def _channel(question: Question) -> grpc.Channel:
    options = [("grpc.enable_http_proxy", 0)]
    shown = question.shown
    if shown is None or question.address.startswith("unix:"):
        return grpc.insecure_channel(question.address, options)
    # gRPC always checks a certificate: let it expect the one that is there, by the name that this one is for.
    there, name = _certificate(question, shown)
    credentials = grpc.ssl_channel_credentials(there, shown.key.read_bytes(), shown.certificate.read_bytes())
    return grpc.secure_channel(
        question.address, credentials, [*options, ("grpc.ssl_target_name_override", name)]
    )


def _certificate(question: Question, shown: Shown) -> tuple[bytes, str]:
    """What the server shows, in PEM, and a name in it."""
    from chassis.certificates import a_name_of  # takes 30 ms, for nothing where there is no TLS

    host, _, port = question.address.rpartition(":")
    connection = http.client.HTTPSConnection(
        host.strip("[]"), int(port), timeout=question.deadline_seconds, context=shown.context()
    )
    try:
        connection.connect()
        assert isinstance(connection.sock, ssl.SSLSocket)
        der = connection.sock.getpeercert(binary_form=True)
    finally:
        connection.close()
    assert der is not None  # a server always shows one
    return ssl.DER_cert_to_PEM_cert(der).encode(), a_name_of(der)


def _ask_http(question: Question) -> str:
    parts = urlsplit(question.address)
    seconds = question.deadline_seconds
    connection = (
        http.client.HTTPConnection(parts.netloc, timeout=seconds)
        if question.shown is None
        else http.client.HTTPSConnection(parts.netloc, timeout=seconds, context=question.shown.context())
    )
    try:
        connection.request("GET", parts.path or "/")
        response = connection.getresponse()
        body = response.read().decode("utf-8", "replace")
    finally:
        connection.close()
    return SERVING if response.status == http.client.OK else f"{response.status}: {body}"


def _shown() -> Shown | None:
    """By the settings of the process; reading them all takes .2 s of processor time, every few seconds."""
    files = [
        os.environ.get(f"CLAUSEGATE_TLS_{name}_FILE")  # noqa: TID251 - see above
        for name in ("CERTIFICATE", "KEY")
    ]
    return Shown(Path(files[0]), Path(files[1])) if files[0] and files[1] else None


def main() -> None:
    """Probe the address that is the first argument."""
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m chassis.probe ADDRESS [SERVICE]")
    address, service = [*sys.argv[1:], ""][:2]
    answer = probe(Question(address, service, _shown()))
    if answer != SERVING:
        sys.exit(answer)


if __name__ == "__main__":
    main()
