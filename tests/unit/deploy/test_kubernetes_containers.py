"""What the containers of deploy/k8s may do and take, and what they are made from."""

import re

import pytest
import yaml

from tests.unit.deploy.manifests import MEBI, ROOT, quantity
from tests.unit.deploy.pod_security import violations
from tests.unit.deploy.processes import settings_of

OURS = ("gateway", "ingest", "retrieval", "answer")
ALL = (*OURS, "reindex", "weaviate", "otel-collector")


@pytest.mark.parametrize("name", ALL)
def test_a_pod_keeps_the_restricted_standard_that_its_namespace_enforces(manifests, name):
    namespace = manifests.of("Namespace")["clausegate"]["metadata"]["labels"]

    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"
    assert violations(manifests.workloads[name].pod) == []


@pytest.mark.parametrize("name", ALL)
def test_a_container_gets_no_token_and_writes_nowhere_but_in_volumes(manifests, name):
    workload = manifests.workloads[name]

    assert workload.pod["automountServiceAccountToken"] is False
    assert workload.container["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.parametrize("name", ALL)
def test_a_container_says_what_it_takes(manifests, name):
    resources = manifests.workloads[name].container["resources"]

    for resource in ("cpu", "memory"):
        assert 0 < quantity(resources["requests"][resource]) <= quantity(resources["limits"][resource])


def test_everything_is_in_the_one_namespace(manifests):
    homes = {each["metadata"].get("namespace") for each in manifests.objects if each["kind"] != "Namespace"}

    assert homes == {"clausegate"}


@pytest.mark.parametrize("name", ALL)
def test_an_image_is_pinned(manifests, name):
    assert re.fullmatch(
        r"[a-z0-9./-]+:(dev|\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?)",
        manifests.workloads[name].container["image"],
    )


def test_images_in_production_are_those_of_this_version(production):
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    images = {name: production.workloads[name].container["image"] for name in OURS}

    assert images == {name: f"registry.example.com/clausegate-{name}:{version}" for name in OURS}


@pytest.mark.parametrize("name", ["weaviate", "otel-collector"])
def test_what_is_not_ours_has_the_version_that_compose_runs(manifests, name):
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]

    assert manifests.workloads[name].container["image"] == compose[name]["image"]


def test_uploads_that_wait_fit_into_the_gateways_temporary_folder(manifests, monkeypatch):
    settings = settings_of(manifests, "gateway", monkeypatch)
    (tmp,) = [each for each in manifests.workloads["gateway"].pod["volumes"] if each["name"] == "tmp"]

    assert settings.max_running_uploads * settings.max_upload_bytes <= quantity(tmp["emptyDir"]["sizeLimit"])


def test_parsers_at_their_limit_fit_into_ingests_memory(manifests, monkeypatch):
    settings = settings_of(manifests, "ingest", monkeypatch)
    limit = quantity(manifests.workloads["ingest"].container["resources"]["limits"]["memory"])

    assert settings.max_concurrent_documents * settings.parser_memory_bytes + 512 * MEBI <= limit


def test_embedding_takes_the_processors_of_the_pod_and_not_of_the_machine(manifests, monkeypatch):
    limit = quantity(manifests.workloads["retrieval"].container["resources"]["limits"]["cpu"])

    assert settings_of(manifests, "retrieval", monkeypatch).embedding_threads == limit
