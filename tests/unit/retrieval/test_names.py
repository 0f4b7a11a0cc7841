"""The names in a question: which documents they name, and which of them no document bears."""

from __future__ import annotations

import pytest

from corpus.documents import DocumentId
from corpus.profiles import OtherName, OtherNameKind, Party
from services.retrieval.corpus import EVERYWHERE, Scope
from services.retrieval.names.finding import find, is_unknown, nearest
from services.retrieval.names.index import NamedDocument, NameIndex, Spelling
from services.retrieval.names.unmatched import Use
from services.retrieval.routing import Head, HeadIndex
from tests.cards import HERE, a_card, on

FILLING = (
    "The parties agree on services, fees, notices, audit rights and the governing law of the state. " * 8
)
CONTRACTS = [
    ("reseller", "Reseller Agreement", (("Skyline Systems, Inc.", "Skyline"), ("Borealis Holdings, Ltd.",))),
    ("hosting", "Hosting Agreement", (("Cormorant Systems, Inc.",), ("Halberd Ltd.", "HLB"))),
    ("supply", "Supply Agreement", (("Sling Bag, Inc.", "Slingbag"), ("Ashgrove Foods, LLC",))),
    ("licence", "Licence Agreement", (("Quillon & Marrow, Inc.",), ("Opera Limited", "Opera"))),
    ("sponsoring", "Sponsorship Agreement", (("Logan's Roadhouse, Inc.",), ("Tamarind Racing, LLC",))),
    ("consulting", "Consulting Agreement", (("Osprey Energy Corp.", "Osprey"), ("Jane Fennimore",))),
    ("amendment", "Amendment to the Hosting Agreement", (("Cormorant Systems, Inc.",), ("Halberd Ltd.",))),
    ("advice", "Consulting Agreement", (("Larkspur Trust",), ("AT&T Mobility LLC", "AT&T"))),
    ("first", "Lease Agreement", (("Vantage Estates, Inc.",), ("Merridew GmbH",))),
    ("second", "Lease Agreement", (("Vantage Estates, Inc.",), ("Merridew GmbH",))),
]
DATES = {"first": on("2018-04-01"), "second": on("2020-04-01")}


def document_id(name):
    return DocumentId(f"contracts/{name}.txt")


def named_document(name, title, parties):
    return NamedDocument.of(document_id(name), "", a_card(title, *parties, dated=DATES.get(name)))


def head_of(name, title, parties):
    text = f"{title.upper()} between {' and '.join(names[0] for names in parties)}. {FILLING}"
    return Head.of(document_id(name), title, text)


def index_of(*contracts, usage=lambda stem: 0.0):
    heads = HeadIndex([head_of(*contract) for contract in contracts], usage)
    return NameIndex([named_document(*contract) for contract in contracts], heads, usage)


INDEX = index_of(*CONTRACTS)


def documents_named(question, index=INDEX, scope=EVERYWHERE):
    return [
        [document.removeprefix("contracts/").removesuffix(".txt") for document in name.documents]
        for name in find(index, question, scope).named
    ]


def unmatched(question):
    return [(name.text, name.use) for name in find(INDEX, question).unmatched]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What does the Skyline agreement say about audits?", "reseller"),
        ("What must Borealis pay?", "reseller"),
        ("What must Skyline Systems, Inc. pay?", "reseller"),
        ("When does SlingBag deliver?", "supply"),
        ("When does Sling Bag's partner deliver?", "supply"),
        ("When does Sling-Bag deliver?", "supply"),
        ("When does Ashgrove deliver?", "supply"),
        ("what must ashgrove foods deliver?", "supply"),
        ("what does opera license?", "licence"),
        ("What does Quillon & Marrow license?", "licence"),
        ("Which cars do the Logan's stickers go on?", "sponsoring"),
        ("Which cars do the Logans' stickers go on?", "sponsoring"),
        ("How much notice does Ms. Fennimore give?", "consulting"),
        ("Is AT&T's liability capped?", "advice"),
        ("Does HLB host in France?", "hosting"),
    ],
)
def test_a_name_of_a_party_names_its_document(question, name):
    assert documents_named(question) == [[name]]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What must Borealsi pay?", "reseller"),
        ("What must Boralis pay?", "reseller"),
        ("What must Borealiss pay?", "reseller"),
        ("What must Borealys pay?", "reseller"),
    ],
)
def test_a_name_with_one_letter_wrong_is_recognised(question, name):
    found = find(INDEX, question).named
    assert [(each.documents, each.spelling) for each in found] == [
        ((document_id(name),), Spelling.ONE_LETTER)
    ]


