"""Search goes by the names in a question, over real sockets, store and model."""

from __future__ import annotations

import pytest
import pytest_asyncio

from clausegate.retrieval.v1 import retrieval_service_pb2 as wire
from tests.cards import a_card
from tests.contract.retrieval_index import STORES, Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")


def contract(document_id, title, first, second, *paragraphs):
    opening = f"{title.upper()} between {first} and {second}, made in writing."
    return Text(document_id, [opening, *paragraphs], profile=a_card(title, (first,), (second,)))


FILLING = "The parties deliver, invoice and pay for the goods as set out in writing. " * 20
SUPPLY = contract(
    "contracts/supply.txt",
    "Supply Agreement",
    "Slingbag, Inc.",
    "Ashgrove Foods, LLC",
    "The liability of Slingbag is limited to USD 400.",
    FILLING,
    FILLING,
    "Slingbag may buy parts of Zuckmayer Werke in Germany.",
)
HOSTING = contract(
    "contracts/hosting.txt",
    "Hosting Agreement",
    "Cormorant Systems, Inc.",
    "Halberd Ltd.",
    "The liability of Cormorant is limited to EUR 900.",
)
RENEWED = contract(
    "renewals/hosting.txt",
    "Hosting Agreement",
    "Cormorant Systems, Inc.",
    "Halberd Ltd.",
    "The liability of Cormorant is limited to EUR 950.",
)
PLAIN = Text("contracts/plain.txt", ["LEASE of Larkspur House.", "The liability of the tenant is unlimited."])


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def service(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            for text in (SUPPLY, HOSTING, RENEWED, PLAIN):
                await service.put(text)
            yield service


async def search(service, query, **request):
    return await service.call(service.retrieval.Search, wire.SearchRequest(query=query, **request))


def named(response, question):
    return [
        ([question[span.start : span.end] for span in name.spans], sorted(name.document_ids))
        for name in response.names
    ]


def documents_of(response):
    return {candidate.chunk.document_id for candidate in response.candidates}


async def test_a_question_is_answered_in_the_document_whose_card_bears_the_name(service):
    question = "Is liability limited in the Sling Bag agreement?"
    response = await search(service, question)

    assert named(response, question) == [(["Sling Bag"], ["contracts/supply.txt"])]
    assert [routed.document_id for routed in response.routed_documents] == ["contracts/supply.txt"]
    assert documents_of(response) == {"contracts/supply.txt"}
    assert "sling" not in response.clause_question.lower()
    assert not response.unknown_names


async def test_what_stands_for_a_name_is_not_looked_for(service):
    response = await search(service, "Does Sling Bag limit its liability?")
    assert response.clause_question == "Does the company limit its liability?"
    assert "compani" not in response.keyword_stems
    assert any(stem.startswith("liab") for stem in response.keyword_stems)


async def test_a_misspelt_name_is_told(service):
    response = await search(service, "Is the liability of Slingbga limited?")
    assert [(list(name.document_ids), name.misspelt) for name in response.names] == [
        (["contracts/supply.txt"], True)
    ]


async def test_documents_named_apart_are_told_apart(service):
    question = "Is liability limited in the Slingbag agreement and in the Halberd agreement?"
    response = await search(service, question)

    assert named(response, question) == [
        (["Slingbag"], ["contracts/supply.txt"]),
        (["Halberd"], ["contracts/hosting.txt", "renewals/hosting.txt"]),
    ]
    assert documents_of(response) == {"contracts/supply.txt", "contracts/hosting.txt", "renewals/hosting.txt"}


async def test_only_documents_of_the_asked_sources_are_named(service):
    response = await search(service, "Is the liability of Cormorant limited?", sources=["renewals"])
    assert [list(name.document_ids) for name in response.names] == [["renewals/hosting.txt"]]


async def test_a_name_that_no_document_bears_is_told_with_the_nearest_and_nothing_is_searched(service):
    question = "What is the cap on liability in the Kormoran agreement?"
    response = await search(service, question, background=True)

    [unknown] = response.unknown_names
    assert unknown.text == "Kormoran"
    assert question[unknown.span.start : unknown.span.end] == unknown.text
    assert list(unknown.nearest) == ["Cormorant Systems, Inc."]
    assert not response.candidates
    assert not response.names
    assert not response.routed_documents


async def test_half_of_what_a_question_names_may_be_unknown(service):
    question = "Is liability limited in the Slingbag agreement and in the Microsoft agreement?"
    response = await search(service, question)

    assert named(response, question) == [(["Slingbag"], ["contracts/supply.txt"])]
    assert [unknown.text for unknown in response.unknown_names] == ["Microsoft"]
    assert documents_of(response) == {"contracts/supply.txt"}


async def test_a_party_that_a_passage_mentions_is_not_unknown(service):
    response = await search(service, "Does Zuckmayer sell parts?")
    assert not response.unknown_names
    assert "contracts/supply.txt" in documents_of(response)


async def test_a_document_called_by_a_party_that_is_only_mentioned_is_unknown(service):
    response = await search(service, "What does the Zuckmayer agreement say of parts?")
    assert [unknown.text for unknown in response.unknown_names] == ["Zuckmayer"]


async def test_a_name_that_only_other_documents_bear_is_unknown_within_those_chosen(service):
    chosen = ["contracts/supply.txt", "contracts/plain.txt"]
    response = await search(service, "Is the liability of Cormorant limited?", document_ids=chosen)
    assert [unknown.text for unknown in response.unknown_names] == ["Cormorant"]
    assert not response.candidates


async def test_one_of_the_chosen_documents_may_be_named(service):
    chosen = ["contracts/supply.txt", "contracts/hosting.txt"]
    response = await search(service, "Is the liability of Cormorant limited?", document_ids=chosen)
    assert documents_of(response) == {"contracts/hosting.txt"}


async def test_the_one_document_that_was_chosen_is_asked_with_plain_words_for_its_names(service):
    question = "Is the liability of Slingbag limited?"
    response = await search(service, question, document_ids=["contracts/supply.txt"])
    assert response.clause_question == "Is the liability of the company limited?"
    assert not response.names
    assert not response.routed_documents


async def test_a_name_that_only_the_beginning_of_a_document_holds_is_not_unknown(service):
    response = await search(service, "Is liability limited in the Larkspur lease?")
    assert "contracts/plain.txt" in documents_of(response)
    assert not response.unknown_names


async def test_names_count_for_nothing_without_routing(service):
    response = await search(service, "What is the cap in the Microsoft agreement?", route=False)
    assert response.candidates
    assert not response.unknown_names
