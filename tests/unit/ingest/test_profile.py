"""Cards of documents: first pages of our own, odd ones among them, and laws that hold for any text."""

import pytest

from corpus.spans import Span
from services.ingest.documents import Block, BlockKind, DocumentFormat, ExtractedDocument
from services.ingest.profile import profile_of
from services.ingest.profile.records import DocumentProfile, Kind


def document_of(*paragraphs: str) -> ExtractedDocument:
    blocks, text = [], ""
    for paragraph in paragraphs:
        text += "\n\n" if text else ""
        blocks.append(Block(BlockKind.PARAGRAPH, Span(len(text), len(text) + len(paragraph))))
        text += paragraph
    return ExtractedDocument(DocumentFormat.TEXT, None, text, tuple(blocks))


def card(*paragraphs: str, file_name: str = "a.txt") -> DocumentProfile:
    return profile_of(document_of(*paragraphs), file_name)


def title(*paragraphs: str) -> str | None:
    found = card(*paragraphs).title
    return found.text if found else None


def parties(*paragraphs: str) -> list[str]:
    return [party.name for party in card(*paragraphs).parties]


PREAMBLE = (
    "This Consulting Agreement (the “Agreement”) is made as of March 3, 2019 by and between"
    " Brackwater Optics, Inc., a Delaware corporation (“Brackwater”), and Odile Farrant, an individual"
    " residing in Ghent (the “Consultant”)."
)


@pytest.mark.parametrize(
    ("paragraphs", "expected"),
    [
        (("CONSULTING AGREEMENT", PREAMBLE), "Consulting Agreement"),
        (("Consulting Agreement", "The work is done at home."), "Consulting Agreement"),
        ((PREAMBLE,), "Consulting Agreement"),
        (("Exhibit 10.1", "SUPPLY AGREEMENT", "This Agreement is made on 1 May 2020."), "Supply Agreement"),
        (("Exhibit 10.1 SUPPLY AGREEMENT This Agreement is made on 1 May 2020.",), "Supply Agreement"),
        (("EXECUTION VERSION", "FORM OF LICENCE AGREEMENT", "by and between"), "Licence Agreement"),
        (("SUPPLY AGREEMENT BETWEEN ACME LTD AND ZETA GMBH", "It is agreed."), "Supply Agreement"),
        (
            ("AMENDMENT NO. 2 TO DISTRIBUTOR AGREEMENT", "It is agreed."),
            "Amendment No. 2 to Distributor Agreement",
        ),
        (("TERMS AND CONDITIONS OF SALE", "We deliver."), "Terms and Conditions of Sale"),
    ],
)
def test_the_title_is_what_a_person_would_call_the_document(paragraphs, expected):
    assert title(*paragraphs) == expected


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (PREAMBLE, ["Brackwater Optics, Inc.", "Odile Farrant"]),
        ("This Agreement is between Acme Ltd (“Acme”) and Zeta GmbH (“Zeta”).", ["Acme Ltd", "Zeta GmbH"]),
        (
            "THIS LEASE is made between ACME LTD. (“Landlord”), ZETA CO., LTD. and YOLLA S.A. (“Tenants”).",
            ["ACME LTD.", "ZETA CO., LTD.", "YOLLA S.A."],
        ),
        (
            "This Agreement is between (1) Acme plc, a company incorporated in England and Wales (“Acme”),"
            " and (2) the City of Marrow, Ohio (the “City”).",
            ["Acme plc", "City of Marrow"],
        ),
        (
            "Acme, Inc., with offices at 4 Dock Road (“Acme”) and Zeta B.V. (“Zeta”) agree as follows:",
            ["Acme, Inc.", "Zeta B.V."],
        ),
    ],
)
def test_the_parties_are_those_that_the_agreement_is_between(paragraph, expected):
    assert parties("AGREEMENT", paragraph) == expected


def test_the_kind_is_that_of_the_title():
    assert card("MUTUAL NON-DISCLOSURE AGREEMENT", "It is agreed.").kind is Kind.CONFIDENTIALITY


def test_a_document_without_a_title_is_of_no_kind():
    assert card("The goods are delivered in May.").kind is Kind.OTHER
