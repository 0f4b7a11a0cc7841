"""The rules that the manifests are held to do find what they forbid."""

import copy

import pytest

from tests.unit.deploy.pod_security import violations

ADMITTED = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "ports": [{"containerPort": 1}],
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ],
    "volumes": [{"name": "tmp", "emptyDir": {}}],
}


def test_a_pod_that_keeps_all_rules_is_admitted():
    assert violations(ADMITTED) == []


@pytest.mark.parametrize(
    ("path", "value", "violation"),
    [
        (("hostNetwork",), True, "hostNetwork"),
        (("hostPID",), True, "hostPID"),
        (("volumes", 0), {"name": "host", "hostPath": {"path": "/"}}, "volume host"),
        (("securityContext", "runAsNonRoot"), False, "runAsNonRoot"),
        (("securityContext", "runAsUser"), 0, "runAsNonRoot"),
        (("securityContext", "seccompProfile"), {"type": "Unconfined"}, "seccompProfile"),
        (("securityContext", "sysctls"), [{"name": "kernel.shm_rmid_forced"}], "securityContext"),
        (("containers", 0, "securityContext", "runAsNonRoot"), False, "runAsNonRoot"),
        (("containers", 0, "securityContext", "privileged"), True, "privileged"),
        (("containers", 0, "securityContext", "allowPrivilegeEscalation"), True, "allowPrivilegeEscalation"),
        (("containers", 0, "securityContext", "capabilities"), {}, "capabilities"),
        (
            ("containers", 0, "securityContext", "capabilities"),
            {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
            "capabilities",
        ),
        (("containers", 0, "ports", 0, "hostPort"), 80, "host"),
        (("containers", 0, "securityContext", "procMount"), "Unmasked", "host"),
    ],
)
def test_a_pod_that_breaks_one_rule_is_refused_for_it(path, value, violation):
    pod = copy.deepcopy(ADMITTED)
    part = pod
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value

    assert violations(pod) == [violation]
