"""What a question asks of the documents that it names."""

from __future__ import annotations

import pytest

from corpus.spans import Span
from services.retrieval.names.asking import without_names

ROLES = {"Acme Corp.": "Licensor", "Acme": "Licensor", "Globex": "Licensee", "Initech": "", "Hooli": ""}


def asked(question):
    """With the names of `ROLES` out of it, the longest first."""
    names = {}
    for name, role in ROLES.items():
        at = question.find(name)
        if at >= 0 and not any(span.start <= at < span.end for span in names):
            names[Span(at, at + len(name))] = role
    return without_names(question, names, [Span(0, len(question))])


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("When must Acme pay Globex?", "When must the Licensor pay the Licensee?"),
        ("When must Initech pay?", "When must the company pay?"),
        ("Does Acme's cover lapse?", "Does the Licensor's cover lapse?"),
        ("Is there a cap in the Acme lease?", "Is there a cap in the agreement?"),
        ("Is there a cap in our Acme software licence?", "Is there a cap in our agreement?"),
        ("Is there a cap under the Acme wireless music deal?", "Is there a cap under the agreement?"),
        ("Is there a cap in the Acme insurance policy?", "Is there a cap in the insurance policy?"),
        ("Who ends the Acme–Globex collaboration?", "Who ends the agreement?"),
        (
            "What do Acme and Globex of the group owe?",
            "What do the Licensor and the Licensee of the group owe?",
        ),
        ("Who ends what the Initech and Hooli teams do?", "Who ends what the parties teams do?"),
        ("Is there a cap under Acme's contract?", "Is there a cap under the Licensor's contract?"),
        ("Is there a cap in a Hooli order?", "Is there a cap in a order?"),
        ("Who ends the Acme / Globex alliance?", "Who ends the agreement?"),
        ("What do Initech and Hooli owe each other?", "What do the parties owe each other?"),
        ("What do Acme and Globex owe each other?", "What do the Licensor and the Licensee owe each other?"),
        ("How long is the Initech warranty?", "How long is the company warranty?"),
    ],
)
def test_names_give_way_to_what_the_document_says_in_their_place(question, plain):
    assert asked(question) == plain


@pytest.mark.parametrize("question", ["Acme", "Acme / Globex", "What is it with Initech?", "Acme?"])
def test_a_question_that_only_names_stays_as_it_is(question):
    assert asked(question) == question


@pytest.mark.parametrize(
    "question",
    ["How big is the booth of Initech at the trade show?", "Does Acme cover blockchain administration?"],
)
def test_all_other_words_stay(question):
    plain = asked(question)
    assert [word for word in question.split() if word not in ROLES and word not in plain.split()] == []


def test_only_the_segments_that_ask_are_kept():
    question = "Consider the Acme lease; who pays Globex?"
    names = {Span(13, 17): "Landlord", Span(34, 40): ""}
    assert without_names(question, names, [Span(24, len(question))]) == "who pays the company?"