@pytest.mark.parametrize(
    "question", ["What must Sklyne pay?", "What must Opra pay?", "Is Operations liable?"]
)
def test_shorter_names_and_more_letters_wrong_are_not(question):
    assert documents_named(question) == []


def test_words_that_documents_use_are_no_slip_of_the_pen():
    index = index_of(*CONTRACTS, usage=lambda stem: 0.02)
    assert documents_named("What must Borealys pay?", index) == []


@pytest.mark.parametrize(
    "question",
    [
        "Who indemnifies the Licensee for Confidential Information?",
        "Does New York law govern in January?",
        "WHO PAYS THE FOODS OF THE ENERGY TRUST?",
        "Which systems and holdings are leased?",
        "What does a racing driver earn?",
        "Brad Skylark left. What now?",
        "Is there an operation?",
        "",
        "?!;",
    ],
)
def test_other_words_name_nothing(question):
    assert documents_named(question) == []
    assert unmatched(question) == []


def test_small_letters_name_nothing_where_documents_use_the_word():
    index = index_of(*CONTRACTS, usage=lambda stem: 0.2)
    assert documents_named("what does opera license?", index) == []
    assert documents_named("What does Opera license?", index) == [["licence"]]


def test_parties_of_one_document_name_it_once():
    assert documents_named("May Skyline sue Borealis?") == [["reseller"]]


def test_documents_named_apart_are_found_apart_in_the_order_of_naming():
    assert documents_named("Is liability capped in the Osprey and in the Borealis agreements?") == [
        ["consulting"],
        ["reseller"],
    ]


def test_what_a_document_is_called_tells_documents_of_the_same_parties_apart():
    assert documents_named("Does the amendment between Cormorant and Halberd change the fees?") == [
        ["amendment"]
    ]


def test_a_year_tells_documents_with_equal_cards_apart():
    assert documents_named("What is the rent in the 2020 Vantage lease?") == [["second"]]


def test_documents_with_equal_cards_are_named_together():
    assert documents_named("What is the rent in the Vantage lease?") == [["first", "second"]]


def test_the_title_of_one_document_names_it():
    assert documents_named("Who pays under the Sponsorship Agreement of Tamarind?") == [["sponsoring"]]


def test_a_name_that_only_the_head_holds_counts_as_borne():
    """A card misses a party, which the first lines of its document name."""
    contracts = [("whole", "Supply Agreement", (("Corvid, Inc.",), ("Pemberly, Inc.",)))]
    index = NameIndex(
        [
            named_document("whole", "Supply Agreement", (("Corvid, Inc.",),)),
            named_document("other", "Supply Agreement", (("Pemberly, Inc.",), ("Dunmore, Inc.",))),
        ],
        HeadIndex(
            [
                head_of(*contracts[0]),
                head_of("other", "Supply Agreement", (("Pemberly, Inc.",), ("Dunmore, Inc.",))),
            ],
            lambda stem: 0.0,
        ),
        lambda stem: 0.0,
    )
    assert documents_named("What must Corvid pay Pemberly?", index) == [["whole"]]


def test_a_company_in_a_file_name_names_its_document():
    filed = a_card("", filed_under="ALLIEDESPORTSENTERTAINMENTINC")
    document = NamedDocument.of(document_id("x"), "", filed)
    index = NameIndex(
        [document], HeadIndex([Head.of(document.document_id, "", "")], lambda stem: 0.0), lambda s: 0.0
    )
    assert documents_named("What does Allied Esports pay?", index) == [["x"]]
    assert documents_named("What does AlliedEsportsEntertainment pay?", index) == [["x"]]
    assert documents_named("What does Allied pay?", index) == []


