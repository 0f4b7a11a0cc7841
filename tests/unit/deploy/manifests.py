"""What an overlay of deploy/k8s renders to, in the terms of the tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKLOADS = ("Deployment", "StatefulSet", "CronJob")
GIBI, MEBI = 2**30, 2**20


@dataclass(frozen=True, slots=True)
class Workload:
    """What makes pods of one container; `pod` is their spec, `spec` its own (a job's, of a CronJob)."""

    name: str
    kind: str
    spec: Mapping[str, Any]
    pod: Mapping[str, Any]
    labels: Mapping[str, str]

    @property
    def container(self) -> Mapping[str, Any]:
        (container,) = self.pod["containers"]
        return container

    @property
    def ports(self) -> dict[str, int]:
        return {port["name"]: port["containerPort"] for port in self.container.get("ports", ())}

    @property
    def secrets(self) -> set[tuple[str, bool]]:
        """Names of the Secrets that its pods use, and whether they start without them."""
        volumes = [volume["secret"] for volume in self.pod["volumes"] if "secret" in volume]
        variables = [
            each["valueFrom"]["secretKeyRef"]
            for each in self.container.get("env", ())
            if "secretKeyRef" in each.get("valueFrom", {})
        ]
        sources = [each["secretRef"] for each in self.container.get("envFrom", ()) if "secretRef" in each]
        return {
            (each.get("secretName") or each["name"], each.get("optional", False))
            for each in (*volumes, *variables, *sources)
        }


@dataclass(frozen=True, slots=True)
class Manifests:
    """All objects of an overlay."""

    objects: tuple[Mapping[str, Any], ...]

    def of(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Objects of a kind, by name."""
        return {each["metadata"]["name"]: each for each in self.objects if each["kind"] == kind}

    @property
    def workloads(self) -> dict[str, Workload]:
        return {
            name: Workload(
                name=name,
                kind=kind,
                spec=spec,
                pod=spec["template"]["spec"],
                labels=spec["template"]["metadata"]["labels"],
            )
            for kind in WORKLOADS
            for name, found in self.of(kind).items()
            for spec in (found["spec"].get("jobTemplate", found)["spec"],)
        }

    def selected(self, labels: Mapping[str, str]) -> set[str]:
        """Names of the workloads whose pods have these labels."""
        return {name for name, each in self.workloads.items() if labels.items() <= each.labels.items()}

    def environment(self, name: str) -> dict[str, str]:
        """The variables that a workload's container is given from ConfigMaps."""
        maps = self.of("ConfigMap")
        named = [
            source["configMapRef"]["name"]
            for source in self.workloads[name].container.get("envFrom", ())
            if "configMapRef" in source
        ]
        return {key: value for each in named for key, value in maps[each]["data"].items()}


@cache
def rendered(overlay: str) -> Manifests:
    """What `kubectl kustomize` makes of an overlay."""
    output = subprocess.run(
        ["kubectl", "kustomize", str(ROOT / "deploy/k8s/overlays" / overlay)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return Manifests(tuple(yaml.safe_load_all(output)))


def quantity(text: str) -> float:
    """A quantity of memory (`512Mi`, in bytes) or processors (`250m`)."""
    units = {"m": 0.001, "Mi": MEBI, "Gi": GIBI, "MiB": MEBI}
    digits = text.rstrip("mMGiB")
    return float(digits) * units.get(text.removeprefix(digits), 1)


Arrow = tuple[str, str, int]
"""Who calls whom on which port."""


def _outside(peer: Mapping[str, Any]) -> str:
    """Who a peer is that is none of our pods."""
    if "ipBlock" in peer:
        return "internet"
    labels = peer["namespaceSelector"]["matchLabels"]
    return "names" if "podSelector" in peer else next(iter(labels)).removeprefix("clausegate-")


def arrows(manifests: Manifests, direction: str) -> Iterator[Arrow]:
    """What the policies allow, as seen by who calls ("egress") or who is called ("ingress")."""
    for policy in manifests.of("NetworkPolicy").values():
        if "matchExpressions" in policy["spec"]["podSelector"]:
            continue  # of a component: its test looks at it
        own = manifests.selected(policy["spec"]["podSelector"].get("matchLabels", {}))
        for rule in policy["spec"].get(direction, ()):
            peers = rule["to" if direction == "egress" else "from"]
            for peer in peers:
                outside = "namespaceSelector" in peer or "ipBlock" in peer
                others = (
                    {_outside(peer)} if outside else manifests.selected(peer["podSelector"]["matchLabels"])
                )
                for port in rule["ports"]:
                    for one in own:
                        for other in others:
                            pair = (one, other) if direction == "egress" else (other, one)
                            yield (*pair, port["port"])
