"""What every request is checked for before anything reads it."""

import pytest

from chassis.errors import InvalidInput
from chassis.limits.size import MAX_NAME_BYTES
from chassis.requests import check_request
from clausegate.answer.v1.grounding_service_pb2 import CheckGroundingRequest, VerifyCitationRequest
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.retrieval.v1.document_service_pb2 import GetDocumentRequest


def field_at_fault(request) -> str | None:
    with pytest.raises(InvalidInput) as refused:
        check_request(request)
    assert len(refused.value.message) < 100
    return refused.value.field


@pytest.mark.parametrize("number", [99, -1, 2**31 - 1])
def test_a_number_that_no_choice_has_is_refused_wherever_it_stands(number):
    request = VerifyCitationRequest(citation=Citation(match_level=number))
    assert field_at_fault(request) == "citation.match_level"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (GetDocumentRequest(document_id="x" * (MAX_NAME_BYTES + 1)), "document_id"),
        (GetDocumentRequest(document_id="é" * (MAX_NAME_BYTES // 2 + 1)), "document_id"),
        (CheckGroundingRequest(text="x", sources=["a", "x" * 5_000]), "sources[1]"),
    ],
)
def test_a_name_that_nothing_can_have_is_refused_and_not_repeated(request_, field):
    assert field_at_fault(request_) == field


@pytest.mark.parametrize(
    "request_",
    [
        GetDocumentRequest(document_id="x" * MAX_NAME_BYTES),
        CheckGroundingRequest(text="x" * 20_000),
        VerifyCitationRequest(citation=Citation(match_level=1, quote="x" * 5_000)),
        b"bytes of a service that has no contract",
    ],
)
def test_texts_and_known_choices_pass(request_):
    check_request(request_)
