"""Maps our errors to `google.rpc.Status` and back. Nothing else does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2

from chassis.errors import (
    DeadlineExceeded,
    Exhausted,
    ServiceError,
    Unavailable,
    Unimplemented,
    UpstreamError,
)

DOMAIN = "clausegate"
DETAILS_KEY = "grpc-status-details-bin"
"""Metadata key under which gRPC carries a serialised `google.rpc.Status`."""
DO_NOT_REPEAT = ("grpc-retry-pushback-ms", "-1")
"""Metadata that keeps a channel from repeating a call by its own retry policy (gRFC A6)."""
MAX_MESSAGE_BYTES = 1_200
"""Of the 8 kB of metadata that a client takes unless it says more, a message in any script takes 7."""
RETRY_AFTER_SECONDS = 1.0
"""What a caller is told to wait when an upstream does not answer."""


@dataclass(frozen=True, slots=True)
class Abort:
    """The arguments of a servicer context's `abort`."""

    code: grpc.StatusCode
    message: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


def abort_of(error: ServiceError) -> Abort:
    """What the wire says of an error: code, message, ErrorInfo, BadRequest and RetryInfo as they apply."""
    message = _fitting(error.message)
    status = status_pb2.Status(code=code_pb2.Code.Value(error.code), message=message)
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN))
    if error.field is not None:
        violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=message)
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if error.retry_after_seconds is not None:
        delay = Duration()
        delay.FromMilliseconds(round(error.retry_after_seconds * 1000))
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    details = (DETAILS_KEY, status.SerializeToString())
    metadata = (details, DO_NOT_REPEAT) if error.repeated else (details,)
    return Abort(grpc.StatusCode[error.code], message, metadata)


def _fitting(message: str) -> str:
    """A message that fits into metadata three times, percent-encoded once.

    Of a longer one gRPC makes an error of its own, which tells the caller to try again.
    """
    spelled = message.encode("utf-8", "replace")
    if len(spelled) <= MAX_MESSAGE_BYTES:
        return message
    return spelled[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore") + "…"


def reason_of(code: str, trailing_metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """The reason of a failed call; where its server sent none, the canonical name of its code."""
    for key, value in trailing_metadata:
        if key == DETAILS_KEY and isinstance(value, bytes):
            return _sent_error(grpc.StatusCode[code], status_pb2.Status.FromString(value)).reason
    return code


def error_of(failure: grpc.aio.AioRpcError) -> ServiceError:
    """Our error for a failed call: the upstream's own when it sent one, else what its bare code means."""
    metadata = dict(tuple(failure.trailing_metadata() or ()))
    if DETAILS_KEY in metadata:
        return _sent_error(failure.code(), status_pb2.Status.FromString(bytes(metadata[DETAILS_KEY])))
    if failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceeded("The deadline passed while waiting for another service.")
    if failure.code() is grpc.StatusCode.UNAVAILABLE:
        message = "A service that this one needs does not answer."
        return Unavailable(message, retry_after_seconds=RETRY_AFTER_SECONDS)
    if failure.code() is grpc.StatusCode.UNIMPLEMENTED:
        message = "A service that this one needs does not offer this call; it may be of another version."
        return Unimplemented(message)
    if failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        # Said by gRPC itself of a message or metadata beyond its bounds.
        message = (
            "A message between services is larger than CLAUSEGATE_MAX_MESSAGE_BYTES allows, or its metadata "
            "than CLAUSEGATE_MAX_HEAD_BYTES."
        )
        return Exhausted(message)
    return UpstreamError("A service that this one needs failed.", code="INTERNAL", reason="INTERNAL")


def _sent_error(code: grpc.StatusCode, status: status_pb2.Status) -> ServiceError:
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    has_retry = False
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
        has_retry = detail.Unpack(retry) or has_retry
    violations = bad_request.field_violations
    return UpstreamError(
        status.message,
        code=code.name,
        reason=info.reason or "INTERNAL",
        field=violations[0].field if violations else None,
        retry_after_seconds=retry.retry_delay.ToMilliseconds() / 1000 if has_retry else None,
    )


@contextmanager
def upstream_errors() -> Iterator[None]:
    """Within it a failed call of another service raises our error instead of gRPC's."""
    try:
        yield
    except grpc.aio.AioRpcError as failure:
        raise error_of(failure) from failure
