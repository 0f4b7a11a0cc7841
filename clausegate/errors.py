"""The one exception that a caller of the services has to know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

_DETAILS_KEY = "grpc-status-details-bin"


@dataclass(frozen=True, slots=True)
class InvalidField:
    """A field of the request that the service did not take."""

    field: str
    """Path of the field, e.g. `sources[0]`."""
    description: str


class ClausegateError(Exception):
    """A call failed. A refused question is not a failure: it is a response with `refusal` set."""

    def __init__(
        self,
        code: str,
        reason: str,
        message: str,
        fields: tuple[InvalidField, ...] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """Canonical gRPC code, e.g. `INVALID_ARGUMENT`."""
        self.reason = reason
        """Name of an `ErrorReason` without its prefix; empty when no service of ours answered."""
        self.message = message
        self.fields = fields
        """The offending fields; empty unless the request was at fault."""
        self.retry_after_seconds = retry_after_seconds
        """When repeating can help, else None."""

    def __str__(self) -> str:
        """Everything on one line, e.g. `INVALID_FIELD: query: must not be empty`."""
        fields = "; ".join(f"{field.field}: {field.description}" for field in self.fields)
        return f"{self.reason or self.code}: {fields or self.message}"


@contextmanager
def clausegate_errors() -> Iterator[None]:
    """Raise failed calls within the block as `ClausegateError`."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise error_from_rpc(error) from error


def error_from_rpc(error: grpc.aio.AioRpcError) -> ClausegateError:
    """Read the `google.rpc.Status` that came with a failed call, if any."""
    info, violations, retry = ErrorInfo(), BadRequest(), RetryInfo()
    for detail in _status(error).details:
        for message in (info, violations, retry):
            detail.Unpack(message)
    return ClausegateError(
        code=error.code().name,
        reason=info.reason,
        message=error.details() or error.code().name,
        fields=tuple(InvalidField(v.field, v.description) for v in violations.field_violations),
        retry_after_seconds=retry.retry_delay.ToTimedelta().total_seconds() or None,
    )


def json_path(path: str) -> str:
    """A field's path, which services write as in the proto, as JSON writes it: `documentIds[0]`."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), path)


def _status(error: grpc.aio.AioRpcError) -> Status:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:  # a proxy's own details are no reason to hide the failure itself
                break
    return Status()
