"""What an overlay of deploy/k8s may add to production: Slack's command, and tokens of an issuer."""

import os
import shutil

import pytest

from chassis.token_rules import TokenRules
from tests.unit.deploy.manifests import ROOT, arrows, rendered
from tests.unit.deploy.processes import settings_of

OURS = {"gateway", "ingest", "retrieval", "answer"}


@pytest.fixture(scope="module")
def manifests(tmp_path_factory):
    """Production with both of them."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed: `make check` needs it")
    folder = tmp_path_factory.mktemp("overlay")
    base = os.path.relpath(ROOT / "deploy/k8s", folder)
    (folder / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: clausegate\n"
        f"resources: [{base}/overlays/prod]\n"
        f"components: [{base}/components/slack, {base}/components/tokens]\n"
    )
    return rendered(str(folder))


def test_the_files_of_slack_are_those_of_one_secret_that_the_gateway_alone_has(manifests, monkeypatch):
    settings = settings_of(manifests, "gateway", monkeypatch)
    having = {
        name for name, each in manifests.workloads.items() if ("clausegate-slack", False) in each.secrets
    }
    (mount,) = [
        each for each in manifests.workloads["gateway"].container["volumeMounts"] if each["name"] == "slack"
    ]
    files = {settings.slack_signing_secrets_file, settings.slack_workspaces_file}

    assert having == {"gateway"}
    assert {str(file.parent) for file in files} == {mount["mountPath"]}
    assert mount["readOnly"]
    assert "secret generic clausegate-slack" in (ROOT / "docs/slack.md").read_text()


def test_the_gateway_reaches_slack(manifests):
    assert ("gateway", "internet", 443) in set(arrows(manifests, "egress"))


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_process_takes_tokens(manifests, name, monkeypatch):
    assert isinstance(settings_of(manifests, name, monkeypatch).token_rules(), TokenRules)


def test_every_process_reaches_the_issuer(manifests):
    policy = manifests.of("NetworkPolicy")["issuer"]["spec"]
    (selector,) = policy["podSelector"]["matchExpressions"]
    (rule,) = policy["egress"]

    assert set(selector["values"]) == OURS
    assert rule["ports"] == [{"port": 443}]
