"""Who reaches whom in deploy/k8s: Services, addresses, and the arrows of the architecture as policies."""

import re

import pytest

from tests.unit.deploy.manifests import arrows

OURS = ("gateway", "ingest", "retrieval", "answer")
GRPC = ("ingest", "retrieval", "answer")
ALL = (*OURS, "reindex", "weaviate", "otel-collector")
ARROWS = {
    ("entrance", "gateway", 8000),
    ("entrance", "ingest", 7001),
    ("entrance", "retrieval", 7002),
    ("entrance", "answer", 7003),
    ("gateway", "ingest", 7001),
    ("gateway", "retrieval", 7002),
    ("gateway", "answer", 7003),
    ("ingest", "retrieval", 7002),
    ("answer", "retrieval", 7002),
    ("retrieval", "weaviate", 8080),
    ("retrieval", "weaviate", 50051),
    ("reindex", "weaviate", 8080),
    ("reindex", "weaviate", 50051),
    *(("weaviate", "weaviate", port) for port in (7946, 7947, 8300, 8301)),
    *((each, "otel-collector", 4317) for each in OURS),
    ("monitoring", "otel-collector", 8888),
    ("monitoring", "otel-collector", 8889),
    ("monitoring", "weaviate", 2112),
}
OUTWARD = {("retrieval", "internet", 443), ("reindex", "internet", 443), ("answer", "internet", 443)}


def test_every_process_is_there_and_nothing_else_runs(manifests):
    assert set(manifests.workloads) == set(ALL)


def test_a_service_selects_pods_that_have_its_ports(manifests):
    for name, service in manifests.of("Service").items():
        selected = manifests.selected(service["spec"]["selector"])
        ports = {port["targetPort"]: port["port"] for port in service["spec"]["ports"]}

        assert len(selected) == 1, name
        assert ports.items() <= manifests.workloads[selected.pop()].ports.items(), name


@pytest.mark.parametrize("name", GRPC)
def test_callers_of_a_grpc_service_see_every_replica(manifests, name):
    assert manifests.of("Service")[name]["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize("name", OURS)
def test_an_address_that_a_process_is_told_is_that_of_a_service(manifests, name):
    ports = {
        (service, port["port"])
        for service, found in manifests.of("Service").items()
        for port in found["spec"]["ports"]
    }
    told = {
        (address[1], int(address[2]))
        for value in manifests.environment(name).values()
        if (address := re.fullmatch(r"(?:http://)?([a-z-]+):(\d+)", value))
    }

    assert told
    assert told <= ports


@pytest.mark.parametrize("name", OURS)
def test_a_process_may_reach_the_addresses_that_it_is_told(manifests, name):
    told = {
        (name, address[1], int(address[2]))
        for value in manifests.environment(name).values()
        if (address := re.fullmatch(r"(?:http://)?([a-z-]+):(\d+)", value))
    }

    assert told <= set(arrows(manifests, "egress"))


def test_the_arrows_are_those_of_the_design_seen_from_both_ends(manifests):
    outside = {"entrance", "monitoring"}
    inward = set(arrows(manifests, "ingress"))
    outward = {arrow for arrow in arrows(manifests, "egress") if arrow[1] != "names"}

    assert inward == ARROWS
    assert outward == {arrow for arrow in ARROWS if arrow[0] not in outside} | OUTWARD


def test_what_no_policy_allows_is_denied(manifests):
    nothing = manifests.of("NetworkPolicy")["nothing"]["spec"]

    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_every_pod_may_resolve_names(manifests):
    assert {arrow for arrow in arrows(manifests, "egress") if arrow[1] == "names"} == {
        (name, "names", 53) for name in ALL
    }


def test_a_model_server_is_never_one_of_the_clusters_own_machines(manifests):
    blocks = [
        peer["ipBlock"]
        for policy in manifests.of("NetworkPolicy").values()
        for rule in policy["spec"].get("egress", ())
        for peer in rule["to"]
        if "ipBlock" in peer
    ]

    assert len(blocks) == len(OUTWARD)
    assert all({"10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"} <= set(block["except"]) for block in blocks)
