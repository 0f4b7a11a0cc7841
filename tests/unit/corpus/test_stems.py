"""The same text gives the same stems on every Python."""

from __future__ import annotations

import hashlib
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.stems import _COMPOUND, stems_of
from tests.work import LINEAR, matching_grows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a", ""),
        ("The Licensee shall not redistribute the Data.", "the license shall not redistribut the data"),
        ("Rule 10b-5 costs $2.50", "rule 10b cost 50 10b-5 2.50"),
        ("the S&P 500 Index", "the 500 index s&p"),
        ("AT&T and R&D", "at and at&t r&d"),
        ("a 401(k) plan", "401 plan 401k"),
        ("Section 1.2(a)(ii) hereof", "section ii hereof 1.2aii"),
        ("Section 12(ii)(iii)", "section 12 ii iii"),
        ("USD 1,000,000.5 or 1,000", "usd 000 000 or 000 1,000,000.5 1,000"),
        ("1,2,3", "1,2,3"),
        ("10,x and x,10", "10 and 10"),
        ("real-time and/or the party's", "real time and or the parti"),
        ("day-to-day T-Bill x-ray", "day to day bill ray t-bill x-ray"),
        ("9.1.4 9.1.4.", "9.1.4 9.1.4"),
        ("31/12/2026 5/6", "31 12 2026 5/6"),
        ("e.g. i.e. U.S.", "e.g i.e u.s"),
        ("10-K, 8-K and 20-F", "10 and 20 10-k 8-k 20-f"),
        ("a-b.c/d&e", "a-b.c/d&e"),
        ("1(a) (b)(c) x(y)", "1a"),
        ("1(a)(b", "1a"),
        ("1(a", ""),
        ("1(ab)-c", "ab 1ab-c"),
        ("1-", ""),
        ("-1-2-", "1-2"),
        ("a--b a..b", ""),
        ("under_score_1-2", "under_score_1 under_score_1-2"),
        ("\ufb01rst o\ufb03ce", "first offic"),
        ("10\u00b2 m\u00b2", "102 m2"),
        ("１０ｂ－５ Ｓ＆Ｐ", "10b 10b-5 s&p"),
        ("Zürich-7 Ωmega É-1", "zürich ωmega zürich-7 é-1"),
        ("\u0663\u0664,\u0665", "\u0663\u0664 \u0663\u0664,\u0665"),
        ("中文-1", "中文 中文-1"),
        ("10b\u20105", "10b"),
    ],
)  # fmt: skip
def test_a_text_gives_these_stems_on_every_python(text, expected):
    assert stems_of(text) == expected.split()


def test_all_short_texts_of_what_compounds_are_made_of_give_the_same_stems_on_every_python():
    texts = ["".join(text) for length in range(1, 7) for text in product("aB1-,()", repeat=length)]
    made = hashlib.sha256(repr([stems_of(text) for text in texts]).encode())

    assert made.hexdigest() == "771580e8b7712dee8e705ec5d36c3e47262bed493e18e50d08696dc5f55a7846"


@pytest.mark.parametrize(
    "unit",
    ["a", "1", "1,", "a-", "1-a", "(a)", "1(a)", "1(", "1(a", "1(a)(", "1,(", ")(a", "a ", "é.", "1(a)-a"],
)
def test_compounds_are_found_in_linear_time(unit):
    assert matching_grows(_COMPOUND, unit) < LINEAR


def test_words_are_lower_cased_and_stemmed_and_none_is_a_stop_word():
    assert stems_of("No Redistribution OR sublicensing shall be permitted") == [
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
    assert compound in stems_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("real-time", ["real", "time"]), ("and/or", ["and", "or"]), ("the party's", ["the", "parti"])],
)
def test_compound_whose_words_say_it_all_is_not_repeated(text, expected):
    assert stems_of(text) == expected


def test_ligature_of_a_pdf_is_read_as_its_letters():
    assert stems_of("con\ufb01dential") == stems_of("confidential")


@given(st.text())
def test_any_text_gives_tokens_without_white_space_or_brackets(text):
    assert all(token and not set(token) & set(" \t\n()") for token in stems_of(text))


@pytest.mark.parametrize("unit", ["1,", "a-", "(a)", "1(a)", "\ud800"])
def test_repetitive_text_of_half_a_megabyte_is_read(unit):
    assert isinstance(stems_of(unit * (500_000 // len(unit))), list)
