"""How the pods of deploy/k8s live, die, and are kept apart."""

import pytest

from chassis.server import LIVENESS
from gateway.wiring import LAST_WORDS_SECONDS
from services.answer.records.record_files import PATIENCE_SECONDS
from tests.unit.deploy.processes import settings_of

OURS = ("gateway", "ingest", "retrieval", "answer")
GRPC = ("ingest", "retrieval", "answer")
SCALED = ("gateway", "retrieval", "answer")
ALL = (*OURS, "weaviate", "otel-collector")
TELEMETRY_SECONDS = 10
"""What the last spans and metrics may take, by OpenTelemetry's defaults."""


def probes(workload):
    return {kind: workload.container[f"{kind}Probe"] for kind in ("startup", "readiness", "liveness")}


@pytest.mark.parametrize("name", GRPC)
def test_a_service_that_waits_for_another_is_not_ready_but_alive(manifests, name):
    port = manifests.workloads[name].ports["grpc"]
    asked = {kind: probe["grpc"] for kind, probe in probes(manifests.workloads[name]).items()}

    # An index that lost documents answers nothing, and must be reached by what fills it again.
    filled = {"service": "clausegate.retrieval.v1.IndexService"} if name == "retrieval" else {}
    assert asked == {
        "startup": {"port": port, "service": LIVENESS},
        "readiness": {"port": port, **filled},
        "liveness": {"port": port, "service": LIVENESS},
    }


def test_the_gateway_goes_on_telling_callers_when_a_service_is_away(manifests):
    asked = {probe["httpGet"]["path"] for probe in probes(manifests.workloads["gateway"]).values()}

    assert asked == {"/healthz"}


@pytest.mark.parametrize("name", ALL)
def test_probes_ask_ports_that_the_container_has(manifests, name):
    ports = manifests.workloads[name].ports

    for probe in probes(manifests.workloads[name]).values():
        asked = (probe.get("httpGet") or probe["grpc"])["port"]
        assert asked in ports or asked in ports.values()


@pytest.mark.parametrize("name", OURS)
def test_running_calls_end_before_the_pod_is_killed(manifests, name, monkeypatch):
    workload = manifests.workloads[name]
    drain = settings_of(manifests, name, monkeypatch).drain_seconds
    last = max(PATIENCE_SECONDS, LAST_WORDS_SECONDS) + TELEMETRY_SECONDS
    before = workload.container["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert before + drain + last < workload.pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("name", SCALED)
def test_a_process_that_holds_nothing_scales_and_survives_maintenance(manifests, name):
    workload = manifests.workloads[name]
    scaler = manifests.of("HorizontalPodAutoscaler")[name]["spec"]
    budget = manifests.of("PodDisruptionBudget")[name]["spec"]

    assert (scaler["scaleTargetRef"]["kind"], scaler["scaleTargetRef"]["name"]) == (workload.kind, name)
    assert "replicas" not in workload.spec  # the scaler's, or every apply would undo what it did
    assert manifests.selected(budget["selector"]["matchLabels"]) == {name}
    assert budget["maxUnavailable"] == 1


@pytest.mark.parametrize(
    ("name", "policy"), [*((each, "AlwaysAllow") for each in SCALED), ("weaviate", None)]
)
def test_a_pod_that_waits_for_another_holds_no_machine_back_but_one_that_recovers_data_does(
    manifests, name, policy
):
    budget = manifests.of("PodDisruptionBudget")[name]["spec"]

    assert budget.get("unhealthyPodEvictionPolicy") == policy


@pytest.mark.parametrize("name", [*SCALED, "weaviate"])
def test_replicas_are_spread_over_machines_and_zones(manifests, name):
    workload = manifests.workloads[name]
    spread = {
        each["topologyKey"]: each["labelSelector"] for each in workload.pod["topologySpreadConstraints"]
    }
    apart = workload.pod.get("affinity", {}).get("podAntiAffinity", {})
    machines = {
        each["topologyKey"]: each["labelSelector"]
        for each in apart.get("requiredDuringSchedulingIgnoredDuringExecution", ())
    }

    over = {**spread, **machines}
    assert set(over) == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
    assert all(manifests.selected(each["matchLabels"]) == {name} for each in over.values())


@pytest.mark.parametrize("name", ["ingest", "answer", "weaviate"])
def test_who_keeps_files_has_a_volume_for_each_pod_and_never_two_pods_for_one(manifests, name):
    workload = manifests.workloads[name]
    claims = {claim["metadata"]["name"]: claim["spec"] for claim in workload.spec["volumeClaimTemplates"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in workload.container["volumeMounts"]}
    folder = {"weaviate": manifests.environment("weaviate").get("PERSISTENCE_DATA_PATH")}

    assert workload.kind == "StatefulSet"
    assert workload.spec["serviceName"] in manifests.of("Service")
    assert [mounts[claim] for claim in claims] == [folder.get(name, "/var/lib/clausegate")]
    assert all(spec["accessModes"] == ["ReadWriteOnce"] for spec in claims.values())
    assert workload.spec["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Retain"


def test_the_archive_has_one_owner(manifests):
    assert manifests.workloads["ingest"].spec["replicas"] == 1
    assert "ingest" not in manifests.of("HorizontalPodAutoscaler")


def test_the_index_is_made_anew_only_when_somebody_asks_and_as_retrieval_would(manifests):
    retrieval, reindex = manifests.workloads["retrieval"], manifests.workloads["reindex"]

    assert manifests.of("CronJob")["reindex"]["spec"]["suspend"] is True
    assert reindex.container["image"] == retrieval.container["image"]
    assert reindex.container["envFrom"] == retrieval.container["envFrom"][1:]
