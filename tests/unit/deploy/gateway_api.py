"""The part of the Gateway API (v1, standard channel) that the manifests use, as strict schemas by kind."""

from __future__ import annotations

from typing import Any

HOST = {"type": "string", "pattern": r"^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}
NAME = {"type": "string", "pattern": r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}
PORT = {"type": "integer", "minimum": 1, "maximum": 65_535}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    properties = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list(item: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": most}


def _kind(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    version = {"const": "gateway.networking.k8s.io/v1"}
    return _object(
        {"apiVersion": version, "kind": {"const": name}, "metadata": {"type": "object"}, "spec": spec}
    )


BACKENDS = _list(_object({"name": NAME, "port": PORT}), 16)
PARENTS = _list(_object({"name": NAME, "sectionName": NAME}), 32)
LISTENER = _object(
    {
        "name": NAME,
        "hostname": HOST,
        "port": PORT,
        "protocol": {"const": "HTTPS"},
        "tls": _object({"certificateRefs": _list(_object({"name": NAME}), 64)}),
    }
)
METHOD = _object(
    {"service": {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_.]*$"}},
    {"method": {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"}},
)
TIMEOUTS = _object({"request": {"type": "string", "pattern": r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"}})

SCHEMAS = {
    "Gateway": _kind("Gateway", _object({"gatewayClassName": NAME, "listeners": _list(LISTENER, 64)})),
    "HTTPRoute": _kind(
        "HTTPRoute",
        _object(
            {
                "parentRefs": PARENTS,
                "hostnames": _list(HOST, 16),
                "rules": _list(_object({"backendRefs": BACKENDS}, {"timeouts": TIMEOUTS}), 16),
            }
        ),
    ),
    "GRPCRoute": _kind(
        "GRPCRoute",
        _object(
            {
                "parentRefs": PARENTS,
                "hostnames": _list(HOST, 16),
                # Older versions take eight matches in a rule.
                "rules": _list(
                    _object({"matches": _list(_object({"method": METHOD}), 8), "backendRefs": BACKENDS}), 16
                ),
            }
        ),
    ),
}
