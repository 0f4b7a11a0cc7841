from __future__ import annotations

import pytest

from services.answer.evidence.wants import Want, held_by, is_no_statement, says_little, wanted


@pytest.mark.parametrize(
    ("question", "want"),
    [
        ("How much do we owe after the first year?", Want.AMOUNT),
        ("What is the monthly licence fee?", Want.AMOUNT),
        ("How many copies may we keep?", Want.NUMBER),
        ("How many days do they have to object?", Want.PERIOD),
        ("How much notice must we give?", Want.PERIOD),
        ("By when are the reports due?", Want.DATE),
        ("Who signed for the vendor?", Want.SIGNER),
        ("Which state's law applies?", Want.PLACE),
        ("Can we show the data to a consultant?", Want.PERMISSION),
        ("Does the vendor have to keep records?", Want.DUTY),
        ("What happens if an invoice stays unpaid?", Want.CONDITION),
    ],
)
def test_a_question_says_what_it_wants(question, want):
    assert want in wanted(question)


def test_a_question_may_want_nothing_in_particular():
    assert wanted("Confidentiality") == frozenset()


@pytest.mark.parametrize(
    ("want", "holding", "other"),
    [
        (Want.AMOUNT, "The fee is USD 100.", "The fee is due in advance."),
        (Want.NUMBER, "It may keep two copies.", "It may keep copies."),
        (Want.PERIOD, "It has thirty (30) days to object.", "It has to object in writing."),
        (Want.PERIOD, "It objects within 10 business days.", "It objects at 10 Main Road."),
        (Want.DATE, "It ends on March 1, 2020.", "It ends with the project."),
        (Want.SIGNER, "By: /s/ A. Person", "It is signed by both."),
        (Want.PLACE, "The laws of the State of Ohio govern it.", "Nobody governs it."),
        (Want.PERMISSION, "The Licensee may copy it.", "The Licensee copies it."),
        (Want.PERMISSION, "The Licensee shall not copy it.", "The Licensee copies it."),
        (Want.DUTY, "The Vendor shall keep records.", "The Vendor kept records."),
        (Want.CONDITION, "If it stays unpaid, access ends.", "Access ends."),
    ],
)
def test_a_sentence_holds_what_is_wanted_or_does_not(want, holding, other):
    assert (held_by(holding, {want}), held_by(other, {want})) == ({want}, frozenset())


def test_only_what_is_wanted_is_looked_for():
    assert held_by("If it is late, USD 5 are due within 3 days.", {Want.AMOUNT}) == {Want.AMOUNT}


@pytest.mark.parametrize(
    ("text", "little"),
    [
        ("The royalty is [***] of the price.", True),
        ("IN WITNESS WHEREOF the parties have signed.", True),
        ("By: ______________", True),
        ("The royalty is 5% of the price.", False),
    ],
)
def test_a_sentence_with_words_left_out_says_little(text, little):
    assert says_little(text) is little


@pytest.mark.parametrize(
    ("text", "question", "none"),
    [
        ("Master Agreement Page 3 of 12", "Who signed?", True),
        ("By: /s/ A. Person", "May we copy it?", True),
        ("By: /s/ A. Person", "Who signed?", False),
        ("The Licensee may copy it.", "May we copy it?", False),
    ],
)
def test_signatures_and_last_lines_of_pages_state_nothing(text, question, none):
    assert is_no_statement(text, question) is none
