"""Questions are sent to the documents that they name."""

from __future__ import annotations

import pytest

from corpus.documents import DocumentId
from services.retrieval.routing import Head, HeadIndex

PARTIES = [
    ("Skyline", "Borealis"),
    ("Cormorant", "Halberd"),
    ("Ashgrove", "Tamarind"),
    ("Quillon", "Merridew"),
    ("Osprey", "Fennimore"),
    ("Larkspur", "Dunmore"),
    ("Vantage", "Kestrel"),
    ("Ironwood", "Pemberly"),
    ("Solstice", "Wexcombe"),
    ("Marigold", "Thornbury"),
]
FILLING = (
    "The parties agree on services, fees, notices, audit rights and the governing law of the state. " * 8
)


def heads():
    made = []
    for first, second in PARTIES:
        for kind in ("Reseller", "Hosting"):
            parties = f"between {first} Systems, Inc. and {second} Holdings, Ltd."
            text = f"{kind.upper()} AGREEMENT {parties} {FILLING}"
            made.append(Head.of(DocumentId(f"{first.lower()}/{kind}{first}_2020.txt"), "", text))
    return made


def index(usage=lambda stem: 0.0):
    return HeadIndex(heads(), usage)


def first_document(route):
    return route.documents[0].document_id


@pytest.mark.parametrize(
    "question",
    [
        "Consider the HOSTING AGREEMENT of Cormorant Systems, Inc. and Halberd Ltd.; Is there a cap?",
        "In the Hosting Agreement between Cormorant Systems and Halberd Holdings: is there a cap?",
        "Is there a cap in the Hosting Agreement between Cormorant Systems, Inc. and Halberd Holdings, Ltd.?",
        "Is there a cap in the hosting agreement between Cormorant and Halberd?",
        "is there a cap in the hosting agreement of cormorant halberd?",
    ],
)
def test_a_question_goes_to_the_document_it_names_without_the_name(question):
    route = index().route(question, ())
    assert first_document(route) == "cormorant/HostingCormorant_2020.txt"
    assert "cap" in route.clause_question
    assert "cormorant" not in route.clause_question.lower()
    assert "halberd" not in route.clause_question.lower()


def test_segments_that_only_name_are_dropped_whole():
    route = index().route("Consider the agreement of Cormorant and Halberd Holdings; Is there a cap?", ())
    assert route.clause_question == "Is there a cap"


def test_documents_that_match_nearly_as_well_are_searched_too():
    route = index().route("Is there a cap on liability between Cormorant and Halberd?", ())
    assert {each.document_id.split("/")[0] for each in route.documents} == {"cormorant"}
    assert [each.score for each in route.documents] == sorted(
        (each.score for each in route.documents), reverse=True
    )
    assert route.documents[0].score == 1


@pytest.mark.parametrize(
    "question",
    [
        "Is there a cap on liability?",
        "Which notices must be given?",
        "Cormorant",
        "What about the Zanzibar contract?",
        "",
        "?!;",
    ],
)
def test_a_question_that_names_nothing_is_not_routed(question):
    assert index().route(question, ()) is None


@pytest.mark.parametrize(
    "question", ["is payment of invoices due monthly?", "Is Payment Due For Invoices?", "IS PAYMENT DUE?"]
)
def test_words_that_a_document_writes_small_do_not_name_it(question):
    policy = Head.of(
        DocumentId("corvid/policy.txt"), "", "PAYMENT POLICY. The payment of invoices is due monthly."
    )
    assert HeadIndex([*heads(), policy], lambda stem: 0.0).route(question, ()) is None


def test_words_that_stand_in_many_names_name_nothing():
    assert index().route("What are the fees of Systems and Holdings Inc?", ()) is None


def test_words_that_many_documents_use_name_nothing():
    common = index(usage=lambda stem: 1.0)
    assert common.route("Is there a cap between Cormorant and Halberd?", ()) is None


def test_only_documents_of_the_asked_sources_are_named():
    question = "Is there a cap between Cormorant and Halberd?"
    assert index().route(question, {"osprey"}) is None


def test_a_question_that_is_nothing_but_a_name_is_asked_as_it_is():
    route = index().route("The Cormorant Halberd Hosting Agreement", ())
    assert route.clause_question == "The Cormorant Halberd Hosting Agreement"


LICENCE = Head.of(DocumentId("cme/licence.docx"), "Market Data Licence Agreement", "Between Corvid and You.")
FEES = Head.of(DocumentId("cme/fees.pdf"), "Market Data Fee Schedule", "Fees of Corvid.")


def test_a_title_names_its_document_among_however_few():
    route = HeadIndex([FEES, LICENCE], lambda stem: 1.0).route(
        "Which law governs the Corvid Market Data Licence Agreement?", ()
    )
    assert [each.document_id for each in route.documents] == ["cme/licence.docx"]
    assert route.clause_question == "Which law governs"


@pytest.mark.parametrize(
    "question",
    [
        "Which law governs the market data licence agreement?",
        "WHICH LAW GOVERNS THE MARKET DATA LICENCE AGREEMENT?",
        "Which Data Licence Agreement is in force?",
    ],
)
def test_words_of_a_title_without_its_capitals_or_its_whole_name_nothing(question):
    assert HeadIndex([FEES, LICENCE], lambda stem: 1.0).route(question, ()) is None


def test_an_empty_index_routes_nothing():
    assert HeadIndex([], lambda stem: 0.0).route("Is there a cap between Cormorant and Halberd?", ()) is None


def test_file_names_are_split_into_words():
    head = Head.of(DocumentId("cme/sub/MarketDataPolicy_v2.pdf"), "", "")
    assert {"market", "data", "polici", "v2"} <= head.name
