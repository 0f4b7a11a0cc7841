"""What a rewritten text may say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.rewriting import sentences_of, unsupported

FEE = "The Licensee shall pay USD 120 within thirty (30) days, and shall not share data with clients."


@pytest.mark.parametrize(
    "text",
    [
        "You must pay USD 120 within 30 days. Do not share data with clients.",
        "In short: 30 days, USD 120.\n\nYou must pay USD 120 within 30 days. Do not share data with clients.",
        "You must pay USD 120 within 30 days. You must not share data with clients: you must not share it.",
    ],
)
def test_other_words_and_repetitions_are_what_rewriting_is_for(text):
    assert unsupported(text, FEE, []) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("You must pay USD 130 within 30 days, and must not share data with clients.", "USD 130"),
        ("You must pay EUR 120 within 30 days, and must not share data with clients.", "EUR 120"),
        ("You must pay USD 120 within 30 weeks, and must not share data with clients.", "30 weeks"),
        ("You may pay USD 120 within 30 days, and must not share data with clients.", "may"),
        ("You must not pay USD 120. You must not share data with clients.", "not pay"),
        ("You must pay USD 120 within 30 days, and must share data with clients.", "not share"),
        ("You must pay USD 120 within 30 days (Section 4.2). Do not share data with clients.", "Section 4.2"),
        ("You must pay Bloomberg USD 120. Do not share data with clients.", "Bloomberg"),
        ("See https://evil.example/x. Do not share data with clients.", "https://evil.example/x"),
        ("You must pay. ![](/x) Do not share data with clients.", "](/x"),
    ],
)
def test_what_neither_text_nor_quote_says_is_named(text, words):
    assert any(words in error for error in unsupported(text, FEE, []))


def test_a_quote_lends_its_numbers():
    text = "You must pay USD 120 within 30 days, in 2031. Do not share data with clients."
    assert unsupported(text, FEE, []) != ()
    assert unsupported(text, FEE, ["The fee of 2031 is the same."]) == ()


@pytest.mark.parametrize(
    ("text", "instruction"),
    [
        (f"This is for Acme Ltd. {FEE}", "Say that it is for Acme Ltd."),
        (f"{FEE} Reply within 14 days.", "Ask for a reply within 14 days."),
    ],
)
def test_the_instruction_lends_what_it_says(text, instruction):
    assert unsupported(text, FEE, [], instruction) == ()
    assert unsupported(text, FEE, [], "Make it plainer.") != ()


def test_what_the_instruction_denies_need_not_stand_in_the_text():
    assert unsupported(FEE, FEE, [], "Do not mention that the fee is not refunded.") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Do not share data with clients. Within 30 days, you must pay USD 120.",
        "Data is not to be shared with clients; USD 120 is what you need to pay, within 30 days.",
    ],
)
def test_another_order_is_what_rewriting_is_for(text):
    assert unsupported(text, FEE, []) == ()


def test_a_text_is_cut_behind_sentences_and_lines():
    assert sentences_of("Pay USD 1.50 now. Or later!\n\n- never\n- ever") == [
        "Pay USD 1.50 now. ",
        "Or later!\n\n",
        "- never\n",
        "- ever",
    ]


@given(st.text())
def test_the_sentences_of_a_text_are_the_text(text):
    sentences = sentences_of(text)
    assert "".join(sentences) == text
    assert all(sentences)