def test_only_documents_in_scope_are_named():
    two = Scope(document_ids=(document_id("amendment"), document_id("supply")))
    assert documents_named("What must Halberd pay?", scope=two) == [["amendment"]]
    assert documents_named("What must Borealis pay?", scope=Scope(sources=("other",))) == []


def test_what_another_card_calls_its_party_by_is_no_name_that_is_missing():
    nda = ("nda", "Confidentiality Agreement", (("Wrenfield Ltd.", "Receiving Party"), ("Tolland Inc.",)))
    index = index_of(nda, CONTRACTS[0], usage=lambda stem: 0.9)
    scope = Scope(document_ids=(document_id("reseller"),))
    assert find(index, "May the Receiving Party keep a copy?", scope).unmatched == ()
    (name,) = find(index, "May Wrenfield keep a copy?", scope).unmatched
    assert name.text == "Wrenfield"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Is there a cap in the agreement between Skyline and Borealis?", "Is there a cap"),
        ("Is there a cap in the Boralis agreement?", "Is there a cap in the agreement?"),
        ("Is there a cap under the Osprey and Borealis agreements?", "Is there a cap under the agreement?"),
        ("Is there a cap in the supply agreement with Slingbag?", "Is there a cap in the agreement with"),
        ("What is the supply agreement fee to Slingbag?", "What is the supply agreement fee to"),
        ("Borealis", "Borealis"),
        ("Is there a cap?", "Is there a cap?"),
    ],
)
def test_the_clause_question_is_what_is_left_without_the_names(question, asked):
    clause_question = find(INDEX, question).clause_question
    assert "Osprey" not in clause_question
    assert clause_question.startswith(asked)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the cap in the Microsoft agreement?", "Microsoft"),
        ("What is the cap in the Microsoft Master Services Agreement?", "Microsoft"),
        ("When does our contract with Microsoft end?", "Microsoft"),
        ("Is there a cap in the deal between Zyx Widgets, Inc. and us?", "Zyx Widgets, Inc"),
        ("Does our Microsoft NDA end?", "Microsoft"),
        ("Does IBM's supply contract end?", "IBM"),
    ],
)
def test_a_name_by_which_a_question_calls_a_document_is_found_unmatched(question, name):
    assert unmatched(question) == [(name, Use.DOCUMENT)]


@pytest.mark.parametrize(
    "question",
    [
        "Does Microsoft have to pay?",
        "What is Microsoft's notice period?",
        "When can Microsoft terminate?",
        "What rights do we have against Microsoft?",
    ],
)
def test_a_name_of_somebody_who_acts_is_found_unmatched(question):
    assert unmatched(question) == [("Microsoft", Use.PARTY)]


@pytest.mark.parametrize(
    "question",
    [
        "Does GDPR apply?",
        "Is there an ESG clause?",
        "Must ZZTOP be paid?",
        "Are Delaware courts competent?",
        "Does French law govern?",
        "Is the Licensee bound by the Credit Agreement?",
        "Does the Supplier's Net Price include VAT?",
        "WHAT DOES MICROSOFT PAY?",
        "What Does Microsoft Pay?",
        "How long does it take to integrate with Dropbox?",
        "May Borealis Systems pay?",
        "Summarise the agreement",
        "Termination for convenience?",
        "Is Jim Fennimore bound?",
    ],
)
def test_what_is_no_name_of_a_document_is_not_found_unmatched(question):
    assert unmatched(question) == []


def test_half_of_what_is_named_may_be_unmatched():
    question = "Is liability capped in the Borealis and the Microsoft agreements?"
    assert documents_named(question) == [["reseller"]]
    assert unmatched(question) == [("Microsoft", Use.DOCUMENT)]


def test_a_badly_misspelt_name_beside_a_right_one_is_taken_for_the_other_party():
    assert unmatched("Is there a cap in the agreement between Skyline and Boraliss?") == []


def test_a_name_in_no_text_is_unknown():
    found = find(INDEX, "Does Microsoft have to pay?")
    assert is_unknown(INDEX, found, found.unmatched[0], [])


def test_a_party_that_some_text_mentions_is_not_unknown():
    found = find(INDEX, "Does Microsoft have to pay?")
    assert not is_unknown(INDEX, found, found.unmatched[0], [document_id("reseller")])


