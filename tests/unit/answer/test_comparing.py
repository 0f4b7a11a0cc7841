"""A claim beside a clause: what it says beyond it, what it says otherwise, and what is the same."""

from __future__ import annotations

import pytest

from services.answer.verification.comparing import Comparison, compare
from services.answer.verification.passages import Passage
from tests.lies import lies
from tests.unit.nouns import a_chunk


def compared(claim: str, clause: str, around: str = "") -> Comparison:
    return compare(claim, Passage(a_chunk(clause), (), (clause,), around), {})


@pytest.mark.parametrize(
    ("claim", "clause"),
    [
        (
            "The Vendor has to tell the Licensee in writing 30 days ahead of an audit.",
            "The Vendor may audit the Licensee on not less than 30 days’ written notice.",
        ),
        ("The term is two years.", "The term is 24 months."),
        ("The contract ends after three years.", "This Agreement terminates after 3 years."),
        ("Overdue sums bear interest.", "Interest accrues on overdue amounts."),
        (
            "The Vendor refunds the cost of the audit.",
            "The Vendor must reimburse the cost of the audit.",
        ),
        ("Reports need not be filed.", "The Licensee is not required to submit reports."),
        ("Fees go up by more than 5 per cent.", "The Fees increase by more than five per cent."),
    ],
)
def test_what_other_words_say_is_no_difference(claim, clause):
    assert compared(claim, clause).differences == ()


@pytest.mark.parametrize(
    ("claim", "clause", "said", "instead"),
    [
        ("Notice of 60 days is due.", "Notice of ninety (90) days is due.", "60 days", "ninety (90) days"),
        ("The fee is USD 50.", "The fee is EUR 60. A report costs USD 70.", "USD 50", "USD 70"),
        ("The rate is 5 %.", "The rate is 6 per cent.", "5 %", "6 per"),
        ("The feed ends on 30 June 2026.", "The feed stops on 26 June 2026.", "30 June 2026", "26 June 2026"),
        ("The Licensee must keep logs.", "The Licensee may keep logs.", "must", "may"),
        ("The fee is paid before delivery.", "The fee is paid after delivery.", "before delivery", "after"),
        ("The fee is gross of tax.", "The fee is net of tax.", "gross", "net"),
        ("The Licensee indemnifies Acme.", "Acme indemnifies the Licensee.", "Licensee", "Acme"),
    ],
)
def test_what_a_clause_says_otherwise_stands_beside_the_words_of_the_claim(claim, clause, said, instead):
    comparison = compared(claim, clause)

    assert comparison.contradicted
    marked = {
        claim[difference.span.start : difference.span.end]: difference.clause_text
        for difference in comparison.differences
        if difference.span
    }
    assert instead.casefold() in marked[said].casefold()


def test_a_negation_that_a_claim_leaves_out_contradicts():
    comparison = compared("The fees are refunded.", "The fees are not refunded.")

    assert comparison.contradicted
    assert [difference.clause_text for difference in comparison.differences] == ["not refunded"]


def test_a_denial_in_other_words_does_not_contradict():
    comparison = compared(
        "The Vendor does not accept rounded prices as derived data.",
        "Rounded prices do not create derived data.",
    )

    assert comparison.differences
    assert not comparison.contradicted


@pytest.mark.parametrize(
    ("claim", "clause", "beyond"),
    [
        ("A trial of 14 days includes hardware.", "A trial lasts 14 days.", "hardware"),
        ("The Vendor bears the cost in every case.", "The Vendor bears the cost.", "in every case"),
        ("The Licensee may show it to anyone.", "The Licensee may show it to its clients.", "anyone"),
        ("The Licensee stores the logs.", "The Licensee may store the logs.", "stores"),
        ("The fee of USD 50 is due.", "The fee is due.", "USD 50"),
        ("Acme bears the cost.", "The Vendor bears the cost.", "Acme"),
    ],
)
def test_what_a_claim_says_beyond_its_clause_is_marked_and_contradicts_nothing(claim, clause, beyond):
    comparison = compared(claim, clause)

    spans = [difference.span for difference in comparison.differences if difference.span]
    assert beyond in [claim[span.start : span.end] for span in spans]
    assert not comparison.contradicted


@pytest.mark.parametrize(
    "clause",
    [
        "The Licensee may use the logs if the Vendor has consented.",
        "Unless the Vendor objects, the Licensee may use the logs.",
        "The Licensee may use the logs, provided that they are encrypted.",
    ],
)
def test_a_condition_that_a_claim_leaves_out_is_a_difference(clause):
    assert compared("The Licensee may use the logs.", clause).differences


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        (
            "The rights under this Agreement end at once if the Licensee breaks a term of this Agreement.",
            "The rights under this Agreement end at once.",
        ),
        (
            "Upon termination the Licensee must, upon the Vendor’s request, return the logs.",
            "Upon termination the Licensee must return the logs.",
        ),
        (
            "Where secret data of a hospital has been stolen by a thief, the Licensee must destroy the data.",
            "The Licensee must destroy the secret data.",
        ),
    ],
)
def test_words_that_stand_elsewhere_too_do_not_tell_a_condition(clause, claim):
    assert compared(clause, clause).differences == ()
    assert "condition" in [difference.rule.value for difference in compared(claim, clause).differences]


def test_names_that_have_changed_places_are_a_difference():
    clause = "The Vendor, or an auditor appointed by it, may audit the books of the Licensee once a year."
    turned = "The Licensee, or an auditor appointed by it, may audit the books of the Vendor once a year."

    assert compared(clause, clause).differences == ()
    assert compared(turned, clause).differences


def test_headings_lend_words_and_no_numbers():
    heading = "4. Audit of 2025"

    assert compared("An audit takes 30 days.", "It takes 30 days.", heading).differences == ()
    assert compared("It takes 2025 days.", "It takes 30 days.", heading).contradicted


def test_what_speaks_of_something_else_contradicts_nothing():
    comparison = compared("A port costs USD 50 in London.", "Notice of a strike costs nobody USD 70.")

    assert comparison.differences
    assert not comparison.contradicted


@pytest.mark.parametrize(("kind", "said", "lie"), list(lies()))
def test_every_lie_differs_from_what_it_is_made_of(kind, said, lie):
    assert compared(lie, said).differences


@pytest.mark.parametrize("said", sorted({said for _, said, _ in lies()}))
def test_what_a_lie_is_made_of_says_itself(said):
    assert compared(said, said).differences == ()
