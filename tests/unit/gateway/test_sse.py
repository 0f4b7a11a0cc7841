import json

from hypothesis import given
from hypothesis import strategies as st

from clausegate.answer.v1 import query_service_pb2
from clausegate.ingest.v1 import ingest_service_pb2
from gateway.sse import encode, named_event


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_data_is_one_line_whatever_the_text(text):
    lines = encode("statement", {"text": text}, 7).split(b"\n")
    assert lines[0] == b"event: statement"
    assert lines[1] == b"id: 7"
    assert json.loads(lines[2].removeprefix(b"data: ")) == {"text": text}
    assert lines[3:] == [b"", b""]
    assert b"\r" not in lines[2]


def test_an_event_is_named_after_the_field_that_is_set():
    refused = query_service_pb2.StreamQueryResponse(refused=query_service_pb2.Refused())
    assert named_event(refused) == ("refused", {})


def test_a_message_without_a_choice_is_an_event_as_a_whole():
    response = ingest_service_pb2.GetOriginalResponse(data=b"x")
    assert named_event(response) == ("message", {"data": "eA=="})
