import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.tokens import stems


def test_words_are_lower_cased_and_stemmed_and_none_is_a_stop_word():
    assert stems("No Redistribution OR sublicensing shall be permitted") == [
        "no", "redistribut", "or", "sublicens", "shall", "be", "permit",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "compound"),
    [
        ("Rule 10b-5 applies", "10b-5"),
        ("the S&P 500 Index", "s&p"),
        ("a 401(k) plan", "401k"),
        ("a 401k plan", "401k"),
        ("Section 1.2(a)(ii) hereof", "1.2aii"),
        ("a fee of $2.50 each", "2.50"),
        ("a fee of $1,000.5", "1,000.5"),
    ],
)
def test_compound_with_a_short_part_is_one_more_token(text, compound):
    assert compound in stems(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("real-time", ["real", "time"]), ("and/or", ["and", "or"]), ("the party's", ["the", "parti"])],
)
def test_compound_whose_words_say_it_all_is_not_repeated(text, expected):
    assert stems(text) == expected


def test_ligature_of_a_pdf_is_read_as_its_letters():
    assert stems("con\ufb01dential") == stems("confidential")


@given(st.text())
def test_any_text_gives_tokens_without_white_space_or_brackets(text):
    assert all(token and not set(token) & set(" \t\n()") for token in stems(text))


@pytest.mark.parametrize("unit", ["1,", "a-", "(a)", "1(a)", "\ud800"])
def test_repetitive_text_of_half_a_megabyte_is_read(unit):
    assert isinstance(stems(unit * (500_000 // len(unit))), list)
