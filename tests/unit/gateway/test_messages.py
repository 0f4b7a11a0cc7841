import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidInput, ServiceError
from clausegate.answer.v1 import answer_pb2
from clausegate.corpus.v1 import citation_pb2, document_pb2
from clausegate.retrieval.v1 import retrieval_service_pb2
from gateway.errors import MalformedRequest
from gateway.messages import MAX_DEPTH, expected, fill, parse_json, query_object, to_json, to_object

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
FIELD_NAMES = [field.json_name for field in retrieval_service_pb2.SearchRequest.DESCRIPTOR.fields]


@given(
    st.builds(
        retrieval_service_pb2.SearchRequest,
        query=TEXT,
        sources=st.lists(TEXT, max_size=3),
        mode=st.integers(0, 4),
        top_k=st.integers(-(2**31), 2**31 - 1),
        route=st.none() | st.booleans(),
        at_least=st.lists(st.builds(retrieval_service_pb2.DocumentVersion, document_id=TEXT), max_size=2),
    )
)
def test_a_message_survives_its_json(message):
    again = type(message)()
    fill(again, parse_json(to_json(to_object(message))))
    assert again == message


@given(st.binary(max_size=32), st.integers(-(2**63), 2**63 - 1))
def test_bytes_and_long_integers_survive_their_json(signature, size):
    for message in (
        citation_pb2.Certificate(signature=signature),
        document_pb2.Document(size_bytes=size),
    ):
        again = type(message)()
        fill(again, parse_json(to_json(to_object(message))))
        assert again == message


@pytest.mark.parametrize("text", ["%%%", "abc def", "é", "ab=c", "a", "====", 5, True])
def test_bytes_that_are_no_base64_are_refused(text):
    with pytest.raises(InvalidInput) as caught:
        fill(citation_pb2.Citation(), {"certificate": {"signature": text}})
    assert (caught.value.field, caught.value.message) == ("certificate.signature", "Must be bytes in base64.")


@pytest.mark.parametrize("text", ["+/8=", "-_8=", "-_8", ""])
def test_bytes_may_be_in_either_alphabet_padded_or_not(text):
    message = citation_pb2.Certificate()
    fill(message, {"signature": text})
    assert message.signature == (b"\xfb\xff" if text else b"")


def test_times_and_durations_survive_their_json():
    metadata = answer_pb2.Metadata()
    metadata.finished_at.FromJsonString("2025-01-31T12:00:00.5Z")
    metadata.latency.FromJsonString("1.5s")
    again = answer_pb2.Metadata()
    fill(again, to_object(metadata))
    assert again == metadata


@given(st.dictionaries(st.sampled_from(FIELD_NAMES), JSON, max_size=4) | JSON)
def test_any_json_fills_a_message_or_is_an_error_of_ours(value):
    message = retrieval_service_pb2.SearchRequest()
    try:
        fill(message, value)
    except ServiceError as error:
        json.dumps([error.message, error.field], ensure_ascii=False).encode()


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_json_or_an_error_of_ours(body):
    with contextlib.suppress(ServiceError):
        parse_json(body)


@given(JSON)
def test_json_is_read_as_it_was_written(value):
    assert parse_json(json.dumps(value).encode()) == value


def test_fields_without_presence_are_always_printed_and_others_only_when_set():
    candidate = to_object(retrieval_service_pb2.Candidate())
    assert candidate == {"fusedScore": 0.0, "rankingScore": 0.0, "windows": []}


def test_unset_enums_are_printed_by_name():
    assert to_object(document_pb2.Document())["format"] == "DOCUMENT_FORMAT_UNSPECIFIED"


def test_text_is_printed_as_it_is():
    assert to_json({"a": "§ 1 – “ü”"}) == '{"a":"§ 1 – “ü”"}'.encode()


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 10_000])
def test_deep_nesting_is_malformed(depth):
    body = b'{"atLeast":[' * depth + b"]}" * depth
    with pytest.raises(MalformedRequest):
        fill(retrieval_service_pb2.SearchRequest(), parse_json(body))


def test_only_one_field_of_a_choice_may_be_given():
    message = retrieval_service_pb2.SearchRequest()
    with pytest.raises(MalformedRequest) as caught:
        fill(message, {"topK": 1, "top_k": 1})
    assert caught.value.field == "topK"


def test_long_unknown_names_are_cut():
    with pytest.raises(MalformedRequest) as caught:
        fill(retrieval_service_pb2.SearchRequest(), {"x" * 10_000: 1})
    assert caught.value.field == "x" * 100


@pytest.mark.parametrize(
    ("message", "name", "text"),
    [
        (retrieval_service_pb2.SearchRequest, "top_k", "an integer from -2147483648 to 2147483647"),
        (retrieval_service_pb2.SearchRequest, "background", "true or false"),
        (retrieval_service_pb2.Candidate, "ranking_score", "a number"),
        (document_pb2.Document, "size_bytes", f"an integer from {-(2**63)} to {2**63 - 1}"),
        (document_pb2.Document, "indexed_at", "an RFC 3339 time such as 2025-01-31T12:00:00Z"),
        (answer_pb2.Metadata, "latency", "seconds such as 1.5s"),
        (citation_pb2.Certificate, "signature", "bytes in base64"),
    ],
)
def test_what_a_field_expects_is_said_in_words(message, name, text):
    assert expected(message.DESCRIPTOR.fields_by_name[name]) == text


def test_query_parameters_are_collected_by_field():
    message = retrieval_service_pb2.SearchRequest()
    parameters = [("sources", "a"), ("background", "true"), ("sources", "b"), ("top_k", "3")]
    asked = query_object(message, parameters)
    assert asked == {"sources": ["a", "b"], "background": True, "topK": "3"}
