"""What TLS changes: of the manifests in production (overlays/prod-tls), and of compose."""

import shutil

import pytest
import yaml

from tests.unit.deploy.manifests import ROOT, rendered
from tests.unit.deploy.processes import SETTINGS, settings_of

OURS = ("gateway", "ingest", "retrieval", "answer")
GRPC = ("ingest", "retrieval", "answer")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.tls.yml").read_text())["services"]


@pytest.fixture(scope="module")
def manifests():
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed: `make check` needs it")
    return rendered("prod-tls")


@pytest.mark.parametrize("name", OURS)
def test_the_files_of_every_process_come_from_one_secret(manifests, name, monkeypatch):
    workload = manifests.workloads[name]
    files = settings_of(manifests, name, monkeypatch).tls_files()
    (volume,) = [each["secret"] for each in workload.pod["volumes"] if each["name"] == "tls"]
    (mount,) = [each for each in workload.container["volumeMounts"] if each["name"] == "tls"]

    assert {str(each.parent) for each in (files.certificate, files.key, files.ca)} == {mount["mountPath"]}
    assert (mount["readOnly"], volume["secretName"]) == (True, "clausegate-internal-tls")
    assert "secret generic clausegate-internal-tls" in (ROOT / "docs/tls.md").read_text()


@pytest.mark.parametrize("name", GRPC)
def test_a_service_is_asked_by_the_probe_of_its_image(manifests, name):
    workload = manifests.workloads[name]
    asked = {
        kind: workload.container[f"{kind}Probe"]["exec"]["command"][3:]
        for kind in ("startup", "readiness", "liveness")
    }
    address = f"127.0.0.1:{workload.ports['grpc']}"

    assert asked == {
        "startup": [address, "liveness"],
        "readiness": [address],
        "liveness": [address, "liveness"],
    }


def test_the_gateway_is_asked_by_https(manifests):
    container = manifests.workloads["gateway"].container
    asked = {container[f"{kind}Probe"]["httpGet"]["scheme"] for kind in ("startup", "readiness", "liveness")}

    assert asked == {"HTTPS"}


def test_the_entrance_calls_every_process_by_tls(manifests):
    policy = manifests.of("BackendTLSPolicy")["processes"]["spec"]
    protocols = {name: manifests.of("Service")[name]["spec"]["ports"][0].get("appProtocol") for name in OURS}

    assert {each["name"] for each in policy["targetRefs"]} == set(OURS)
    assert policy["validation"]["hostname"] in OURS
    assert set(protocols.values()) == {None}


@pytest.mark.parametrize("name", OURS)
def test_with_compose_processes_start_with_their_settings(name, monkeypatch):
    for variable, value in COMPOSE[name]["environment"].items():
        monkeypatch.setenv(variable, value)
    files = SETTINGS[name]().tls_files()

    assert files.client_certificates is (name != "gateway")
    assert COMPOSE[name]["volumes"] == [f"tls:{files.ca.parent}:ro"]