def test_a_document_called_by_a_name_that_texts_only_mention_is_unknown():
    found = find(INDEX, "What is the cap in the Microsoft agreement?")
    assert is_unknown(INDEX, found, found.unmatched[0], [document_id("reseller")])


def test_a_name_in_the_text_of_a_document_whose_card_may_miss_a_party_is_not_unknown():
    index = index_of(*CONTRACTS, ("short", "Supply Agreement", (("Corvid, Inc.",),)))
    found = find(index, "What is the cap in the Microsoft agreement?")
    assert not is_unknown(index, found, found.unmatched[0], [document_id("short")])


def test_a_name_in_some_text_is_not_unknown_beside_a_document_that_is_named():
    found = find(INDEX, "Does the Borealis contract replace the Microsoft agreement?")
    assert not is_unknown(INDEX, found, found.unmatched[0], [document_id("reseller")])


def test_within_chosen_documents_only_a_name_that_stands_nowhere_is_unknown():
    chosen = Scope(document_ids=(document_id("reseller"),))
    found = find(INDEX, "What does it say of the Osprey agreement?", chosen)
    assert found.named == ()
    assert is_unknown(INDEX, found, found.unmatched[0], [], chosen)
    assert not is_unknown(INDEX, found, found.unmatched[0], [document_id("reseller")], chosen)


def test_the_nearest_names_are_full_names_of_parties_most_alike_first():
    assert nearest(INDEX, "Cormorand System") == ("Cormorant Systems, Inc.",)
    assert nearest(INDEX, "Merridow") == ("Merridew GmbH",)
    assert nearest(INDEX, "Merridow", Scope(sources=("other",))) == ()
    assert nearest(INDEX, "Zyx") == ()


def test_an_empty_index_names_nothing():
    index = index_of()
    found = find(index, "Does Microsoft have to pay?")
    assert found.named == ()
    assert [name.text for name in found.unmatched] == ["Microsoft"]
    assert nearest(index, "Microsoft") == ()


def test_roles_name_nobody():
    supplier = Party("Corvid, Inc.", HERE, (OtherName("Zulu", OtherNameKind.ROLE, HERE),))
    profile = a_card("", parties=(supplier,))
    index = NameIndex(
        [NamedDocument.of(document_id("x"), "", profile)],
        HeadIndex([Head.of(document_id("x"), "", "")], lambda stem: 0.0),
        lambda stem: 0.0,
    )
    assert documents_named("What does Zulu pay?", index) == []
    assert documents_named("What does Corvid pay?", index) == [["x"]]


def test_a_document_without_a_card_is_named_by_its_title_and_leaves_the_rest_to_its_head():
    document = NamedDocument.of(document_id("x"), "Market Data Policy", None)
    head = Head.of(document_id("x"), "Market Data Policy", "Zephyr wrote it.")
    index = NameIndex([document], HeadIndex([head], lambda stem: 0.0), lambda stem: 0.0)
    found = find(index, "Does the Zephyr agreement or the Market Data Policy cap fees?")
    assert found.named == ()
    assert found.unmatched == ()


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("Which law governs the supply agreement?", [["supply"]]),
        ("Which law governs our Hosting Contract?", [["hosting", "amendment"]]),
        ("Which law governs the hosting amendment?", [["amendment"]]),
        ("Which law governs the original supply agreement?", []),
        ("Which law governs a supply agreement?", []),
        ("Which law governs the agreement?", []),
        ("Which of our supply agreements have a cap?", []),
        ("Which law governs the supply agreement fee?", []),
        ("Which law governs the rules for supply agreements?", []),
        ("Which law governs the supply agreement with Globex?", []),
        ("Which law governs the supply agreement with Osprey?", [["consulting"]]),
    ],
)
def test_a_title_names_documents_where_nothing_else_does(question, documents):
    assert sorted(map(sorted, documents_named(question))) == sorted(map(sorted, documents))


def test_a_title_of_many_documents_names_none():
    many = [(f"lease-{number}", "Office Lease", ((f"Tenant {number} Inc.",),)) for number in range(5)]
    assert documents_named("When does the office lease end?", index_of(*many[:3])) != []
    assert documents_named("When does the office lease end?", index_of(*many)) == []
