"""Opens channels to other services: traced, on the caller's behalf, retried where repeating is harmless."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence

import grpc

from chassis.auth import credential_metadata
from chassis.limits.concurrency import part_metadata
from chassis.limits.deadlines import time_left
from chassis.settings import NO_TLS, TlsFiles
from chassis.tls import Tls
from chassis.tls_channel import TlsChannel
from chassis.tracing import client_interceptors

logger = logging.getLogger(__name__)

__all__ = ["open_channel", "time_left"]

RETRY = {
    "maxAttempts": 3,
    "initialBackoff": "0.05s",
    "maxBackoff": "0.5s",
    "backoffMultiplier": 3,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
PAUSE_SECONDS = 10.0
"""A service that is away fails every call; the log need not say so each time."""

ADVICE = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not trusted; CLAUSEGATE_TLS_CA_FILE says whose are",
    "is not in peer certificate": "its certificate is not valid for the host of this address",
    "WRONG_VERSION_NUMBER": "it does not speak TLS, and with CLAUSEGATE_TLS_CA_FILE it is called by TLS only",
    "Socket closed": "it closed the connection; it may speak TLS only (CLAUSEGATE_TLS_CA_FILE), or want a "
    "certificate that it trusts (CLAUSEGATE_TLS_CERTIFICATE_FILE)",
}
"""What is the matter, by a part of gRPC's words for it."""


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


class Unreachable:
    """Says in the log why an address cannot be reached; the caller is told only that it does not answer."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._quiet_until = 0.0

    def report(self, words: str) -> None:
        """Log gRPC's words with what they mean, unless something was logged a moment ago."""
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._quiet_until = now + PAUSE_SECONDS
        logger.warning(
            "service unreachable",
            extra={"address": self._address, "error": words, "advice": advice(words)},
        )


def advice(words: str) -> str:
    """What gRPC's words for a failed connection mean; empty when they mean no more than they say."""
    if "last error" not in words:  # a connection that was lost, not one that failed
        return ""
    return next((meaning for part, meaning in ADVICE.items() if part in words), "")
