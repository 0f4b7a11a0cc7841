"""`docs/telemetry.md` and the code name the same telemetry."""

import pytest

from services.answer.answers import GateRule, RefusalReason
from services.answer.query.stating import Why
from services.answer.records.tracking import TaskName
from services.ingest.records import Outcome
from tests import registry


def test_every_instrument_is_listed_with_its_kind_and_unit():
    assert registry.instruments_in_code() == set(registry.metrics())


def test_every_span_that_is_named_in_place_is_listed():
    made = registry.spans_in_code()

    assert made <= registry.span_names()


def test_every_span_that_is_listed_is_made():
    made = registry.spans_in_code()
    calls = {name for name in registry.span_names() if name[0].isupper() or "/" in name or name == "_OTHER"}

    assert registry.span_names() - calls == made


def test_every_attribute_is_listed_and_every_listed_one_is_set():
    of_metrics = set().union(*registry.metrics().values())
    names = {metric.name for metric in registry.metrics()}

    assert registry.texts_in_code() - names == registry.span_attributes() | of_metrics


def test_every_event_is_listed_with_its_level_and_fields():
    listed = {(each.event, each.logger, each.level): each.fields for each in registry.log_events()}

    logged = {}
    for event, _ in registry.log_events_in_code():
        key = (event.event, event.logger, event.level)
        logged[key] = logged.get(key, frozenset()) | event.fields
    assert set(logged) == set(listed)
    assert {key: fields - listed[key] for key, fields in logged.items() if fields - listed[key]} == {}


def test_no_field_is_listed_that_is_never_logged():
    listed = {(each.event, each.logger): each.fields for each in registry.log_events()}
    logged = {}
    open_ended = set()
    for each, whole in registry.log_events_in_code():
        key = (each.event, each.logger)
        logged[key] = logged.get(key, frozenset()) | each.fields
        open_ended |= set() if whole else {key}

    assert {key: listed[key] for key in logged.keys() - open_ended} == {
        key: logged[key] for key in logged.keys() - open_ended
    }


@pytest.mark.parametrize(
    ("attribute", "used"),
    [
        ("clausegate.stage", registry.names_given_to("stage", 0)),
        (
            "clausegate.queue",
            registry.names_given_to("FairQueue", 0)
            | registry.names_given_to("model_queue", 0)
            | registry.names_given_to("Threads", 1)
            | registry.names_given_to("CountedThreads", 1),
        ),
        ("clausegate.why", registry.names_given_to("Refused", 0) | {"missing"}),
        ("clausegate.task", {each.value for each in TaskName}),
        ("clausegate.refusal_reason", {each.value for each in RefusalReason}),
        ("clausegate.dropped.why", {each.value for each in Why}),
        ("clausegate.gate.rule", {each.value for each in GateRule}),
        ("clausegate.ingest.outcome", {each.name.lower() for each in Outcome} | {"failed"}),
    ],
    ids=["stage", "queue", "why", "task", "refusal", "dropped", "rule", "ingested"],
)
def test_the_values_of_a_closed_set_are_listed(attribute, used):
    assert registry.values()[attribute] == used
