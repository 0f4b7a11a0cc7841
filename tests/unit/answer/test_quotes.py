from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corpus.citations import MatchLevel
from services.answer.verification import quotes
from services.answer.verification.quotes import find_quote
from tests.work import LINEAR, matching_grows, patterns_of

TEXT = (
    "4.2 Fees. The ﬁrst fee is USD 1,200.50 per month, payable within thirty (30)\ndays. "
    "“Non-Profes\u00adsional” means a natural person; ter-\nmination is possible on 10-15 days’ notice. "
    "A non-\nexclusive licence costs 5% (five percent), -3.5 points or 12 °C."
)
letters = st.sampled_from(list("abc AB ﬁ“”'\u00ad-\n.,019%"))
texts = st.text(letters, min_size=1, max_size=60)


def stored(quote: str) -> str | None:
    match = find_quote(TEXT, quote)
    return TEXT[match.span.start : match.span.end] if match else None


@pytest.mark.parametrize(
    ("quote", "level"),
    [
        ("payable within thirty (30)\ndays.", MatchLevel.EXACT),
        ("payable within thirty (30) days.", MatchLevel.NORMALISED),
        ("payable  within\tthirty (30) days.", MatchLevel.NORMALISED),
        ("the first fee is usd 1,200.50 per month", MatchLevel.FOLDED),
        ('"Non-Professional" means', MatchLevel.FOLDED),
        ("termination is possible", MatchLevel.FOLDED),
        ("10-15 days' notice", MatchLevel.FOLDED),
        ("A non-exclusive licence", MatchLevel.FOLDED),
        ("a nonexclusive licence", MatchLevel.FOLDED),
    ],
)
def test_a_quote_is_found_however_it_is_set(quote, level):
    match = find_quote(TEXT, quote)
    assert match is not None
    assert match.level is level


@pytest.mark.parametrize(
    "quote",
    [
        "The ﬁrst fee is USD 1,200.51 per month",
        "fee is USD 1,200",
        "200.50 per month",
        "15 days’ notice",
        "licence costs 5",
        "3.5 points",
        "natural per",
        "rofessional” means",
        "A non exclusive licence",
        "termination is not possible",
        "rst fee is USD 1,200.50 per month",
        "",
        " \n",
    ],
)
def test_other_words_and_cut_numbers_are_not_found(quote):
    assert stored(quote) is None


@pytest.mark.parametrize(
    "quote",
    [
        "payable within … days.",
        "The first fee is ... per month",
        "payable within [...] (30) days.",
        "The ﬁrst fee is USD 1,200.50 per month. termination is possible",
        "payable within thirty (30) days. A non-exclusive licence costs 5%",
        "The ﬁrst fee is USD 1,200.50 per month.",
        "“payable within thirty (30)",
    ],
)
def test_stitched_and_completed_quotes_are_not_found(quote):
    assert stored(quote) is None


def test_an_ellipsis_of_the_document_can_be_quoted():
    match = find_quote("the fee … is due", "fee … is")
    assert match is not None
    assert match.level is MatchLevel.EXACT


@pytest.mark.parametrize("wrapped", ["“{}”", '"{}"', "'{}'", "‘ {} ’", "«{}»", " “{}” \n"])
def test_quotation_marks_around_a_quote_are_forgiven(wrapped):
    assert stored(wrapped.format("payable within thirty (30)\ndays.")) == "payable within thirty (30)\ndays."


def test_quotation_marks_that_stand_there_are_part_of_the_match():
    assert stored("“Non-Profes\u00adsional”") == "“Non-Profes\u00adsional”"


PIECES = ["a", "a ", "-\n", "\u00ad", " \n", "1,", "ﬁ", "“", "ab", "aab "]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize(("name", "pattern"), patterns_of(quotes))
def test_a_long_text_is_respelled_in_linear_time(name, pattern, piece):
    assert matching_grows(pattern, piece) < LINEAR


