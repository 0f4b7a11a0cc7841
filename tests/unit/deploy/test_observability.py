"""Dashboard and alerts ask for what the processes send, as the collector spells it for Prometheus."""

import json
import re

import pytest
import yaml

from tests import registry

DASHBOARD = json.loads((registry.ROOT / "deploy/grafana/clausegate.json").read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
ALERTS = yaml.safe_load((registry.ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PROVISIONING = registry.ROOT / "deploy/grafana/provisioning"
SUFFIXES = {"s": "_seconds", "By": "_bytes"}
SCHEMA = 41
"""Of dashboards of Grafana 12."""
OTHERS = {"up"}
"""Metrics of Prometheus itself."""
EXPORT_INTERVAL = "1m"
"""How often a process sends metrics, unless told otherwise; a rate over less than a few of them is noise."""
LABELS = {"le", "job", "instance"}
WORDS = {"by", "on", "without", "or", "and", "offset", "unless"}
SPAN_TIME = re.compile(r"\d+[smhd]")


def exported():
    """Metrics as Prometheus names them; https://opentelemetry.io/docs/specs/otel/compatibility/prometheus."""
    names = set()
    for metric in registry.metrics():
        name = metric.name.replace(".", "_") + SUFFIXES.get(metric.unit, "")
        endings = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}
        names |= {name + ending for ending in endings[metric.kind]}
    return names


def labels():
    """Labels that a metric may have."""
    attributes = set().union(*registry.metrics().values())
    return {name.replace(".", "_") for name in attributes} | LABELS


def asked(expression):
    """The metrics and the labels that an expression names."""
    bare = re.sub(r'"[^"]*"', "", expression)
    named = {each for group in re.findall(r"\{([^}]*)\}|\bby \(([^)]*)\)", bare) for each in group}
    used = {label for each in named for label in re.findall(r"[a-z_]+", each)}
    rest = re.sub(r"\{[^}]*\}|\bby \([^)]*\)|\[[^\]]*\]", "", bare)
    words = re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?!\w|\s*\()", SPAN_TIME.sub("", rest))
    return {word for word in words if word not in WORDS}, used


EXPRESSIONS = [
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]),
    *((rule["alert"], rule["expr"]) for rule in RULES),
]


@pytest.mark.parametrize(
    "expression", [expression for _, expression in EXPRESSIONS], ids=[name for name, _ in EXPRESSIONS]
)
def test_an_expression_asks_for_metrics_and_labels_that_are_sent(expression):
    metrics, used = asked(expression)

    assert metrics
    assert metrics <= exported() | OTHERS
    assert used <= labels()


@pytest.mark.parametrize(
    "expression", [expression for _, expression in EXPRESSIONS], ids=[name for name, _ in EXPRESSIONS]
)
def test_an_expression_compares_with_values_that_are_sent(expression):
    values = registry.values() | {"clausegate.cache.hit": {"true", "false"}}
    closed = {name.replace(".", "_"): allowed for name, allowed in values.items() if name != "error.type"}
    compared = re.findall(r'([a-z_]+)!?=~?"([^"]*)"', expression)

    assert all(set(value.split("|")) <= closed[label] for label, value in compared if label in closed)


def test_every_metric_of_ours_is_on_the_dashboard():
    shown = set().union(*(asked(target["expr"])[0] for panel in PANELS for target in panel["targets"]))
    metrics = {
        metric.name.replace(".", "_") + SUFFIXES.get(metric.unit, "")
        for metric in registry.metrics()
        if metric.name.startswith("clausegate.")
    }

    assert not {name for name in metrics if not any(each.startswith(name) for each in shown)}


def test_the_dashboard_is_of_the_schema_that_it_names():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]

    assert DASHBOARD["schemaVersion"] == SCHEMA
    assert {"uid", "title", "time", "templating", "annotations"} <= set(DASHBOARD)
    assert len(set(ids)) == len(ids)
    assert {panel["type"] for panel in PANELS} == {"timeseries", "stat"}
    for panel in PANELS:
        assert panel["title"]
        assert panel["description"]
        assert set(panel["gridPos"]) == {"x", "y", "w", "h"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_panels_are_drawn_from_as_many_values_as_are_sent():
    assert {target["interval"] for panel in PANELS for target in panel["targets"]} == {EXPORT_INTERVAL}


def test_no_panel_covers_another():
    taken = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24


def test_the_dashboard_asks_the_source_that_is_provisioned():
    [source] = yaml.safe_load((PROVISIONING / "datasources/prometheus.yml").read_text())["datasources"]
    asked_of = {panel["datasource"]["uid"] for panel in PANELS}

    assert asked_of == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"


def test_the_dashboard_is_where_grafana_looks():
    [provider] = yaml.safe_load((PROVISIONING / "dashboards/clausegate.yml").read_text())["providers"]
    compose = yaml.safe_load((registry.ROOT / "docker-compose.yml").read_text())
    mounted = compose["services"]["grafana"]["volumes"]
    dashboard = f"./deploy/grafana/clausegate.json:{provider['options']['path']}/clausegate.json:ro"

    assert dashboard in mounted
    assert "./deploy/grafana/provisioning:/etc/grafana/provisioning:ro" in mounted


def test_alerts_are_read_and_say_what_is_wrong_and_what_to_do():
    prometheus = yaml.safe_load((registry.ROOT / "deploy/prometheus/prometheus.yml").read_text())

    assert prometheus["rule_files"] == ["alerts.yml"]
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "description"}


def test_panels_and_log_events_that_an_alert_points_at_exist():
    there = {panel["title"] for panel in PANELS} | {each.event for each in registry.log_events()}
    named = {name for rule in RULES for name in re.findall(r'"([^"]+)"', rule["annotations"]["description"])}

    assert named
    assert named <= there
