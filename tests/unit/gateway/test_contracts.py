import pytest
from google.api import http_pb2

from gateway.contracts import Binding, UnsupportedContract, binding_of, load_contracts

CONTRACTS = load_contracts()
METHODS = {method.full_name: method for method in CONTRACTS.methods}


def test_every_annotated_method_is_found_with_all_its_routes():
    found = METHODS["clausegate.retrieval.v1.RetrievalService.FindDefinitions"]
    assert [(binding.verb, binding.path) for binding in found.bindings] == [
        ("GET", "/v1/definitions"),
        ("POST", "/v1/definitions:find"),
    ]
    assert [binding.has_body for binding in found.bindings] == [False, True]


def test_methods_without_annotation_have_no_route():
    assert "clausegate.retrieval.v1.IndexService.ReplaceDocument" not in METHODS


def test_no_two_methods_share_a_route():
    routes = [(b.verb, b.path) for method in CONTRACTS.methods for b in method.bindings]
    assert len(routes) == len(set(routes))


def test_a_method_knows_how_it_streams_and_who_serves_it():
    method = METHODS["clausegate.answer.v1.QueryService.StreamQuery"]
    assert (method.streams_requests, method.streams_responses) == (False, True)
    assert method.area == "answer"
    assert method.rpc_path == "/clausegate.answer.v1.QueryService/StreamQuery"


@pytest.mark.parametrize(
    "name",
    [
        "clausegate.answer.v1.QueryService",
        "clausegate.answer.v1.QueryService.Query",
        "clausegate.answer.v1.QueryRequest",
        "clausegate.answer.v1.QueryRequest.query",
        "clausegate.answer.v1.StreamQueryResponse.retrieved",
        "clausegate.corpus.v1.MatchLevel.MATCH_LEVEL_EXACT",
        "clausegate.rpc.v1.ErrorReason.ERROR_REASON_INTERNAL",
    ],
)
def test_comments_are_found_by_full_name(name):
    assert CONTRACTS.comments[name].endswith(".")


def test_comments_are_unwrapped():
    assert all("\n" not in text.replace("\n\n", "") for text in CONTRACTS.comments.values())


def test_a_variable_of_several_segments_becomes_a_path():
    binding = Binding("GET", "/v1/documents/{document_id=**}", has_body=False)
    assert binding.path == "/v1/documents/{document_id:path}"
    assert binding.path_fields == ("document_id",)


@pytest.mark.parametrize("template", ["/v1/projects/{project}/query", "/v1/projects/{project=*}/query"])
def test_a_variable_of_one_segment_stays_one(template):
    assert Binding("GET", template, has_body=False).path == "/v1/projects/{project}/query"


@pytest.mark.parametrize(
    "rule",
    [
        http_pb2.HttpRule(get="/v1/{name=projects/*}"),
        http_pb2.HttpRule(get="/v1/*/documents"),
        http_pb2.HttpRule(post="/v1/query", body="query"),
        http_pb2.HttpRule(get="/v1/query", response_body="answer"),
        http_pb2.HttpRule(custom=http_pb2.CustomHttpPattern(kind="LINK", path="/v1/query")),
        http_pb2.HttpRule(),
    ],
)
def test_what_the_bridge_cannot_do_is_refused_at_the_start(rule):
    with pytest.raises(UnsupportedContract):
        binding_of(rule)
