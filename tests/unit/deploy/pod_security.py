"""The restricted Pod Security Standard, as rules over a pod's spec (Kubernetes' documentation, 1.30)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
SECCOMP = {"RuntimeDefault", "Localhost"}


def violations(pod: Mapping[str, Any]) -> list[str]:
    """What keeps a pod from being admitted to a namespace that enforces the standard."""
    return [*_of_the_pod(pod), *(found for each in _containers(pod) for found in _of_a_container(each, pod))]


def _containers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [container for kind in kinds for container in pod.get(kind, ())]


def _of_the_pod(pod: Mapping[str, Any]) -> Iterator[str]:
    for namespace in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(namespace):
            yield namespace
    for volume in pod.get("volumes", ()):
        if not set(volume) - {"name"} <= VOLUMES:
            yield f"volume {volume['name']}"
    context = pod.get("securityContext", {})
    if context.get("sysctls") or context.get("windowsOptions", {}).get("hostProcess"):
        yield "securityContext"


def _of_a_container(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    own = container.get("securityContext", {})
    context = {**pod.get("securityContext", {}), **own}
    if own.get("privileged"):
        yield "privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if context.get("runAsNonRoot") is not True or context.get("runAsUser") == 0:
        yield "runAsNonRoot"
    if context.get("seccompProfile", {}).get("type") not in SECCOMP:
        yield "seccompProfile"
    capabilities = own.get("capabilities", {})
    if "ALL" not in capabilities.get("drop", ()) or set(capabilities.get("add", ())) - {"NET_BIND_SERVICE"}:
        yield "capabilities"
    if own.get("procMount", "Default") != "Default" or any(
        p.get("hostPort") for p in container.get("ports", ())
    ):
        yield "host"
