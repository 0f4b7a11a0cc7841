import re

import pytest

from clausegate.rpc.v1 import error_reason_pb2
from gateway.contracts import load_contracts
from gateway.openapi import openapi_document

DOCUMENT = openapi_document(load_contracts())
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    (verb.upper(), path): operation
    for path, item in DOCUMENT["paths"].items()
    for verb, operation in item.items()
}


def inside(value):
    """Every object within a JSON value, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inside(inner)


def resolved(reference):
    here = DOCUMENT
    for key in reference.removeprefix("#/").split("/"):
        here = here[key]
    return here


def event_names(content):
    kinds = content["text/event-stream"]["schema"]["oneOf"]
    return [kind["properties"]["event"]["const"] for kind in kinds]


def test_every_reference_leads_somewhere():
    references = [each["$ref"] for each in inside(DOCUMENT) if "$ref" in each]
    assert all(resolved(reference) for reference in references)


def test_every_schema_is_used():
    used = {each["$ref"] for each in inside(DOCUMENT) if "$ref" in each}
    assert {f"#/components/schemas/{name}" for name in SCHEMAS} <= used


def test_every_route_of_the_contracts_is_there():
    methods = load_contracts().methods
    routes = {
        (binding.verb, re.sub(r"\{(\w+)(=\*\*)?\}", "", binding.template))
        for method in methods
        for binding in method.bindings
    }
    documented = {(verb, re.sub(r"\{\w+\}", "", path)) for verb, path in OPERATIONS}
    assert documented - routes == {("GET", "/healthz"), ("GET", "/readyz")}
    assert routes <= documented


def test_operation_ids_are_unique_and_every_operation_is_described():
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(ids) == len(set(ids))
    assert all(operation["summary"] for operation in OPERATIONS.values())
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    assert all(set(operation["tags"]) <= tags for operation in OPERATIONS.values())


def test_every_variable_of_a_path_is_a_required_parameter():
    for (_, path), operation in OPERATIONS.items():
        declared = {each["name"] for each in operation.get("parameters", []) if each.get("in") == "path"}
        assert set(re.findall(r"\{(\w+)\}", path)) == declared


def test_comments_of_the_protos_are_the_descriptions():
    query = SCHEMAS["answer.v1.QueryRequest"]["properties"]["query"]
    assert query["description"].startswith("The question in the user's words; 1 to 8,000 characters")
    assert OPERATIONS["POST", "/v1/query"]["summary"] == "One cited answer, or one refusal"
    assert all(schema["description"] for schema in SCHEMAS.values())
    assert all(
        field.get("description") or "$ref" in field or field["type"]
        for schema in SCHEMAS.values()
        for field in schema.get("properties", {}).values()
    )


@pytest.mark.parametrize(
    ("schema", "field", "expected"),
    [
        ("corpus.v1.Document", "sizeBytes", {"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"}),
        ("corpus.v1.Certificate", "signature", {"type": ["string", "null"], "contentEncoding": "base64"}),
        ("corpus.v1.Document", "indexedAt", {"type": "string", "format": "date-time"}),
        ("answer.v1.Metadata", "latency", {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"}),
        ("corpus.v1.Document", "pageCount", {"type": "integer", "format": "int32"}),
        ("corpus.v1.Document", "format", {"$ref": "#/components/schemas/corpus.v1.DocumentFormat"}),
        (
            "retrieval.v1.SearchResponse",
            "candidates",
            {"type": "array", "items": {"$ref": "#/components/schemas/retrieval.v1.Candidate"}},
        ),
    ],
)
def test_types_follow_the_proto3_json_mapping(schema, field, expected):
    found = dict(SCHEMAS[schema]["properties"][field])
    found.pop("description")
    assert found == expected


def test_requests_take_no_other_fields_and_responses_promise_theirs():
    assert SCHEMAS["answer.v1.QueryRequest"]["additionalProperties"] is False
    response = SCHEMAS["answer.v1.QueryResponse"]
    assert "answer" in response["required"]
    assert "refusal" not in response["required"]
    assert "additionalProperties" not in response


def test_null_may_stand_for_a_request_field_that_is_not_set():
    properties = SCHEMAS["retrieval.v1.SearchRequest"]["properties"]
    assert properties["query"]["type"] == ["string", "null"]
    assert {"type": "null"} in properties["mode"]["anyOf"]


def test_fields_of_a_get_are_query_parameters_but_messages_are_not():
    parameters = {each.get("name"): each for each in OPERATIONS["GET", "/v1/definitions"]["parameters"]}
    assert parameters["terms"]["schema"] == {"type": "array", "items": {"type": "string"}}
    assert parameters["terms"]["in"] == "query"
    assert "passages" not in parameters


def test_a_boolean_field_of_a_get_is_a_query_parameter():
    parameters = {each.get("name"): each for each in OPERATIONS["GET", "/v1/articles"]["parameters"]}
    assert (parameters["stale"]["in"], parameters["stale"]["schema"]) == ("query", {"type": "boolean"})


def test_a_body_beside_a_path_variable_may_leave_it_out():
    body = OPERATIONS["PUT", "/v1/projects/{projectId}"]["requestBody"]
    assert body["description"] == "May leave out `projectId`, which the path names."
    assert "description" not in OPERATIONS["POST", "/v1/projects"]["requestBody"]


def test_services_come_in_the_order_of_their_use():
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    assert (tags[0], tags[-2:]) == ("QueryService", ["IndexService", "Health"])


def test_a_stream_lists_its_events():
    content = OPERATIONS["POST", "/v1/query:stream"]["responses"]["200"]["content"]
    events = event_names(content)
    assert events[0] == "retrieved"
    assert events[-2:] == ["completed", "error"]
    assert "application/json" not in content


def test_research_sends_results_and_is_done():
    content = OPERATIONS["POST", "/v1/projects/{project}/research/query"]["responses"]["200"]["content"]
    assert event_names(content) == ["result", "done", "error"]
    done = SCHEMAS["answer.v1.SnippetsDone"]
    assert done["properties"]["processingTimeMs"]["type"] == "integer"
    assert {"resultCount", "summary", "processingTimeMs", "noResults"} <= set(done["required"])


def test_the_upload_takes_a_form_and_answers_a_receipt_or_events():
    operation = OPERATIONS["POST", "/v1/documents"]
    form = operation["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["source", "path", "file"]
    assert form["properties"]["path"]["description"].startswith("Path below the source")
    content = operation["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/ingest.v1.IngestReceipt"}
    assert event_names(content) == ["progress", "receipt", "error"]


def test_every_reason_is_documented():
    names = {
        name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.DESCRIPTOR.values_by_name
    }
    explained = SCHEMAS["Reason"]["x-enum-descriptions"]
    assert set(explained) == names - {"UNSPECIFIED"}
    assert all(explained.values())


def test_every_operation_on_services_can_fail_with_a_problem():
    for (_, path), operation in OPERATIONS.items():
        failures = {"4XX", "5XX"} if path.startswith("/v1/") else set()
        assert failures <= set(operation["responses"])
