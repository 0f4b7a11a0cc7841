"""Turns what Weaviate and its client raise into our errors; their words go to the log alone."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

import grpc
import httpx
from weaviate.exceptions import (
    InsufficientPermissionsError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateConnectionError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from services.retrieval.store.port import StoreUnavailable

logger = logging.getLogger(__name__)

FOREIGN = (WeaviateBaseError, httpx.HTTPError, grpc.aio.AioRpcError, json.JSONDecodeError, OSError)
"""What calls of the client raise; `TimeoutError` is an `OSError`."""
UNREADABLE = (*FOREIGN, AttributeError, LookupError, TypeError, ValueError)
"""What it raises as well where another server than Weaviate answers: over gRPC, None is no reply."""

RETRY_SECONDS = 2.0
READ_ONLY_RETRY_SECONDS = 30.0
MAX_WORDS = 300
"""Characters of a foreign message that are logged. They name collections, limits and addresses: no text of a
document is in an error of Weaviate, but for a value of the wrong type, which we do not send."""

NO_ANSWER = "Weaviate does not answer."
FAILED = "Weaviate failed to do its part of the call; the log of the retrieval service says more."
KEY_REFUSED = (
    "Weaviate refuses the key of the retrieval service: set CLAUSEGATE_WEAVIATE_API_KEY or "
    "CLAUSEGATE_WEAVIATE_API_KEY_FILE to one that it knows."
)
NOT_PERMITTED = (
    "Weaviate's key permits too little: give its role all permissions for collections, data, tenants and "
    "aliases whose names begin with CLAUSEGATE_WEAVIATE_PREFIX."
)
READ_ONLY = (
    "Weaviate takes no writes, as when its disk or memory is nearly full: give it room. Searches go on, and "
    "what was visible still is; repeat the call then."
)
TENANT_RETRY_SECONDS = 30.0
INACTIVE = (
    "The index of this tenant is not active in Weaviate: set its activity status to ACTIVE (HOT) in every "
    "collection, and calls go on."
)
TENANT_GONE = (
    "The index of this tenant is gone from Weaviate: restore a back-up, and calls go on; or restart the "
    "retrieval service to begin with an empty index."
)

_NO_ANSWER = (
    httpx.TransportError,
    OSError,
    WeaviateConnectionError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)
_NO_ANSWER_STATUSES = frozenset({408, 429, 502, 503, 504})
_NO_ANSWER_CODES = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
_TENANTS = {"tenant not active": INACTIVE, "tenant not found": TENANT_GONE}
_READ_ONLY_WORDS = ("read-only", "read only", "readonly", "no space left", "not enough memory")


class NotAnswering(StoreUnavailable):
    """The server is away or takes too long: nothing is known to be wrong with it or with the settings."""

    reason = "UPSTREAM_UNAVAILABLE"


def is_foreign(failure: Exception) -> bool:
    """Whether the client raised it, and not what called the client."""
    if isinstance(failure, FOREIGN):
        return True
    frame = failure.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_globals["__name__"].startswith("weaviate.")


def not_answering(retry_after_seconds: float = RETRY_SECONDS) -> NotAnswering:
    """The error of a call that got no answer."""
    return NotAnswering(NO_ANSWER, retry_after_seconds=retry_after_seconds)


def failed() -> StoreUnavailable:
    """The error of a call that was answered, but not with what was asked for."""
    return StoreUnavailable(FAILED, retry_after_seconds=RETRY_SECONDS)


def error_of(failure: Exception) -> StoreUnavailable:
    """Our error for what a call raised: `NotAnswering` where no answer came. A retry after it can help only
    where it says when."""
    code, status, words = _grpc_code(failure), _status(failure), str(failure)
    # Read-only first: over gRPC it says so with the code of a server that is away.
    if _is_read_only(words):
        return StoreUnavailable(READ_ONLY, retry_after_seconds=READ_ONLY_RETRY_SECONDS)
    for said, meant in _TENANTS.items():
        if said in words:
            return StoreUnavailable(meant, retry_after_seconds=TENANT_RETRY_SECONDS)
    if status == 401 or code is grpc.StatusCode.UNAUTHENTICATED:
        return StoreUnavailable(KEY_REFUSED)
    if isinstance(failure, InsufficientPermissionsError) or code is grpc.StatusCode.PERMISSION_DENIED:
        return StoreUnavailable(NOT_PERMITTED)
    if isinstance(failure, _NO_ANSWER) or status in _NO_ANSWER_STATUSES or code in _NO_ANSWER_CODES:
        return not_answering()
    if status is not None and status < 500:
        return StoreUnavailable(FAILED)
    return failed()


def said_of(failure: Exception) -> dict[str, str]:
    """What the log says of it."""
    return {
        "error": type(failure).__name__,
        "status": status_of(failure),
        "words": _one_line(str(failure)),
    }


def of_objects(messages: Iterable[str]) -> StoreUnavailable:
    """Our error for objects of a batch that were not stored, by what Weaviate says of each; logged."""
    said = sorted({_one_line(message) for message in messages})
    logger.warning("Weaviate did not store all of a batch", extra={"words": said[:5], "kinds": len(said)})
    if any(map(_is_read_only, said)):
        return StoreUnavailable(READ_ONLY, retry_after_seconds=READ_ONLY_RETRY_SECONDS)
    return failed()


def is_refused(failure: BaseException) -> bool:
    """Whether nothing listens where the server should be."""
    return any(isinstance(error, httpx.ConnectError) for error in _chain(failure))


def status_of(failure: Exception) -> str:
    """The HTTP status or the gRPC code that was answered; empty without an answer."""
    code, status = _grpc_code(failure), _status(failure)
    return code.name if code else "" if status is None else str(status)


def _status(failure: Exception) -> int | None:
    if isinstance(failure, UnexpectedStatusCodeError) and _grpc_code(failure) is None:
        return failure.status_code
    return None


def _grpc_code(failure: BaseException) -> grpc.StatusCode | None:
    for error in _chain(failure):
        if isinstance(error, grpc.aio.AioRpcError):
            return error.code()
    return None


def _chain(failure: BaseException | None) -> Iterable[BaseException]:
    """It and what it was raised for, down to what is not the client's: it wraps, not always with `from`."""
    while isinstance(failure, FOREIGN):
        yield failure
        failure = failure.__cause__ or failure.__context__


def _is_read_only(words: str) -> bool:
    return any(phrase in words.lower() for phrase in _READ_ONLY_WORDS)


def _one_line(words: str) -> str:
    return " ".join(words.split())[:MAX_WORDS]
