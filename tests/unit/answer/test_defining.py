from __future__ import annotations

import pytest

from corpus.definitions import Definition
from inference.tokens import TokenCounter
from services.answer.corpus import ResolvedDefinition
from services.answer.query.defining import (
    as_chunk,
    conflicts_of,
    defines,
    fitting,
    relevant,
    term_asked_for,
    used_in,
)
from tests.unit.nouns import a_definition


def definition(term: str, source: str = "cme", document: str = "cme/a.txt") -> Definition:
    text = f"“{term}” means something."
    return a_definition(term, text, document_id=document, source=source)


def resolved(term: str, source: str = "cme", *conflicting: Definition) -> ResolvedDefinition:
    return ResolvedDefinition(definition(term, source), 1, "", conflicting)


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a Non-Professional?", "Non-Professional"),
        ("what is meant by 'Unit of Count'?", "Unit of Count"),
        ("What does “Subscriber” mean?", "Subscriber"),
        ("Define Subscriber.", "Subscriber"),
        ("What is the definition of the term Level 2 Data?", "Level 2 Data"),
        ("meaning of Subscriber", "Subscriber"),
        ("How does Quillhaven define the Unit of Count?", "Unit of Count"),
        ("How is Device defined?", "Device"),
        ("How much does a device cost?", ""),
        ("Is there a cap on liability?", ""),
    ],
)
def test_a_definitional_question_names_its_term(question, term):
    assert term_asked_for(question) == term


@pytest.mark.parametrize(
    ("term", "asked", "same"),
    [
        ("Non-Professional", "non-professionals", True),
        ("Subscriber", "Subscribers", True),
        ("Subscriber", "subscriber agreement", False),
        ("Subscriber", "", False),
    ],
)
def test_a_definition_is_recognised_in_any_inflection(term, asked, same):
    assert defines(definition(term), asked) is same


def test_a_term_is_explained_once_and_as_the_source_of_the_answer_defines_it():
    foreign, own, other = resolved("Device", "opra"), resolved("device"), resolved("Vendor", "opra")
    assert relevant([foreign, own, other], ["cme"]) == (own, other)


def test_conflicts_within_a_source_count_only_for_documents_of_the_answer():
    near, far = definition("Device", "cme", "cme/b.txt"), definition("Device", "cme", "cme/c.txt")
    foreign = definition("Device", "opra", "opra/d.txt")
    one = resolved("Device", "cme", near, far, foreign)
    assert conflicts_of(one, ["cme/b.txt"]) == (near, foreign)


def test_terms_that_only_definitions_use_bring_no_conflicts():
    deep = ResolvedDefinition(definition("Device"), 2, "Unit", (definition("Device", "opra"),))
    assert conflicts_of(deep, []) == ()


def test_definitions_that_do_not_fit_are_left_out():
    one, two = resolved("Device"), resolved("A much longer term")
    kept, used = fitting([two, one], len(one.definition.text), TokenCounter("characters", len))
    assert (kept, used) == ((one,), len(one.definition.text))


def test_definitions_of_terms_that_texts_use_come_along_with_those_that_they_use():
    device, unit = resolved("Device"), ResolvedDefinition(definition("Unit of Count"), 2, "Device", ())
    fee, screen = resolved("Display Fee"), ResolvedDefinition(definition("Screen"), 2, "Display Fee", ())
    used = used_in([device, fee, unit, screen], ["The fee for display of two devices."])
    assert [one.definition.term for one in used] == ["Device", "Unit of Count"]


def test_a_definition_is_shown_in_the_name_of_the_chunk_that_it_can_be_quoted_from():
    one = definition("Device")
    shown = as_chunk(one)
    assert (shown.chunk_id, shown.document_id, shown.text, shown.span) == (
        one.chunk_id,
        one.document_id,
        one.text,
        one.span,
    )
    assert shown.section == "Definition of Device"
