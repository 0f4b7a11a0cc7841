import grpc
import pytest

from chassis import errors
from gateway.errors import (
    BodyTooLarge,
    MethodNotAllowed,
    RouteNotFound,
    UnsupportedContentType,
    UploadTooLarge,
)
from gateway.problems import HTTP_STATUS, problem_of, problem_response
from services.ingest.errors import DocumentConflict, DocumentNotFound
from services.retrieval.queries import IndexBehind


def test_every_grpc_code_but_ok_has_an_http_status():
    assert set(HTTP_STATUS) == {code.name for code in grpc.StatusCode} - {"OK"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidInput("m"), 400),
        (DocumentNotFound("m"), 404),
        (DocumentConflict("m"), 409),
        (IndexBehind("m"), 400),
        (errors.Exhausted("m"), 429),
        (errors.Unavailable("m"), 503),
        (errors.DeadlineExceeded("m"), 504),
        (errors.InternalError("m"), 500),
        (errors.UpstreamError("m", code="INVALID_ARGUMENT", reason="DOCUMENT_TOO_LARGE"), 413),
        (UnsupportedContentType("m"), 415),
        (UploadTooLarge("m"), 413),
        (BodyTooLarge("m"), 413),
        (RouteNotFound("m"), 404),
        (MethodNotAllowed("m", "GET"), 405),
    ],
)
def test_errors_have_the_status_that_http_has_for_them(error, status):
    assert problem_response(error).status_code == status


def test_a_problem_names_reason_field_and_wait():
    error = errors.Exhausted("The queue is full.", field="query", retry_after_seconds=0.2)
    assert problem_of(error) == {
        "type": "/docs#OVERLOADED",
        "title": "Overloaded",
        "status": 429,
        "detail": "The queue is full.",
        "reason": "OVERLOADED",
        "errors": [{"field": "query", "description": "The queue is full."}],
        "traceId": "",
        "retryAfterSeconds": 0.2,
    }
    assert problem_response(error).headers["Retry-After"] == "1"


def test_a_field_that_the_client_wrote_is_repeated_as_it_is():
    problem = problem_of(errors.InvalidInput("There is no such field.", field="top_kk"))
    assert problem["errors"] == [{"field": "top_kk", "description": "There is no such field."}]
