"""Opens channels to other services: traced, on the caller's behalf, retried where repeating is harmless."""

from __future__ import annotations

import json
from collections.abc import Sequence

import grpc

from chassis.auth import credential_metadata
from chassis.limits.concurrency import part_metadata
from chassis.limits.deadlines import time_left
from chassis.settings import NO_TLS, TlsFiles
from chassis.tls import Tls
from chassis.tls_channel import TlsChannel
from chassis.tracing import client_interceptors
from chassis.unreachable import Unreachable

__all__ = ["open_channel", "time_left"]

RETRY = {
    "maxAttempts": 3,
    "initialBackoff": "0.05s",
    "maxBackoff": "0.5s",
    "backoffMultiplier": 3,
    "retryableStatusCodes": ["UNAVAILABLE"],
}


def open_channel(
    address: str, tls: TlsFiles = NO_TLS, *, retried_services: Sequence[str] = ()
) -> grpc.aio.Channel:
    """A channel to `host:port` or `unix:path`; it connects on first use and again after a loss.

    With authorities in `tls` a TCP address is called by TLS, and must show a certificate that one of them
    signed for the host in `address`; the process's own is shown where one is asked for. New versions of the
    files are taken with the next call. Raises `TlsBroken` for files that cannot be used.

    Calls of `retried_services` (full names of services that only read) are tried up to three times while the
    other side is unavailable; no other retry exists. Every call is to be given `timeout=time_left(limit)`. It
    carries the credential of the request that it is made for, if there is one.
    """
    # No `healthCheckConfig`: a replica that is not ready says why by a typed error, the channel would not.
    config = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": [{"service": name} for name in retried_services], "retryPolicy": RETRY}]
        if retried_services
        else [],
    }
    options = [
        ("grpc.service_config", json.dumps(config)),
        ("grpc.enable_http_proxy", 0),
        # Else channels of a process share their connections, and a new one waits out the pause that another's
        # failure has begun.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.max_reconnect_backoff_ms", 2000),
        # By default a name is not looked up again for 30 s: a rollout of two replicas can be over by then.
        ("grpc.dns_min_time_between_resolutions_ms", 1000),
        # A machine that is gone says nothing: without pings every second call waits for it to its deadline.
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.http2.ping_timeout_ms", 5_000),
    ]
    interceptors = client_interceptors(
        lambda: (*credential_metadata(), *part_metadata()), Unreachable(address).report
    )
    if tls.ca is None or address.startswith("unix:"):
        return grpc.aio.insecure_channel(address, options, interceptors=interceptors)
    return TlsChannel(
        Tls(tls, serves=False),
        lambda credentials: grpc.aio.secure_channel(address, credentials, options, interceptors=interceptors),
    )
