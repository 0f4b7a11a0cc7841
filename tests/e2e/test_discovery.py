"""A client that knows nothing of the product finds and calls it by reflection and health alone."""

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICES = [
    "clausegate.answer.v1.QueryService",
    "clausegate.ingest.v1.IngestService",
    "clausegate.retrieval.v1.DocumentService",
    "clausegate.retrieval.v1.IndexService",
    "clausegate.retrieval.v1.RetrievalService",
]


@pytest.fixture
def channel(filled):
    with grpc.insecure_channel(filled.grpc) as channel:
        yield channel


def call(channel, service, method, **fields):
    """One unary call with messages made from what reflection says."""
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    described = pool.FindServiceByName(service).FindMethodByName(method)
    invoke = channel.unary_unary(
        f"/{service}/{method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=GetMessageClass(described.output_type).FromString,
    )
    return invoke(GetMessageClass(described.input_type)(**fields), timeout=20)


def test_reflection_lists_every_service(channel):
    assert set(SERVICES) <= set(ProtoReflectionDescriptorDatabase(channel).get_services())


@pytest.mark.parametrize("service", ["", *SERVICES])
def test_every_service_is_healthy(channel, service):
    stub = health_pb2_grpc.HealthStub(channel)

    status = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=20).status

    assert status == health_pb2.HealthCheckResponse.SERVING


def test_a_generic_client_asks_by_reflection_alone(channel):
    response = call(
        channel, "clausegate.answer.v1.QueryService", "Query", query="Which law governs the agreement?"
    )

    assert "Republic of Ireland" in response.answer


def test_a_generic_client_lists_documents_by_reflection_alone(channel):
    response = call(channel, "clausegate.retrieval.v1.DocumentService", "ListDocuments", page_size=2)

    assert len(response.documents) == 2
    assert response.next_page_token
