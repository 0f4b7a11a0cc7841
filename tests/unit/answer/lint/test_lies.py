"""Lies made of words of the documents: each is found, and the sentences that they are made of pass."""

from __future__ import annotations

import pytest

from services.answer.rewriting import unsupported
from services.answer.verification.lint import lint, replaced_words
from tests.lies import FACTORS, lies

LIES = list(lies())


@pytest.mark.parametrize(("kind", "said", "lie"), LIES)
def test_a_lie_in_the_documents_words_is_found(kind, said, lie):
    assert lint(lie, [said])


@pytest.mark.parametrize(("kind", "said", "lie"), LIES)
def test_a_lie_is_found_among_other_quotes(kind, said, lie):
    others = ["Schedule 7 lists the holidays of the exchange.", "Trading begins at 9:30."]
    assert lint(lie, [*others, said])


@pytest.mark.parametrize("said", sorted({said for _, said, _ in LIES}))
def test_what_a_lie_is_made_of_passes_with_itself(said):
    assert lint(said, [said]) == ()


@pytest.mark.parametrize(("said", "lie"), FACTORS)
def test_a_rewritten_text_keeps_factors_fractions_and_units_of_money(said, lie):
    assert unsupported(lie, said, [])
    assert unsupported(f"Dear reader. {said}", said, [], "Begin with Dear reader.") == ()


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("The Licensee shall destroy the Data.", "The Licensee shall return the Data."),
        ("The Licensee may view the Data.", "The Licensee may display the Data."),
        ("The fee is invoiced on delivery.", "The fee is refunded on delivery."),
    ],
)
def test_a_word_in_the_place_of_another_is_named(statement, quote):
    assert replaced_words(statement, [quote])


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("The Licensee shall return the Data.", "The Licensee shall return all Data."),
        ("The fee is USD 50.", "The fee of the Vendor is USD 50."),
    ],
)
def test_words_left_out_replace_nothing(statement, quote):
    assert replaced_words(statement, [quote]) == ()
