"""What deploy/k8s tells the processes: settings, files and Secrets."""

import re

import pytest

from chassis.telemetry import TelemetrySettings
from tests.unit.deploy.manifests import ROOT
from tests.unit.deploy.processes import SETTINGS, settings_of, variables

OURS = tuple(SETTINGS)
ALL = (*OURS, "reindex", "weaviate", "otel-collector")


@pytest.mark.parametrize("name", OURS)
def test_a_process_is_given_only_settings_that_it_reads(manifests, name):
    known = variables(SETTINGS[name]) | {field.upper() for field in TelemetrySettings.model_fields}

    assert set(manifests.environment(name)) <= known


@pytest.mark.parametrize("name", OURS)
def test_a_process_starts_with_its_settings_and_listens_where_it_is_asked(manifests, name, monkeypatch):
    settings = settings_of(manifests, name, monkeypatch)
    host, _, port = getattr(settings, f"{name}_address").rpartition(":")

    assert host == "0.0.0.0"
    assert int(port) in manifests.workloads[name].ports.values()


@pytest.mark.parametrize("name", OURS)
def test_files_that_settings_name_are_mounted_and_cannot_be_written(manifests, name):
    mounts = {
        mount["mountPath"]: mount.get("readOnly", False)
        for mount in manifests.workloads[name].container["volumeMounts"]
    }
    files = [value for key, value in manifests.environment(name).items() if key.endswith("_FILE")]

    assert files
    assert all(mounts[file.rpartition("/")[0]] for file in files)


@pytest.mark.parametrize("name", ALL)
def test_configuration_that_is_named_is_there(manifests, name):
    workload = manifests.workloads[name]
    named = {
        each["configMapRef"]["name"]
        for each in workload.container.get("envFrom", ())
        if "configMapRef" in each
    }
    mounted = {volume["configMap"]["name"] for volume in workload.pod["volumes"] if "configMap" in volume}

    assert named | mounted
    assert named | mounted <= set(manifests.of("ConfigMap"))


def test_no_secret_is_rendered_and_each_that_must_exist_is_told_of(manifests):
    told = set(re.findall(r"create secret \w+ ([a-z-]+)", (ROOT / "docs/deployment.md").read_text()))
    used = {secret for each in manifests.workloads.values() for secret, _ in each.secrets}

    assert not manifests.of("Secret")
    assert used <= told


def test_the_product_starts_without_a_model_server_only(manifests):
    optional = {
        secret for each in manifests.workloads.values() for secret, may_lack in each.secrets if may_lack
    }

    assert optional == {"clausegate-model-server"}
