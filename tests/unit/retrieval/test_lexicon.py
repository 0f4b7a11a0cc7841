"""The lexicon adds the words of a topic, and question words say nothing."""

from __future__ import annotations

import pytest

from corpus.stems import stems_of
from services.retrieval.lexicon import LEXICON, content_stems, lexicon_stems, question_stems


@pytest.mark.parametrize("topic", LEXICON)
def test_every_topic_adds_its_words_to_a_question_that_names_it(topic):
    assert set(stems_of(LEXICON[topic])) <= set(lexicon_stems(f"Is there a {topic.upper()} clause?"))


@pytest.mark.parametrize("question", ["the capital of a company", "is liability uncapped", "priceless", ""])
def test_a_part_of_a_word_names_no_topic(question):
    assert not set(lexicon_stems(question)) & set(stems_of(LEXICON["cap"])) - set(
        stems_of(LEXICON["uncapped"])
    )


def test_inflections_name_a_topic():
    assert set(stems_of(LEXICON["cap"])) <= set(lexicon_stems("Are damages subject to caps?"))


def test_each_stem_is_added_once():
    added = lexicon_stems("profit and revenue, renewal and renew")
    assert len(added) == len(set(added))


def test_question_words_are_dropped():
    assert question_stems("Does this contract include a most favored nation clause?") == [
        "most",
        "favor",
        "nation",
    ]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How much does the Customer pay each month?", ["custom", "pay", "each", "month"]),
        ("Within how many days is it due?", ["within", "day", "due"]),
    ],
)
def test_a_question_for_an_amount_is_about_what_is_counted(question, about):
    assert question_stems(question) == about


@pytest.mark.parametrize("question", ["What is this contract?", "is it?"])
def test_a_question_of_question_words_keeps_some(question):
    assert question_stems(question)


def test_passages_lose_stop_words_only():
    assert content_stems("The contract is not assigned to any party") == [
        "contract",
        "assign",
        "ani",
        "parti",
    ]
