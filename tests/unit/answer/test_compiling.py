"""What carries a claim, and what an article invents."""

from __future__ import annotations

import dataclasses

import pytest

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.articles.compiling import carrier, held_by, unsupported
from services.answer.context import Material, lay_out
from services.answer.contracts.article import ArticleReply, KeyClaim
from tests.unit.nouns import a_chunk

WORDS = "The Licensee shall pay USD 120 a month, and may not share data."


def chunk(text: str = WORDS) -> Chunk:
    return a_chunk(
        text,
        document_id="cme/licence.pdf",
        title="Licence of 2019",
        heading_chain=("Section 7. Fees",),
        section="",
    )


@pytest.fixture
def material() -> Material:
    return lay_out([chunk()], "00ff00ff00ff00ff")


def sourced(
    text: str, quote: str | None = WORDS, handle: str | None = "c1", confidence="sourced"
) -> KeyClaim:
    return KeyClaim(claim=text, confidence=confidence, quote=quote, chunk=handle)


def test_a_claim_is_carried_by_words_that_say_as_much(material):
    assert carrier(sourced("The Licensee shall pay USD 120 a month."), material, "") == chunk()


@pytest.mark.parametrize(
    "claim",
    [
        sourced("The Licensee shall pay USD 130 a month."),
        sourced("The Licensee may pay USD 120 a month."),
        sourced("The Licensee may share data."),
        sourced("The Licensee shall usually pay USD 120 a month."),
        sourced("The Licensee shall pay USD 120 a month.", quote="The Licensee shall pay USD 130 a month"),
        sourced("The Licensee shall pay USD 120 a month.", quote=None),
        sourced("The Licensee shall pay USD 120 a month.", quote=" "),
        sourced("The Licensee shall pay USD 120 a month.", handle="c2"),
        sourced("The Licensee shall pay USD 120 a month.", handle=None),
        sourced("The Licensee shall pay USD 120 a month.", confidence="inferred"),
    ],
)
def test_a_claim_that_its_quote_does_not_say_is_not_carried(material, claim):
    assert carrier(claim, material, "") is None


@pytest.mark.parametrize("claim", ["The Vendor may share data.", "Share data."])
def test_a_denial_cannot_be_cut_off_a_sourced_claim(claim):
    denial = "No Vendor may share data."
    whole = dataclasses.replace(chunk(denial), sentences=(Span(0, len(denial)),))
    assert carrier(sourced(claim, "may share data"), lay_out([whole], "00ff00ff00ff00ff"), "") is None


def reply(**fields) -> ArticleReply:
    empty = {"key_claims": [], "concepts": [], "backlink_suggestions": [], "open_questions": []}
    return ArticleReply(**{"title": "T", "summary": "S", "article_body": "B", **empty, **fields})


def test_titles_headings_and_the_topic_lend_their_numbers(material):
    said = reply(title="The licence of 2019 in 2031", summary="Section 7 asks for USD 120.")
    assert unsupported(said, held_by(material, "state of 2031")) == []


def test_each_invention_is_named_with_its_field(material):
    said = reply(
        title="Licence of 2018",
        concepts=["fees", "Section 9"],
        key_claims=[sourced("It costs EUR 5.")],
        article_body="1. It costs USD 121.\n2. It costs USD 121 again.",
    )
    assert unsupported(said, held_by(material, "")) == [
        "title: “2018” does not stand in the material.",
        "key_claims.0.claim: “EUR 5” does not stand in the material.",
        "concepts.1: “Section 9” does not stand in the material.",
        "article_body: “USD 121” does not stand in the material.",
    ]
