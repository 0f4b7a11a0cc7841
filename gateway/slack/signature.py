"""Whether a request is Slack's own, recent, and seen for the first time.

The scheme is Slack's version `v0`: HMAC-SHA-256 with the app's signing secret over `v0:{timestamp}:{body}`.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers

from chassis.errors import Exhausted, Unauthenticated

logger = logging.getLogger(__name__)

TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"
SIGNATURE_HEADER = "X-Slack-Signature"
MAX_AGE_SECONDS = 300
"""How far a request's timestamp may be from our clock, either way; the number is Slack's advice."""
REMEMBERED_SECONDS = 2 * MAX_AGE_SECONDS
"""A request from the future, as our clock has it, is acceptable for as long."""
MAX_REMEMBERED = 10_000
"""Requests that are remembered at once; only holders of a secret can fill it."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)


class NotFromSlack(Unauthenticated):
    """The request is not signed with a secret of ours, or too old; the message does not say which."""

    reason = "UNAUTHENTICATED"


def refused(why: str) -> NotFromSlack:
    """The one error for all that is wrong with a request's origin; the log says what."""
    logger.warning("slack request refused", extra={"why": why})
    return NotFromSlack("The request is not signed by Slack, or too old.")


def signature_of(secret: bytes, timestamp: str, body: bytes) -> str:
    """What Slack sends in `X-Slack-Signature`."""
    return "v0=" + hmac.new(secret, b"v0:%b:%b" % (timestamp.encode(), body), hashlib.sha256).hexdigest()


def check_signature(headers: Headers, body: bytes, secrets: Sequence[bytes], now: float) -> None:
    """Raise `NotFromSlack` unless one of `secrets` signed the body within the last minutes.

    `now` is in seconds since 1970. Every secret is tried, in constant time each.
    """
    timestamp = headers.get(TIMESTAMP_HEADER, "")
    given = headers.get(SIGNATURE_HEADER, "")
    if not _TIMESTAMP.fullmatch(timestamp) or not given.isascii():
        raise refused("headers missing or malformed")
    if abs(now - int(timestamp)) > MAX_AGE_SECONDS:
        raise refused("timestamp too far from now")
    matches = [hmac.compare_digest(signature_of(secret, timestamp, body), given) for secret in secrets]
    if not any(matches):
        raise refused("wrong signature")


class SeenRequests:
    """Remembers the bodies of genuine requests for as long as they could be sent again.

    A body names its command by an id of its own, so that a repeat by Slack, which signs it anew, is known as
    well. The memory is this process's: another gateway would serve a repeat once more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds and never goes back, whatever the wall clock does."""
        self._clock = clock
        self._until: OrderedDict[bytes, float] = OrderedDict()

    def first_time(self, body: bytes) -> bool:
        """Whether the body was not seen before. Raises `Exhausted` when no more can be remembered."""
        now = self._clock()
        while self._until and next(iter(self._until.values())) <= now:
            self._until.popitem(last=False)
        digest = hashlib.sha256(body).digest()
        if digest in self._until:
            return False
        if len(self._until) >= MAX_REMEMBERED:
            raise Exhausted("Too many commands were sent in the last minutes.", retry_after_seconds=60)
        self._until[digest] = now + REMEMBERED_SECONDS
        return True
