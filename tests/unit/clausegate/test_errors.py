import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc.aio import AioRpcError, Metadata

from clausegate.errors import ClausegateError, InvalidField, clausegate_errors, error_from_rpc, json_path


def failure(code, message, *details):
    status = Status(code=code.value[0], message=message)
    for detail in details:
        status.details.add().Pack(detail)
    trailing = Metadata(("grpc-status-details-bin", status.SerializeToString()))
    return AioRpcError(code, Metadata(), trailing, details=message)


def test_a_reason_and_its_fields_are_read():
    violation = BadRequest.FieldViolation(field="query", description="must not be empty")
    error = error_from_rpc(
        failure(
            grpc.StatusCode.INVALID_ARGUMENT,
            "must not be empty",
            ErrorInfo(reason="INVALID_FIELD", domain="clausegate"),
            BadRequest(field_violations=[violation]),
        )
    )

    assert (error.code, error.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert error.fields == (InvalidField("query", "must not be empty"),)
    assert error.retry_after_seconds is None
    assert str(error) == "INVALID_FIELD: query: must not be empty"


def test_the_time_to_try_again_is_read():
    error = error_from_rpc(
        failure(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "the queue is full",
            ErrorInfo(reason="OVERLOADED"),
            RetryInfo(retry_delay=Duration(seconds=1, nanos=500_000_000)),
        )
    )

    assert error.retry_after_seconds == 1.5


def test_a_failure_without_details_keeps_its_code():
    error = error_from_rpc(
        AioRpcError(grpc.StatusCode.UNAVAILABLE, Metadata(), Metadata(), details="no route")
    )

    assert (error.code, error.reason, error.message) == ("UNAVAILABLE", "", "no route")
    assert str(error) == "UNAVAILABLE: no route"


def test_foreign_details_do_not_hide_the_failure():
    trailing = Metadata(("grpc-status-details-bin", b"\xff\xff"))
    error = error_from_rpc(AioRpcError(grpc.StatusCode.INTERNAL, Metadata(), trailing, details="oops"))

    assert error.message == "oops"


def test_a_failed_call_raises_the_public_error():
    with pytest.raises(ClausegateError, match="SOURCE_NOT_FOUND"), clausegate_errors():
        raise failure(grpc.StatusCode.NOT_FOUND, "no such source", ErrorInfo(reason="SOURCE_NOT_FOUND"))


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("document_ids[0]", "documentIds[0]"),
        ("at_least[2].document_id", "atLeast[2].documentId"),
        ("content_sha256", "contentSha256"),
        ("query", "query"),
    ],
)
def test_paths_of_services_are_written_as_json_names_them(path, written):
    assert json_path(path) == written
