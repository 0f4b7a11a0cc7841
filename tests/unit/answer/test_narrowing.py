"""A claim of more than its clause speaks of: what the clause narrows, who acts, and the party of a row."""

from __future__ import annotations

from itertools import product

import pytest

from services.answer.verification.comparing import compare
from services.answer.verification.passages import Passage
from tests.unit.nouns import a_chunk

ADJECTIVES = ("undisputed", "overdue", "direct", "existing", "registered", "unaudited", "non-professional")
NOUNS = ("invoice", "subscriber", "report", "export")
SHARES = ("any", "every", "each")
FRAMES = (
    ("The Vendor may suspend delivery after {clause}.", "The Vendor may suspend delivery after {claim}."),
    ("The Vendor refunds the deposit for {clause}.", "The deposit for {claim} is refunded by the Vendor."),
)
NARROWED = (
    ("A discount is granted to customers that buy two licences.", "Customers get a discount."),
    ("Reports which concern trading sites are published.", "Reports are published."),
    ("No fee is due from a customer who pays for the Classic feed.", "No fee is due from anyone."),
    ("Fees paid in error are credited.", "Fees are credited."),
    ("The Vendor refunds any taxes for which the customer is exempt.", "The Vendor refunds any taxes."),
    ("Displays and panels that display marks of the firm are returned.", "Displays and panels are returned."),
    ("Users located in Norway pay no tax.", "Users pay no tax."),
    ("The data may be used for teaching and unpublished theses only.", "The data may be used for theses."),
    ("The data may be shown to staff exclusively.", "The data may be shown."),
    ("The Vendor repairs its equipment.", "The Vendor repairs its equipment of every kind."),
)


def differences(claim: str, clause: str, source: str = "acme"):
    passage = Passage(a_chunk(clause, source=source), (), (clause,), f"Terms of {source.title()}")
    return compare(claim, passage, {}).differences


@pytest.mark.parametrize(
    ("adjective", "noun", "share", "frame"), list(product(ADJECTIVES, NOUNS, SHARES, FRAMES))
)
def test_a_noun_that_a_clause_narrows_is_not_any_of_its_kind(adjective, noun, share, frame):
    clause = frame[0].format(clause=f"each {adjective} {noun}")

    assert differences(frame[1].format(claim=f"{share} {adjective} {noun}"), clause) == ()
    assert differences(frame[1].format(claim=f"{share} {noun}"), clause)
    assert differences(frame[1].format(claim=f"the {noun}"), clause)


@pytest.mark.parametrize(("clause", "claim"), NARROWED)
def test_what_narrows_a_clause_belongs_to_the_claim(clause, claim):
    assert differences(clause, clause) == ()
    assert differences(claim, clause)


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        ("The Vendor must keep full and accurate records.", "The Vendor must keep records."),
        ("The Vendor keeps undisputed reports and other reports.", "The Vendor keeps reports."),
        ("The fee is payable in United States dollars.", "The fee is payable in US dollars."),
        ("The Vendor keeps reports that concern audits for a year.", "The Vendor keeps audits for a year."),
    ],
)
def test_words_that_narrow_nothing_that_is_claimed_may_be_left_out(clause, claim):
    assert differences(claim, clause) == ()


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        ("The Licensee must keep its logs for a year.", "Acme must keep its logs for a year."),
        ("The Licensee shall notify Acme of the audit.", "Acme has to tell of the audit."),
        ("The logs must be kept for a year.", "Acme must keep the logs for a year."),
        ("The Supplier shall own Supplier customizations.", "The Customer shall own customizations."),
        ("An audit by the Distributor takes ten days.", "An audit that the Licensee does takes ten days."),
        ("The Subscriber bears the cost of the audit.", "The Vendor pays for the cost of the audit."),
    ],
)
def test_a_party_that_does_not_act_in_the_clause_is_not_who_acts(clause, claim):
    assert "name" in [difference.rule.value for difference in differences(claim, clause)]


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        ("An audit costs the Licensee USD 50.", "Acme charges USD 50 for an audit."),
        ("Acme, or an auditor appointed by it, may audit the Licensee.", "Acme may audit the Licensee."),
        ("The Licensee must keep its logs.", "An Acme licensee must keep its logs."),
    ],
)
def test_a_party_may_stand_in_another_place_where_it_does_the_same(clause, claim):
    assert differences(claim, clause) == ()
