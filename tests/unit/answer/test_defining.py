from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.definitions import Definition
from inference.tokens import TokenCounter
from services.answer.corpus import ResolvedDefinition
from services.answer.query.defining import (
    Quoted,
    as_chunk,
    conflicts_of,
    defines,
    explains,
    fitting,
    in_use,
    relevant,
    shown,
    term_asked_for,
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


def quoted(text: str, document: str = "cme/a.txt", passage: str = "") -> Quoted:
    return Quoted(document, document.split("/")[0], text, passage or text)


def terms_in_use(found, *quotes, question: str = "") -> list[str]:
    return [one.definition.term for one in in_use(found, quotes, question)]


def test_definitions_of_terms_that_texts_use_come_along_with_those_that_they_use():
    device, unit = resolved("Device"), ResolvedDefinition(definition("Unit of Count"), 2, "Device", ())
    fee, screen = resolved("Display Fee"), ResolvedDefinition(definition("Screen"), 2, "Display Fee", ())
    quote = quoted("The fee for display of two Devices.")
    assert terms_in_use([device, fee, unit, screen], quote) == ["Device", "Unit of Count"]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Device", "The fee for display of two devices."),
        ("Display Fee", "A Fee is due on Display."),
        ("Fee", "Feelings do not count."),
        ("including", "All fees, including taxes, are due."),
        ("Day", "A Day has 24 hours."),
        ("Agreement", "This Agreement ends in May."),
        ("this Agreement", "In this Agreement words have meanings."),
    ],
)
def test_words_that_a_quote_does_not_use_as_defined_bring_no_definition(term, text):
    assert terms_in_use([resolved(term)], quoted(text)) == []


def test_a_document_does_not_define_its_own_name():
    own = dataclasses.replace(definition("Licence Agreement"), title="VENDOR_CO-LICENCE_AGREEMENT.txt")
    other = dataclasses.replace(own, title="Terms of use")
    quote = quoted("The Licence Agreement ends in May.")
    found = [ResolvedDefinition(own, 1, "", ()), ResolvedDefinition(other, 1, "", ())]
    assert [one.definition for one in in_use(found, [quote], "")] == [other]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("TWO DEVICES ARE FREE.", "Device"),
        ("Both Policies apply.", "Policy"),
        ("an END\nUSER pays", "END USER"),
    ],
)
def test_a_term_is_used_in_capitals_in_the_plural_and_over_a_line_break(text, term):
    assert terms_in_use([resolved(term)], quoted(text)) == [term]


def test_a_term_that_is_asked_for_is_defined_wherever_it_is():
    foreign = definition("Device", "opra", "opra/d.txt")
    one = resolved("device", "cme", foreign)
    assert in_use([one], [quoted("Nothing.", "cme/z.txt")], "What is a Device?") == (one,)


def test_a_document_that_the_passage_names_by_title_is_tied_to_it():
    named = dataclasses.replace(definition("Device", "cme", "cme/p.txt"), title="Unit Policy")
    found = [ResolvedDefinition(named, 1, "", ())]
    quote = quoted("A Device is free.", "cme/a.txt", "A Device is free. See the Unit Policy.")
    assert terms_in_use(found, quote) == ["Device"]
    assert terms_in_use(found, dataclasses.replace(quote, passage="A Device is free.")) == []
    assert terms_in_use(found, dataclasses.replace(quote, source="opra")) == []


documents = st.sampled_from(["cme/a.txt", "cme/b.txt", "opra/c.txt"])
TERMS = ["Device", "Fee", "Vendor", "Unit"]


@st.composite
def resolved_definitions(draw) -> ResolvedDefinition:
    depth, term, document = draw(st.integers(1, 2)), draw(st.sampled_from(TERMS)), draw(documents)
    others = draw(st.lists(documents, max_size=2, unique=True))
    conflicting = tuple(definition(term, one.split("/")[0], one) for one in others if one != document)
    used_by = draw(st.sampled_from(TERMS)) if depth == 2 else ""
    return ResolvedDefinition(definition(term, document.split("/")[0], document), depth, used_by, conflicting)


@given(
    st.lists(resolved_definitions(), max_size=6),
    st.lists(st.tuples(st.lists(st.sampled_from(TERMS), max_size=4).map(" ".join), documents), max_size=3),
)
def test_no_definition_of_a_document_that_is_not_quoted_comes_along(found, quotes):
    near = {document for _, document in quotes}
    used = in_use(found, [quoted(text, document) for text, document in quotes], "How much is it?")
    shown_too = [other for one in used for other in (one.definition, *one.conflicting)]
    assert {one.document_id for one in shown_too} <= near


def test_at_most_five_definitions_are_shown_and_the_rest_is_counted():
    used = [resolved(term) for term in ["Act", "Bank", "Cost", "Data", "Exam", "Fund", "Gift"]]
    kept, left_out = shown(used, used)
    assert (kept, left_out) == (tuple(used[:5]), 2)


def test_a_definition_that_did_not_fit_is_counted():
    one, two = resolved("Device"), resolved("Unit")
    assert shown([one, two], [two]) == ((two,), 1)


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("“Fees” has the meaning given to it in Section 10.", False),
        ("“Affiliate” shall have the meaning set forth in Section 1.2 of the Master Agreement.", False),
        ("“Term” is defined in clause 7", False),
        ("“Fees” means the amounts that are set out in Schedule 2.", True),
        ("“Term” has the meaning given in Section 7, but not less than two years and one day from it.", True),
        ("“Device” means any unit that displays market data.", True),
    ],
)
def test_a_definition_that_only_names_another_place_explains_nothing(text, told):
    assert explains(a_definition("Fees", text)) is told
