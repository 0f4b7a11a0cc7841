"""Asks a process on this machine whether it serves: what a container's health check runs.

`python -m chassis.probe 127.0.0.1:7001` asks gRPC health for the server as a whole, and
`python -m chassis.probe http://127.0.0.1:8000/readyz` expects 200. The exit code is 0 when it serves; else 1,
with one line that says what was answered. Neither needs a credential.
"""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

DEADLINE_SECONDS = 3.0
SERVING = "SERVING"


def probe(address: str, deadline_seconds: float = DEADLINE_SECONDS) -> str:
    """`SERVING`, or what is wrong at `address`: `host:port` or `unix:path` for gRPC, or a `http://` URL."""
    return (_ask_http if address.startswith("http://") else _ask_grpc)(address, deadline_seconds)


def _ask_grpc(address: str, deadline_seconds: float) -> str:
    with grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
        try:
            response = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=deadline_seconds
            )
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))


def _ask_http(url: str, deadline_seconds: float) -> str:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=deadline_seconds)
    try:
        connection.request("GET", parts.path or "/")
        response = connection.getresponse()
        body = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    return SERVING if response.status == http.client.OK else f"{response.status}: {body}"


def main() -> None:
    """Probe the address that is the only argument."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m chassis.probe ADDRESS")
    answer = probe(sys.argv[1])
    if answer != SERVING:
        sys.exit(answer)


if __name__ == "__main__":
    main()
