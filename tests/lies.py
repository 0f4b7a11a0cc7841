"""Statements that a careless or dishonest model makes of a sentence: every word stands there, and it lies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

FACTS = (
    "the Subscriber owns the Data",
    "the Licensee may redistribute the Data",
    "the fee of USD 50 is refundable",
    "the Data is accurate and complete",
)
DENIALS = (
    "The Vendor denies that {fact}.",
    "The Vendor denies, to the fullest extent permitted by applicable law, that {fact}.",
    "Denying that {fact}, the Vendor settles the dispute.",
    "The Vendor disputes that {fact}.",
    "The Vendor has at all times contested that {fact}.",
    "The Vendor disclaims any warranty that {fact}.",
    "The Vendor refuses to accept that {fact}.",
    "The Vendor rejects the assertion that {fact}.",
    "The Vendor makes no representation that {fact}.",
    "The Vendor does not warrant or represent that {fact}.",
    "It is not the case that {fact}.",
    "Nothing in these terms, express or implied by custom, shall be taken to mean that {fact}.",
    "Without admitting that {fact}, the Vendor pays the costs.",
    "The parties doubt that {fact}.",
    "The Licensee alleges that {fact}.",
    "The Licensee has asserted in its letters that {fact}.",
    "The Licensee believes that {fact}.",
)
CONDITIONS = (
    "{fact} only if the Licensor has consented in writing.",
    "{fact} if the Licensor has consented in writing.",
    "{fact} unless the Licensor has objected in writing.",
    "{fact}, provided that all invoices are paid.",
    "{fact}, so long as all invoices are paid.",
    "{fact} on condition that the Licensor agrees.",
    "{fact} in the event that the Licensor ceases business.",
    "{fact} with the prior written consent of the Licensor.",
    "{fact} except during a suspension.",
    "{fact}, save where Schedule 2 says otherwise.",
    "{fact} subject to Schedule 2.",
    "{fact} to the extent permitted by Schedule 2.",
    "{fact} other than in Category 3 territories.",
    "Provided that the Licensor has consented, {fact}.",
    "Unless the Licensor has objected, {fact}.",
    "Subject to Schedule 2, {fact}.",
)
TURNED = (
    ("Title passes from {a} to {b}.", "Title passes from {b} to {a}."),
    ("The licence is granted by {a} to {b}.", "The licence is granted by {b} to {a}."),
    ("{a} shall indemnify {b}.", "{b} shall indemnify {a}."),
    ("{a} shall indemnify {b}.", "{a} is indemnified by {b}."),
    ("{a} indemnifies {b} against claims.", "{b} indemnifies {a} against claims."),
    ("The fee is paid by {a} to {b}.", "{b} shall pay the fee to {a}."),
    ("Invoices are sent from {a} to {b} each month.", "Invoices are sent from {b} to {a} each month."),
    ("{a} shall pay USD 50. {b} may terminate at any time.", "{a} may terminate at any time."),
)
PARTIES = (("the Vendor", "the Licensee"), ("the Licensor", "the Distributor"), ("OPRA", "the Subscriber"))
EXCHANGED = (
    ("The royalty is 8% of net sales.", "The royalty is 8% of gross sales."),
    ("Payment is due after delivery.", "Payment is due before delivery."),
    ("Payment is due prior to delivery.", "Payment is due after delivery."),
    ("Payment is due within 30 days.", "Payment is due after 30 days."),
    ("Payment is due within 30 days after invoice.", "Payment is due within 30 days before invoice."),
    ("Notice is given after thirty (30) days.", "Notice is given within 30 days."),
    ("The rate applies until 1 March 2026.", "The rate applies after 1 March 2026."),
    ("The rate applies from 1 March 2026.", "The rate applies before 1 March 2026."),
    ("The licence is granted during the term.", "The licence is granted after the term."),
    ("Some Users pay the fee.", "All Users pay the fee."),
    ("The minimum fee is USD 50.", "The maximum fee is USD 50."),
    ("Fees are exclusive of tax.", "Fees are inclusive of tax."),
    ("The Licensor bears direct damages.", "The Licensor bears indirect damages."),
    ("The fee increases each year.", "The fee decreases each year."),
    ("Data is received from the Vendor.", "Data is received by the Vendor."),
)
MODALS = (
    ("The Licensee shall pay the fee.", "The Licensee may pay the fee."),
    ("The Licensee may audit the Vendor.", "The Licensee shall audit the Vendor."),
    ("The Licensee shall not copy the Data.", "The Licensee may copy the Data."),
    ("The Licensee should keep records.", "The Licensee must keep records."),
    ("The Licensee is not required to pay.", "The Licensee must not pay."),
)
FACTORS = (
    ("The fee is USD 50.", "The fee is double USD 50."),
    ("The fee is USD 50.", "The fee is twice USD 50."),
    ("The fee is USD 50.", "The fee is half of USD 50."),
    ("The fee is USD 50.", "The fee is one third of USD 50."),
    ("The fee is USD 50.", "The fee is two-thirds of USD 50."),
    ("The fee is USD 50.", "The fee is a quarter of USD 50."),
    ("The fee is USD 50.", "The fee is three times USD 50."),
    ("The fee is USD 50.", "The fee is tripled to USD 50."),
    ("The fee is USD 50.", "The fee is ½ of USD 50."),
    ("The fee is USD 50.", "The fee is USD 50 million."),
    ("The fee is USD 50.", "The fee is USD 50k."),
    ("The fee is USD 50.", "The fee is 50 cents."),
    ("The fee is 50 cents.", "The fee is USD 50."),
    ("The fee is 50 pence.", "The fee is 50 pounds."),
    ("The fee is USD 50 million.", "The fee is USD 50."),
    ("The fee is double USD 50.", "The fee is USD 50."),
    ("The fee is half of USD 50.", "The fee is USD 50."),
    ("The fee is one third of USD 50.", "The fee is USD 50."),
    ("The fee is one third of USD 50.", "The fee is two thirds of USD 50."),
    ("The cap is twice the annual fee.", "The cap is the annual fee."),
    ("The cap is three times the annual fee.", "The cap is the annual fee."),
    ("The cap is half of the annual fee.", "The cap is twice the annual fee."),
    ("The fee is USD 50 per month.", "The fee is USD 50 per year."),
    ("The fee is USD 50 per user.", "The fee is USD 50 per device."),
    ("The fee is 50 basis points.", "The fee is 50 percent."),
)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _of_parties(text: str, a: str, b: str) -> str:
    return _sentence(text.format(a=a, b=b)).replace(". the", ". The")


def lies() -> Iterator[tuple[str, str, str]]:
    """What is done, what the document says, and the lie that is told of it."""
    for fact, frame in product(FACTS, DENIALS):
        yield "denial left out", frame.format(fact=fact), f"{_sentence(fact)}."
    for fact, frame in product(FACTS, CONDITIONS):
        yield "condition left out", _sentence(frame.format(fact=fact)), f"{_sentence(fact)}."
    for (said, lie), (a, b) in product(TURNED, PARTIES):
        yield "parties turned round", _of_parties(said, a, b), _of_parties(lie, a, b)
    for what, pairs in (("exchanged", EXCHANGED), ("modal", MODALS), ("factor", FACTORS)):
        for said, lie in pairs:
            yield what, said, lie
