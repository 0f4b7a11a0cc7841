from __future__ import annotations

import pytest

from corpus.stems import stems_of
from services.answer.evidence.everyday import EVERYDAY, contract_stems


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Can we walk away at any time?", "termination"),
        ("Who foots the bill for shipping?", "expense"),
        ("Are we on the hook for their losses?", "liable"),
        ("Which country's law applies?", "governed"),
    ],
)
def test_what_people_say_stands_for_what_contracts_say(question, word):
    assert set(stems_of(word)) <= contract_stems(question)


def test_a_way_of_asking_counts_only_with_all_of_its_words_in_order():
    assert not set(stems_of("termination")) & contract_stems("May we put the plug back when we pull in?")


def test_a_question_in_other_words_adds_nothing():
    assert contract_stems("Hello there") == frozenset()


@pytest.mark.parametrize("words", EVERYDAY)
def test_every_word_of_the_list_can_be_looked_for(words):
    assert all(stems_of(word) for word in words.split())
