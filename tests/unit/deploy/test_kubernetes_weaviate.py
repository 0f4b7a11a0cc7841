"""How Weaviate runs in deploy/k8s."""

from tests.unit.deploy.manifests import GIBI, quantity


def test_weaviate_gives_memory_back_before_its_limit(manifests):
    limit = quantity(manifests.workloads["weaviate"].container["resources"]["limits"]["memory"])

    assert 0.75 * limit <= quantity(manifests.environment("weaviate")["GOMEMLIMIT"]) <= 0.9 * limit


def test_weaviates_first_start_waits_for_all_its_nodes(manifests):
    replicas = manifests.workloads["weaviate"].spec["replicas"]
    settings = manifests.environment("weaviate")

    assert settings["RAFT_JOIN"].split(",") == [f"weaviate-{number}" for number in range(replicas)]
    assert int(settings["RAFT_BOOTSTRAP_EXPECT"]) == replicas
    assert manifests.workloads["weaviate"].spec["podManagementPolicy"] == "Parallel"


def test_a_node_of_weaviate_is_repaired_before_the_next_one_is_rolled(manifests):
    assert manifests.workloads["weaviate"].spec["minReadySeconds"] == 60


def test_weaviates_nodes_find_each_other_before_they_are_ready(manifests):
    peers = manifests.of("Service")["weaviate-peers"]["spec"]
    host, _, port = manifests.environment("weaviate")["CLUSTER_JOIN"].partition(":")

    assert (host, int(port)) == ("weaviate-peers", peers["ports"][0]["port"])
    assert peers["publishNotReadyAddresses"] is True
    assert manifests.workloads["weaviate"].spec["serviceName"] == "weaviate-peers"


def test_nobody_uses_weaviate_without_its_key(manifests):
    settings = manifests.environment("weaviate")

    assert settings["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"
    assert settings["AUTHENTICATION_APIKEY_ENABLED"] == settings["AUTHORIZATION_RBAC_ENABLED"] == "true"
    assert settings["AUTHENTICATION_APIKEY_USERS"] == settings["AUTHORIZATION_RBAC_ROOT_USERS"]


def test_production_keeps_three_copies_on_three_nodes(production):
    assert production.workloads["weaviate"].spec["replicas"] == 3
    assert production.environment("retrieval")["CLAUSEGATE_WEAVIATE_REPLICAS"] == "3"
    assert quantity(production.workloads["weaviate"].container["resources"]["limits"]["memory"]) == 8 * GIBI
    assert production.of("PodDisruptionBudget")["weaviate"]["spec"]["maxUnavailable"] == 1