class Compared(str):
    """A text that counts the characters that are looked at when something is sought in it."""

    count = 0

    def find(self, sought, start=0):
        at = super().find(sought, start)
        self.count += (at if at >= 0 else len(self)) - start + len(sought)
        return at

    def startswith(self, sought, start=0):
        self.count += len(sought)
        return super().startswith(sought, start)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("share", [2, 5, 40])
@pytest.mark.parametrize("ending", ["", "x"])
def test_a_long_quote_is_looked_for_in_linear_time(piece, share, ending):
    def characters_compared(length):
        text = Compared(piece * (length // len(piece)))
        list(quotes.occurrences(text, text[: length // share] + ending))
        return text.count

    assert characters_compared(20_000) < LINEAR * characters_compared(10_000)


@given(st.text("ab ", max_size=40), st.text("ab ", min_size=1, max_size=12))
def test_every_occurrence_is_found_once_and_in_order(text, sought):
    assert list(quotes.occurrences(text, sought)) == [
        at for at in range(len(text)) if text.startswith(sought, at)
    ]


def test_the_span_gives_the_stored_words_back():
    assert stored("the first fee") == "The ﬁrst fee"
    assert stored('"non-professional" means a') == "“Non-Profes\u00adsional” means a"
    assert stored("ter-\nmination") == "ter-\nmination"


def test_half_a_ligature_is_no_match():
    assert find_quote("the oﬃce", "the of") is None


def test_superscripts_do_not_become_digits():
    assert find_quote("an area of 10² metres", "an area of 102 metres") is None


def test_hyphens_between_digits_stay_even_at_a_line_end():
    assert find_quote("on 10-\n15 days", "on 1015 days") is None


def test_of_several_occurrences_the_one_nearest_to_the_hint_is_taken():
    text = "The fee is due. Again: The fee is due. And: The fee is due."
    starts = [match.start() for match in re.finditer("The fee is due", text)]
    match = find_quote(text, "The fee is due.", near=starts[1] + 2)
    assert match is not None
    assert match.span.start == starts[1]


@settings(deadline=None)
@given(texts, st.data())
def test_whatever_is_cut_at_word_borders_is_found_as_it_stands(text, data):
    borders = [m.start() for m in re.finditer(r"(?<!\S)(?=\S)", text)]
    ends = [m.start() for m in re.finditer(r"(?<=\S)(?!\S)", text)]
    assume(borders)
    start = data.draw(st.sampled_from(borders))
    end = data.draw(st.sampled_from([end for end in ends if end > start]))
    match = find_quote(text, text[start:end], near=start)
    assert match is not None
    assert match.level is MatchLevel.EXACT
    assert match.span.start == start
    assert text[match.span.start : match.span.end] == text[start:end]


@settings(deadline=None)
@given(texts, st.integers(0, 60), st.integers(0, 60), st.sampled_from([str.upper, str.lower, str.split]))
def test_a_match_holds_the_same_digits_and_nothing_more_than_the_quote(text, start, end, reset):
    quote = "".join(reset(text[start:end]))
    match = find_quote(text, quote)
    words = text[match.span.start : match.span.end] if match else quote
    assert re.findall(r"\d", words) == re.findall(r"\d", quote)
    assert match is None or find_quote(words, quote) is not None


@settings(deadline=None)
@given(texts, st.integers(0, 9))
def test_an_altered_digit_never_matches_the_place_it_was_altered_at(text, digit):
    places = [i for i, character in enumerate(text) if character.isdigit() and character != str(digit)]
    assume(places)
    altered = text[: places[0]] + str(digit) + text[places[0] + 1 :]
    assert find_quote(text, altered) is None


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_is_searched_without_failing(text, quote):
    match = find_quote(text, quote)
    assert match is None or 0 <= match.span.start < match.span.end <= len(text)


@pytest.mark.parametrize(
    "quote",
    [
        "payable with\u200bin thirty",
        "\u202epayable within thirty",
        "payable within thirty\u2069",
        "payable\U000e0041 within",
    ],
    ids=["zero width", "override", "isolate", "tag"],
)
def test_a_quote_with_characters_that_nobody_sees_stands_nowhere(quote):
    assert stored(quote) is None
