"""Says in the log why another service cannot be reached; the caller is told only that it does not answer."""

from __future__ import annotations

import logging
import time

logger = logging.getLogger(__name__)

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


class Unreachable:
    """Reports failed connections to one address."""

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
