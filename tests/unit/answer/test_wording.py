"""What code says of snippets."""

from __future__ import annotations

import pytest

from corpus.stems import stems_of
from services.answer.contracts.snippets import MAX_SUMMARY_SENTENCES, sentence_count
from services.answer.research.wording import NOTHING_FOUND, mentions, none_stands, shared_words, summary_of

STEMS = frozenset(stems_of("monthly fees devices"))


def test_words_are_spelled_as_the_quote_spells_them() -> None:
    assert shared_words("A Fee per Device; the fee is due.", STEMS) == ("Fee", "Device")


@pytest.mark.parametrize("quote", ["a non-exclusive one", "a non-\nexclusive one", "a non‑exclusive one"])
def test_half_of_a_hyphenated_word_is_no_word_of_the_question(quote: str) -> None:
    assert shared_words(quote, frozenset(stems_of("Who is non-professional?"))) == ()


@pytest.mark.parametrize("quote", ["“Non-Professional” means", "a Non-\nProfessional"])
def test_a_hyphenated_word_of_the_question_is_named_whole(quote: str) -> None:
    assert shared_words(quote, frozenset(stems_of("Who is non-professional?"))) == ("Non-Professional",)


def test_a_relevance_names_the_words_that_the_quote_holds() -> None:
    assert (
        mentions("The monthly fee is due for a Device.", STEMS) == "Mentions “monthly”, “fee” and “Device”."
    )


def test_a_relevance_without_a_shared_word_says_so() -> None:
    assert mentions("It is governed by English law.", STEMS) == "Holds no word of the question."


def test_a_summary_says_how_many_whence_and_with_which_words() -> None:
    quotes = ["The monthly fee is due.", "A fee per device."]

    assert summary_of(quotes, ["A", "B"], STEMS) == (
        "2 passages are quoted from “A” and “B”. "
        "Of the question’s words they hold “monthly”, “fee” and “device”."
    )


@pytest.mark.parametrize(
    ("titles", "named"),
    [
        (["A", "A", "B", "C", "D"], "5 passages are quoted from “A”, “B”, “C” and 1 more document."),
        (["A", "B", "C", "D", "E"], "5 passages are quoted from “A”, “B”, “C” and 2 more documents."),
    ],
)
def test_a_summary_names_a_few_titles(titles: list[str], named: str) -> None:
    summary = summary_of(["Nothing shared."] * len(titles), titles, STEMS)

    assert summary == f"{named} They hold none of the question’s words."
    assert 1 <= sentence_count(summary) <= MAX_SUMMARY_SENTENCES


@pytest.mark.parametrize(
    ("quote", "held"),
    [
        ("The fee is due.", "Of the question’s words it holds “fee”."),
        ("Nothing shared.", "It holds none of the question’s words."),
    ],
)
def test_a_summary_of_one_passage_speaks_of_one(quote: str, held: str) -> None:
    summary = summary_of([quote], ["A"], STEMS)

    assert summary == f"1 passage is quoted from “A”. {held}"
    assert 1 <= sentence_count(summary) <= MAX_SUMMARY_SENTENCES


def test_a_summary_of_nothing_says_that_there_is_nothing() -> None:
    assert summary_of([], [], STEMS) == NOTHING_FOUND


def test_passages_that_stand_nowhere_are_counted() -> None:
    assert none_stands(1) == "The one passage named does not stand in the documents."
    assert none_stands(3) == "None of the 3 passages named stands in the documents."
