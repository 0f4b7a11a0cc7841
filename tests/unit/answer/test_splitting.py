from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.answer.verification import splitting
from services.answer.verification.splitting import own_words, quoted_in, sentences_of
from tests.work import LINEAR, matching_grows, patterns_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Fees are due. Notice is 30 days.", ["Fees are due.", "Notice is 30 days."]),
        ("Is it due? Yes! It is.", ["Is it due?", "Yes!", "It is."]),
        ("The fee is 1.5 percent. It is due.", ["The fee is 1.5 percent.", "It is due."]),
        ("Section 4.2, see Section 4. Fees are due.", ["Section 4.2, see Section 4. Fees are due."]),
        ("It ended in 2024. Fees are due.", ["It ended in 2024.", "Fees are due."]),
        ("Acme, Inc. Shall pay, e.g. Fees.", ["Acme, Inc. Shall pay, e.g. Fees."]),
        ("Pay J. Smith. Pay soon.", ["Pay J. Smith.", "Pay soon."]),
        ("It says “Pay. Pay soon.” Twice.", ["It says “Pay. Pay soon.”", "Twice."]),
        ("He said “Pay. Now” to us. Twice.", ["He said “Pay. Now” to us.", "Twice."]),
        ("A line\nthat is wrapped. End.", ["A line\nthat is wrapped.", "End."]),
        ("- one item\n- two items\n\nA paragraph", ["one item", "two items", "A paragraph"]),
        ("1. First of all.\n2) Second of all.", ["First of all.", "Second of all."]),
        ("# Heading\n\nText here.", ["Heading", "Text here."]),
        ("[CME] One is. [1]\n[OPRA] Two is. [2]", ["[CME] One is. [1]", "[OPRA] Two is. [2]"]),
        ("One is. [1] [CME] Two is. [2][3] Yes.", ["One is. [1]", "[CME] Two is. [2][3]", "Yes."]),
        ("…\n\n---\n", []),
    ],
)  # fmt: skip
def test_a_text_is_cut_into_its_sentences(text, sentences):
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("[CME] It is due. [1]", "It is due."),
        ("[CME][OPRA] It is due [1][2].", "It is due."),
        ("It is [sic] due.", "It is [sic] due."),
        ("[1]", "[1]"),
    ],
)
def test_what_our_answers_put_round_a_statement_is_no_part_of_it(claim, words):
    assert own_words(claim) == words


@pytest.mark.parametrize(
    ("claim", "quotes"),
    [
        ("It says “the fee is due” and “nobody has to pay”.", ("the fee is due", "nobody has to pay")),
        ('It says "the fee is due now".', ("the fee is due now",)),
        ("A “Device” is «any unit that displays».", ("any unit that displays",)),
        ("It doesn't say the vendors' fees aren't due.", ()),
    ],
)
def test_quotes_of_a_claim_have_at_least_four_words(claim, quotes):
    assert quoted_in(claim) == quotes


@settings(deadline=None)
@given(st.text(alphabet='aA1 .?!\n“”"()[]-', max_size=200))
def test_no_letter_or_digit_is_lost_but_numbers_of_lists(text):
    left = "".join(sentences_of(text))
    assert [c for c in left if c.isalpha()] == [c for c in text if c.isalpha()]


# Matched with at most `_LONGEST_WORD` characters, so its growth does not matter.
PATTERNS = [named for named in patterns_of(splitting) if named[1] is not splitting._LAST_WORD]


@pytest.mark.parametrize(
    "piece", [".", " ", "\n", "a. ", "[1] ", "[A] ", "“", '"', "- ", "\n ", "Section 4. "]
)
@pytest.mark.parametrize(("name", "pattern"), PATTERNS)
def test_a_long_text_is_cut_in_linear_time(name, pattern, piece):
    assert max(matching_grows(pattern, piece, tail=tail) for tail in ("", "x", " [")) < LINEAR


@pytest.mark.parametrize(
    "text",
    [
        "The Licensee shall not: … 2. Share the Data with others. … Each consent is in writing.",
        "The Licensee shall not:\n1. Copy the Data.",
        "The Licensee shall not: a. Copy the Data.",
        "[CME] The Licensee shall not: … iv. Copy the Data. [1]",
        "The Licensee shall not:\n\n- copy the Data.",
    ],
)
def test_an_item_is_not_cut_off_from_what_leads_into_it(text):
    assert sentences_of(text) == [text]
