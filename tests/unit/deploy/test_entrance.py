"""The way in from outside the cluster, in production: one host for REST and SSE, one for gRPC."""

import importlib
import pkgutil

import jsonschema
import kubernetes_validate
import pytest

import clausegate
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings
from tests.unit.deploy.gateway_api import SCHEMAS

PROCESSES = {"ingest": IngestSettings, "retrieval": RetrievalSettings, "answer": AnswerSettings}


def known_to_kubernetes(production, kind):
    found = [each for each in production.objects if each["kind"] == kind]
    try:
        return bool(kubernetes_validate.validate(found[0], "1.37", strict=True))
    except kubernetes_validate.SchemaNotFoundError:
        return False


def stubs_of_the_client():
    """Names of the services whose stubs the public package imports."""
    modules = [
        importlib.import_module(f"clausegate.{module.name}")
        for module in pkgutil.iter_modules(clausegate.__path__)
        if not module.ispkg
    ]
    return {name for module in modules for name in vars(module) if name.endswith("Stub")}


def routed(production):
    """(process, port) by service and method; the method is empty for all of them."""
    return {
        (match["method"]["service"], match["method"].get("method", "")): (
            rule["backendRefs"][0]["name"],
            rule["backendRefs"][0]["port"],
        )
        for rule in production.of("GRPCRoute")["grpc"]["spec"]["rules"]
        for match in rule["matches"]
    }


def test_every_kind_is_checked_against_a_schema_by_the_check_or_here(production):
    unknown = {
        each["kind"] for each in production.objects if not known_to_kubernetes(production, each["kind"])
    }

    assert unknown == set(SCHEMAS)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_objects_of_the_gateway_api_have_its_form(production, kind):
    for each in production.of(kind).values():
        jsonschema.validate(each, SCHEMAS[kind])


def test_routes_lead_from_listeners_to_services(production):
    listeners = {
        each["name"]: each["hostname"] for each in production.of("Gateway")["entrance"]["spec"]["listeners"]
    }
    routes = [*production.of("HTTPRoute").values(), *production.of("GRPCRoute").values()]
    ports = {
        (name, port["port"])
        for name, service in production.of("Service").items()
        for port in service["spec"]["ports"]
    }

    for route in routes:
        (parent,) = route["spec"]["parentRefs"]
        assert route["spec"]["hostnames"] == [listeners[parent["sectionName"]]]
        for rule in route["spec"]["rules"]:
            assert {(each["name"], each["port"]) for each in rule["backendRefs"]} <= ports


def test_rest_and_grpc_have_hosts_of_their_own(production):
    listeners = production.of("Gateway")["entrance"]["spec"]["listeners"]

    assert len({each["hostname"] for each in listeners}) == len(listeners) == 2


def test_all_that_the_public_client_calls_is_at_one_address(production):
    services = {service.rpartition(".")[2] for service, _ in routed(production)}

    assert {stub.removesuffix("Stub").removesuffix("Async") for stub in stubs_of_the_client()} <= services


@pytest.mark.parametrize("process", PROCESSES)
def test_a_grpc_service_is_routed_to_the_process_that_offers_it(production, process):
    port = PROCESSES[process].model_fields[f"{process}_address"].default.rpartition(":")[2]
    areas = {
        service.split(".")[1] for (service, _), to in routed(production).items() if to == (process, int(port))
    }

    assert areas == {process}


def test_nobody_but_ingest_can_write_to_the_index(production):
    index = {method for service, method in routed(production) if service.endswith(".IndexService")}

    assert index == {"DescribeIndex"}


def test_a_stream_of_events_is_not_ended_by_the_entrance(production):
    (rule,) = production.of("HTTPRoute")["rest"]["spec"]["rules"]

    assert rule["timeouts"] == {"request": "0s"}
