"""Cards of documents: first pages of our own, odd ones among them, and laws that hold for any text."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.profiles import (
    MAX_OTHER_NAMES,
    MAX_PARTIES,
    DatePrecision,
    DocumentKind,
    DocumentProfile,
    OtherNameKind,
    ProfileTitle,
    StatedDate,
)
from corpus.spans import Span
from services.ingest.documents import Block, BlockKind, DocumentFormat, ExtractedDocument
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.profile import profile_of
from services.retrieval.profiles import check_profile

EXAMPLES = Path(__file__).parents[3] / "examples" / "corpus"


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
        (("CONFIDENTIALITY AGREEMENT", "We keep it."), "Confidentiality Agreement"),
        (("CONFIDENTIAL", "SUPPLY AGREEMENT", "We deliver."), "Supply Agreement"),
        (("Cooperation Agreement on Mobile Games", "We play."), "Cooperation Agreement on Mobile Games"),
        (("ACME, INC. SUPPLY AGREEMENT", "We deliver."), "Supply Agreement"),
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
        (
            "This Agreement is between Marrow Savings and Loan Association (“Marrow”) and Zeta Science and"
            " Technology Co., Ltd., a company listed in London and the Northern Exchange Limited (“Zeta”).",
            ["Marrow Savings and Loan Association", "Zeta Science and Technology Co., Ltd."],
        ),
        (
            "This Agreement is between Quill, Marrow & Farrant, Inc., a company of Ohio, and Water Now, Inc.",
            ["Quill, Marrow & Farrant, Inc.", "Water Now, Inc."],
        ),
    ],
)
def test_the_parties_are_those_that_the_agreement_is_between(paragraph, expected):
    assert parties("AGREEMENT", paragraph) == expected


def test_the_kind_is_that_of_the_title():
    assert card("MUTUAL NON-DISCLOSURE AGREEMENT", "It is agreed.").kind is DocumentKind.CONFIDENTIALITY


def test_a_document_without_a_title_is_of_no_kind():
    assert card("The goods are delivered in May.").kind is DocumentKind.OTHER


def test_a_document_need_not_have_a_title():
    found = card("This Agreement is made on May 2, 2020 between Acme, Inc. (“Acme”) and Zeta GmbH (“Zeta”).")
    assert (found.title, len(found.parties)) == (None, 2)


def test_a_document_need_not_have_parties():
    assert card("DELIVERY TERMS", "Goods are delivered in May. They are paid for in June.").parties == ()


def test_parties_of_a_table_are_found():
    rows = ("Licensor | Brackwater Optics, Inc.", "Licensee | Odile Farrant", "Term | Two years")
    assert parties("LICENCE AGREEMENT", "\n".join(rows)) == ["Brackwater Optics, Inc.", "Odile Farrant"]


@pytest.mark.parametrize(
    "lines", [("MASTER SERVICES\nAND SUPPORT AGREEMENT",), ("MASTER SERVICES AND SUPPORT", "AGREEMENT")]
)
def test_a_title_may_take_two_lines(lines):
    assert title(*lines, "This Agreement is made on May 2, 2020.") == "Master Services and Support Agreement"


def test_a_cover_page_names_the_same_parties():
    found = card(
        "SUPPLY AGREEMENT",
        "BY AND BETWEEN",
        "BRACKWATER OPTICS, INC.",
        "AND",
        "ZETA GLASS GMBH",
        "DATED AS OF MARCH 3, 2019",
        "TABLE OF CONTENTS\n1. Definitions 4\n2. Supply of Glass and Lenses 7\n3. Audit and Records 9",
        "SUPPLY AGREEMENT",
        "THIS SUPPLY AGREEMENT, dated as of March 3, 2019, is between Brackwater Optics, Inc., a Delaware"
        " corporation (“Brackwater”), and Zeta Glass GmbH, a German company (“Zeta”).",
    )
    assert [party.name for party in found.parties] == ["Brackwater Optics, Inc.", "Zeta Glass GmbH"]
    assert "Zeta" in [other.text for other in found.parties[1].other_names]


def test_a_letter_is_between_its_writer_and_the_person_whom_it_addresses():
    found = card(
        "Brackwater Optics, Inc.\n4 Dock Road\nGhent",
        "March 3, 2019",
        "Mr. Emil Tarn\n12 Quay Street",
        "Dear Mr. Tarn:",
        "This letter agreement tells on what terms you work for us.",
        "Very truly yours,",
        "BRACKWATER OPTICS, INC.\nBy: ____________\nName: Odile Farrant",
        "Accepted and agreed:\n____________\nEmil Tarn",
    )
    assert found.title is not None
    assert found.title.text == "Letter Agreement"
    assert sorted(party.name.casefold() for party in found.parties) == [
        "brackwater optics, inc.",
        "emil tarn",
    ]
    assert found.dated is not None
    assert found.dated.iso == "2019-03-03"


def test_a_letter_to_an_officer_is_not_between_its_writer_and_him():
    lines = "Mr. Emil Tarn\nSenior Vice President\nZeta Works", "Dear Mr. Tarn:", "We write about glass."
    assert parties("March 3, 2019", *lines) == []


def test_a_letter_is_of_the_date_above_its_address():
    found = card(
        "AGENCY AGREEMENT",
        "____________ __, 2001",
        "Ladies and Gentlemen:",
        "Acme, Inc. (“Acme”) confirms its agreement with Quill & Marrow, Inc. (the “Agent”). A plan dated as"
        " of May 2, 1999 tells more.",
    )
    assert found.dated is not None
    assert found.dated.iso == "2001"


def test_an_amendment_names_what_it_amends():
    found = card(
        "AMENDMENT NO. 2 TO DISTRIBUTOR AGREEMENT",
        "This Amendment No. 2 to the Distributor Agreement dated as of May 1, 2015 is entered into as of June"
        " 30, 2017 by and between Acme, Inc. (“Acme”) and Zeta GmbH (the “Distributor”).",
    )
    assert found.kind is DocumentKind.AMENDMENT
    assert found.dated is not None
    assert found.dated.iso == "2017-06-30"
    assert found.amends is not None
    assert found.amends.title == "Distributor Agreement"
    assert found.amends.dated is not None
    assert found.amends.dated.iso == "2015-05-01"


@pytest.mark.parametrize("blank", ["[***]", "[●]", "____________", "[NAME OF SUPPLIER]"])
def test_a_party_that_is_left_out_is_no_party(blank):
    text = (
        f"This Agreement is made between Acme, Inc., a Delaware company (“Acme”), and {blank} (“Supplier”)."
    )
    assert parties("SUPPLY AGREEMENT", text) == ["Acme, Inc."]


def test_a_list_may_begin_with_a_party_that_is_left_out():
    text = "This Agreement is made between ____________, a company of Ohio, and Acme, Inc. (“Acme”)."
    assert parties("SUPPLY AGREEMENT", text) == ["Acme, Inc."]


def test_a_page_in_capitals_is_read_like_any_other():
    found = card("EXHIBIT 10.1", "CONSULTING AGREEMENT", PREAMBLE.upper())
    assert found.title is not None
    assert found.title.text == "Consulting Agreement"
    assert [party.name for party in found.parties] == ["BRACKWATER OPTICS, INC.", "ODILE FARRANT"]


def test_three_parties_may_have_a_person_among_them():
    text = (
        "This Agreement is made by and among Acme, Inc. (“Acme”), Zeta GmbH (“Zeta”) and Odile Farrant, an"
        " individual residing in Ghent (“Farrant”)."
    )
    assert parties("AGREEMENT", text) == ["Acme, Inc.", "Zeta GmbH", "Odile Farrant"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("LIZENZVERTRAG", "zwischen der Acme Optik GmbH, Wien, und der Zeta Glas AG, Bern.", "Lizenzvertrag"),
        ("CONTRAT DE LICENCE", "entre Acme Optik GmbH et Zeta Glas AG, Berne.", "Contrat de Licence"),
    ],
)
def test_other_languages_are_read_as_far_as_their_names_go(first, second, expected):
    found = card(first, second)
    assert found.title is not None
    assert found.title.text == expected
    assert [party.name for party in found.parties] == ["Acme Optik GmbH", "Zeta Glas AG"]


def test_a_policy_is_its_issuers():
    found = card(
        "Derived Data Policy",
        "Brackwater Stock Exchange, Inc. Version 3, effective 1 July 2025.",
        "This policy tells who may derive data.",
    )
    assert found.title is not None
    assert (found.title.text, found.kind) == ("Derived Data Policy", DocumentKind.POLICY)
    assert [party.name for party in found.parties] == ["Brackwater Stock Exchange, Inc."]
    assert found.effective is not None
    assert found.effective.iso == "2025-07-01"


def test_the_date_of_an_amendment_is_not_that_of_what_it_amends():
    found = card(
        "SECOND AMENDMENT TO SERVICES AGREEMENT",
        "This SECOND AMENDMENT TO SERVICES AGREEMENT, dated as of March 1, 2016, is between Acme, Inc."
        " (“Acme”) and Zeta GmbH (“Zeta”).",
        "WHEREAS, the parties entered into that certain Services Agreement dated as of January 2, 2004;",
    )
    assert found.dated is not None
    assert found.dated.iso == "2016-03-01"
    assert found.amends is not None
    assert found.amends.dated is not None
    assert found.amends.dated.iso == "2004-01-02"


@pytest.mark.parametrize(
    ("words", "iso", "precision"),
    [
        ("made as of March 3, 2019", "2019-03-03", DatePrecision.DAY),
        ("made and entered into this 3rd day of March, 2019,", "2019-03-03", DatePrecision.DAY),
        ("entered into as of this third day of March 2019", "2019-03-03", DatePrecision.DAY),
        ("dated 3 March 2019", "2019-03-03", DatePrecision.DAY),
        ("dated as of 2019-03-03", "2019-03-03", DatePrecision.DAY),
        ("made on 3/30/2019", "2019-03-30", DatePrecision.DAY),
        ("made on 30.3.2019", "2019-03-30", DatePrecision.DAY),
        ("made on 3/4/2019", "2019", DatePrecision.YEAR),
        ("made this ____ day of June, 1999", "1999-06", DatePrecision.MONTH),
        ("made as of June __, 1999", "1999-06", DatePrecision.MONTH),
        ("made as of June [●], 1999", "1999-06", DatePrecision.MONTH),
        ("made as of [ ] day of [ ], 1999", "1999", DatePrecision.YEAR),
        ("made as of ________, 1999", "1999", DatePrecision.YEAR),
    ],
)
def test_a_date_is_told_as_precisely_as_it_is_stated(words, iso, precision):
    made = card(f"This Agreement is {words} between Acme, Inc. (“Acme”) and Zeta GmbH (“Zeta”).").dated
    assert made is not None
    assert (made.iso, made.precision) == (iso, precision)


@pytest.mark.parametrize(
    "words",
    [
        "effective for all purposes as of March 1, 2011",
        "made as of [Date]",
        "made between the parties",
        "made on February 30, 2019",
        "under the Act of 1 May 1934",
    ],
)
def test_a_date_that_is_not_stated_is_absent(words):
    assert card(f"This Agreement is {words} and binds both.").dated is None


@pytest.mark.parametrize(
    "words",
    [
        "made on 1 May 2020 and effective as of June 2, 2020",
        "made on 1 May 2020. It shall be effective on June 2, 2020",
        "made on 1 May 2020. “Effective Date” means June 2, 2020",
        "entered into as of June 2, 2020 (the “Effective Date”)",
        "entered into as of June 2, 2020 (“Effective Date”)",
        "made on 1 May 2020. It will commence on June 2, 2020 (the “Effective Date”)",
        "made on 1 May 2020.\n1. EFFECTIVE DATE: June 2, 2020",
    ],
)
def test_the_effective_date_is_found(words):
    found = card(f"This Agreement is {words}.").effective
    assert found is not None
    assert found.iso == "2020-06-02"


def test_signatures_date_an_agreement_that_says_no_date_if_they_agree():
    ends = "IN WITNESS WHEREOF the parties sign.", "ACME, INC.\nBy: ____\nDate: May 2, 2020"
    assert card("SUPPLY AGREEMENT", *ends, "ZETA GMBH\nBy: ____\nDate: May 3, 2020").dated is None
    dated = card("SUPPLY AGREEMENT", *ends, "ZETA GMBH\nBy: ____\nDate: May 2, 2020").dated
    assert dated is not None
    assert dated.iso == "2020-05-02"


@pytest.mark.parametrize(
    ("name", "behind", "expected"),
    [
        ("Slinger Bag Inc.", "(“Slingerbag”)", [("Slinger Bag", "plain"), ("Slingerbag", "defined")]),
        ("Acme, Inc.", "(the “Licensor”)", [("Acme", "plain"), ("Licensor", "role")]),
        (
            "Acme, Inc.",
            "(hereinafter referred to as the “Licensor”)",
            [("Acme", "plain"), ("Licensor", "role")],
        ),
        ("Grey Stone Kiln Ltd.", "(“GSK”)", [("Grey Stone Kiln", "plain"), ("GSK", "abbreviation")]),
        (
            "Zeta Glass GmbH",
            "(“Zeta” or “Supplier”)",
            [("Zeta Glass", "plain"), ("Zeta", "defined"), ("Supplier", "role")],
        ),
        ("Acme, Inc.", "f/k/a Marrow Works, Inc.,", [("Acme", "plain"), ("Marrow Works, Inc.", "former")]),
        ("Acme, Inc.", "d/b/a Dockside", [("Acme", "plain"), ("Dockside", "trade")]),
        ("Acme, Inc.", "(Buyer)", [("Acme", "plain"), ("Buyer", "role")]),
        ("Acme, Inc.", "(each a “Party”)", [("Acme", "plain")]),
    ],
)
def test_other_names_of_a_party_say_what_they_are(name, behind, expected):
    party = card(f"This Agreement is between {name} {behind} and Yolla S.A. of Bern (“Yolla”).").parties[0]
    assert [(other.text, other.kind.value) for other in party.other_names] == expected


def test_several_parties_may_share_a_name():
    found = card(
        "This Agreement is between Acme, Inc. (“Acme”), Zeta GmbH (“Zeta”; Acme and Zeta together the"
        " “Publishers”) and Yolla S.A. (“Yolla”)."
    )
    shared = [
        party.name for party in found.parties if "Publishers" in {other.text for other in party.other_names}
    ]
    assert shared == ["Acme, Inc.", "Zeta GmbH"]


ODD_PAGES = {
    "fax header": (
        "FACSIMILE TRANSMISSION",
        "TO: Orla Brandt, Legal\nFROM: M. Okafor, Kestrel Freight Ltd.\nDATE: 3 March 2021\nPAGES: 14",
        "Please find the signed pages attached. Call if any page is missing.",
        "HAULAGE AGREEMENT",
        "THIS HAULAGE AGREEMENT is made on 1 February 2021 between Kestrel Freight Ltd. (“Carrier”) and"
        " Brandt Mills GmbH (“Shipper”).",
    ),
    "cover letter": (
        "15 June 2022",
        "Dear Ms. Quist,",
        "Enclosed is a copy of the Supply Agreement between Norrland Timber AB and your company, which our"
        " board approved on 2 June 2022. Please countersign and return it.",
        "Yours sincerely,",
        "H. Lindqvist\nNorrland Timber AB",
    ),
    "table of contents": (
        "TABLE OF CONTENTS",
        "1. Definitions ........ 3\n2. Licence ........ 5\n3. Fees ........ 8\nExhibit A Prices ........ 21",
        "SOFTWARE LICENCE AGREEMENT",
        "This Software Licence Agreement is entered into as of September 9, 2019 by and between Plover"
        " Systems, Inc., a Delaware corporation (“Licensor”), and Tarn Data LLC (“Licensee”).",
    ),
    "letterhead": (
        "HARROW & PIKE LLP\nAttorneys at Law\n12 Mill Lane, Boston, MA 02110",
        "PRIVILEGED AND CONFIDENTIAL",
        "Consulting Agreement",
        "This Agreement is made on 4 May 2018 between Gannet Media Inc. (the “Company”) and Jane Rowe (the"
        " “Consultant”).",
    ),
    "redlined draft": (
        "H&P DRAFT 7/11/2020 – SUBJECT TO REVIEW",
        "[DELETED: MASTER] SERVICES AGREEMENT",
        "This Services Agreement (this “Agreement”) is made as of [July __, 2020] between Osprey Cloud, Inc."
        " (“Provider”) and [CUSTOMER NAME] (“Customer”).",
    ),
    "two agreements": (
        "NON-DISCLOSURE AGREEMENT",
        "This Non-Disclosure Agreement is made on 1 March 2017 between Wren Labs Ltd. and Ibis Pharma plc.",
        "1. Each party keeps the other’s information secret.",
        "PURCHASE AGREEMENT",
        "This Purchase Agreement is made on 9 August 2018 between Wren Labs Ltd. (“Seller”) and Stork"
        " Holdings B.V. (“Buyer”).",
    ),
    "all capitals": (
        "DISTRIBUTION AGREEMENT",
        "THIS AGREEMENT IS MADE THE 5TH DAY OF APRIL, 2016 BETWEEN CURLEW FOODS LIMITED (THE “SUPPLIER”) AND"
        " DUNLIN TRADING COMPANY, INC. (THE “DISTRIBUTOR”).",
    ),
    "no parties": (
        "GENERAL CONDITIONS OF CARRIAGE",
        "These conditions apply to every consignment.",
        "1. The carrier is liable for loss up to 8.33 units of account per kilogram.",
    ),
    "French letter": (
        "Paris, le 3 mars 2020",
        "Objet : contrat de distribution",
        "Madame, Monsieur,",
        "Nous vous confirmons que le contrat conclu le 12 janvier 2020 reste en vigueur.",
        "Veuillez agréer nos salutations distinguées.",
    ),
    "form with blanks": (
        "LEASE AGREEMENT",
        "This Lease Agreement is made this ____ day of ____________, 20__ by and between"
        " ______________________ (“Landlord”) and ______________________ (“Tenant”).",
    ),
}


@pytest.mark.parametrize(
    ("page", "named", "made", "between"),
    [
        ("fax header", "Haulage Agreement", "2021-02-01", ["Kestrel Freight Ltd.", "Brandt Mills GmbH"]),
        ("cover letter", None, "2022-06-15", ["Norrland Timber AB"]),
        (
            "table of contents",
            "Software Licence Agreement",
            "2019-09-09",
            ["Plover Systems, Inc.", "Tarn Data LLC"],
        ),
        ("letterhead", "Consulting Agreement", "2018-05-04", ["Gannet Media Inc.", "Jane Rowe"]),
        ("redlined draft", "Services Agreement", None, ["Osprey Cloud, Inc."]),
        ("two agreements", "Non-Disclosure Agreement", "2017-03-01", ["Wren Labs Ltd.", "Ibis Pharma plc"]),
        (
            "all capitals",
            "Distribution Agreement",
            "2016-04-05",
            ["CURLEW FOODS LIMITED", "DUNLIN TRADING COMPANY, INC."],
        ),
        ("no parties", None, None, []),
        ("French letter", None, None, []),
        ("form with blanks", "Lease Agreement", None, []),
    ],
)
def test_of_an_odd_first_page_a_card_says_what_is_true_or_nothing(page, named, made, between):
    found = card(*ODD_PAGES[page])
    assert (found.title.text if found.title else None) == named
    assert (found.dated.iso if found.dated else None) == made
    assert [party.name for party in found.parties] == between


def test_what_a_party_is_called_whose_name_is_left_out_is_no_name_of_the_party_before():
    (provider,) = card(*ODD_PAGES["redlined draft"]).parties
    assert [name.text for name in provider.other_names] == ["Osprey Cloud", "Provider"]


@pytest.mark.parametrize(
    "second",
    [
        "the company named as licensee in the Order Form",
        "the person who accepts these terms",
        "any Customer that signs an order",
        "the undersigned",
        "[name of licensee]",
    ],
)
def test_the_role_of_a_party_that_is_not_named_is_none_of_the_party_before(second):
    text = f"THIS AGREEMENT is made between Acme Limited (“Acme”), and {second} (the “Licensee”)."
    (party,) = card(text).parties
    assert [name.text for name in party.other_names if name.text != "Acme Limited"] == ["Acme"]


@pytest.mark.parametrize(
    "name", ["Zeta GmbH", "Zeta plc", "Zeta Limited", "Zeta Inc.", "Zeta L.P.", "Zeta Pty. Ltd."]
)
def test_the_full_stop_of_a_sentence_belongs_to_no_name(name):
    sentence = f"This Supply Agreement is made on 1 July 2020 between Acme, Inc. and {name.rstrip('.')}."
    assert parties("SUPPLY AGREEMENT", sentence) == ["Acme, Inc.", name]


@pytest.mark.parametrize("file_name", ["SLINGERBAGINC_07_07_2020-EX-10.txt", "in/SlingerbagInc_8-K.txt"])
def test_a_file_may_be_named_after_a_party(file_name):
    found = card("This Agreement is between Slinger Bag Inc. and Odile Farrant.", file_name=file_name)
    assert found.parties[0].other_names[-1].kind is OtherNameKind.FILE_NAME
    assert found.parties[0].other_names[-1].span is None
    assert found.filed_under is None


def test_a_company_of_the_file_name_that_the_text_does_not_name_is_kept_apart():
    assert card(PREAMBLE, file_name="MARROWWORKSINC_2020.txt").filed_under == "MARROWWORKSINC"


@pytest.mark.parametrize("file_name", ["consulting_agreement_final.docx", "2020-05.txt", "a", ""])
def test_a_file_name_without_a_company_says_nothing(file_name):
    found = card(PREAMBLE, file_name=file_name)
    kinds = {other.kind for party in found.parties for other in party.other_names}
    assert (found.filed_under, OtherNameKind.FILE_NAME in kinds) == (None, False)


@pytest.mark.parametrize(
    ("path", "title", "kind", "party"),
    [
        (
            "quillhaven/market-data-fee-schedule.pdf",
            "Market Data Fee Schedule",
            DocumentKind.SCHEDULE,
            "Quillhaven",
        ),
        (
            "quillhaven/non-display-use-policy.html",
            "Non-Display Use Policy",
            DocumentKind.POLICY,
            "Quillhaven",
        ),
        ("tarnholm/definitions-schedule.pdf", "Definitions Schedule", DocumentKind.SCHEDULE, "Tarnholm"),
        (
            "tarnholm/market-data-licence-agreement.docx",
            "Market Data Licence Agreement",
            DocumentKind.LICENCE,
            "Tarnholm",
        ),
        (
            "quillhaven/notices/2025-17-fee-changes.txt",
            "Market Data Notice 2025-17",
            DocumentKind.NOTICE,
            "Quillhaven",
        ),
    ],
)
def test_the_examples_have_their_cards(path, title, kind, party):
    document = parse(EXAMPLES / path, format_of(path), ParsingLimits(), lambda done, total: None)
    found = profile_of(document, path)
    assert found.title is not None
    assert (found.title.text, found.kind) == (title, kind)
    assert [named.name.split()[0].title() for named in found.parties] == [party]


def stated(found: DocumentProfile) -> list[tuple[str, Span]]:
    """Everything that a card states in the words of the text, and where."""
    said = [(party.name, party.span) for party in found.parties]
    said += [(other.text, other.span) for party in found.parties for other in party.other_names if other.span]
    said += [
        (title.text if isinstance(title, ProfileTitle) else title.title, title.span)
        for title in (found.title, found.amends)
        if title
    ]
    return said


def dates_of(found: DocumentProfile) -> list[StatedDate]:
    amended = found.amends.dated if found.amends else None
    return [date for date in (found.dated, found.effective, amended) if date]


FRAGMENTS = st.sampled_from(
    [
        *("THIS AGREEMENT ", "This Amendment No. 2 to the Lease ", "by and between ", "Exhibit 10.1", "AND "),
        *(
            "Acme, Inc. ",
            "Zeta GmbH",
            "(“Acme”) ",
            '(the "Licensor") ',
            " and ",
            ", ",
            ". ",
            "\n",
            "\n\n",
            "WHEREAS ",
        ),
        *(
            "dated as of ",
            "June __, 1999",
            "5/5/2020",
            "31 April 2020",
            "effective ",
            "(",
            ")",
            "“",
            "[***]",
            "By: ",
        ),
        *(
            "IN WITNESS WHEREOF ",
            "SUPPLY AGREEMENT",
            "d/b/a ",
            "Dear Mr. Tarn",
            "İSTANBUL ",
            "ß",
            "\u3000",
            "1. ",
            "TABLE OF CONTENTS",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(FRAGMENTS, max_size=60).map("".join))


@given(TEXTS, st.text(max_size=40))
def test_a_card_states_words_of_its_text(text, file_name):
    found = card(text, file_name=file_name)
    for words, span in stated(found):
        assert 0 <= span.start < span.end <= len(text)
        assert " ".join(text[span.start : span.end].split()).casefold() == words.casefold()
    for date in dates_of(found):
        assert 0 <= date.span.start < date.span.end <= len(text)
        assert date.iso[2:4] in text[date.span.start : date.span.end]


@given(TEXTS, st.text(max_size=40))
def test_the_index_takes_the_card_of_any_text(text, file_name):
    check_profile("profile", card(text, file_name=file_name))


def test_a_name_that_is_too_long_for_one_is_left_out():
    long = " ".join(["Wintergreen-Marketing-And-Distribution-Partners"] * 8)
    found = card(f"THIS AGREEMENT is made by and between Acme, Inc., {long}, Inc. and Zeta GmbH, who agree.")
    names = [party.name for party in found.parties]
    assert (names[0], names[-1], len(names)) == ("Acme, Inc.", "Zeta GmbH", 2)


def test_a_card_holds_so_many_parties():
    many = ", ".join(f"Acme{number}, Inc." for number in range(MAX_PARTIES + 9))
    found = card(f"THIS AGREEMENT is made by and between {many} and Zeta GmbH, who agree.")
    assert len(found.parties) == MAX_PARTIES


def test_a_party_holds_so_many_other_names():
    many = "”, “".join(f"Name{number}" for number in range(MAX_OTHER_NAMES + 9))
    found = card(f"THIS AGREEMENT is made by and between Acme, Inc. (“{many}”) and Zeta GmbH, who agree.")
    assert len(found.parties[0].other_names) == MAX_OTHER_NAMES


@given(TEXTS)
def test_a_card_has_each_party_once(text):
    found = [party.name for party in card(text).parties]
    assert len(found) == len(set(found))


def calls_for(text: str) -> int:
    """How many calls of functions a card takes, built-in ones among them."""
    document = document_of(text)
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        profile_of(document, "a.txt")
    finally:
        sys.setprofile(before)
    return count


@given(st.lists(FRAGMENTS, min_size=1, max_size=6).map("".join))
def test_twice_the_text_takes_at_most_twice_the_work(fragments):
    text = fragments * (2_000 // len(fragments) + 1)
    assert calls_for(text * 2) <= 2.2 * calls_for(text) + 2_000


def test_behind_the_first_pages_the_work_does_not_grow():
    text = PREAMBLE + "\n\nAcme, Inc. (“Acme”) and Zeta GmbH by and between dated as of May 2020. " * 400
    assert calls_for(text * 20) <= 1.1 * calls_for(text)


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "\n" * 100_000, "x" * 10_000_000, "A " * 5_000_000, "(“" * 50_000]
)
def test_bad_input_makes_an_empty_card(text):
    found = card(text)
    assert (found.title, found.parties, found.dated, found.effective) == (None, (), None, None)
