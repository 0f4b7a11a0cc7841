from __future__ import annotations

import dataclasses
import hashlib

import pytest

from corpus.chunks import Chunk
from corpus.citations import MatchLevel
from corpus.documents import Document
from corpus.spans import PageSpan, SectionSpan, Span, section_name
from services.answer.parts import pages_at
from services.answer.verification.citing import Citations, Origin, Quote, quote_in
from services.answer.verification.signing import SignatureState, Signer, SigningKey
from tests.unit.answer.listed import CONSENT, LEAD_IN, SECOND, SHARE, span_of
from tests.unit.nouns import a_chunk, a_document

TEXT = "4.2 Fees. The fee is USD 100. Notice\nis thirty days."
CHUNK = a_chunk(
    TEXT,
    alias="cme__a.pdf_0",
    document_id="cme/a.pdf",
    title="Agreement",
    heading_chain=("Fees",),
    section="Fees",
    span=Span(1000, 1000 + len(TEXT)),
    pages=(PageSpan(3, Span(1000, 1036)), PageSpan(4, Span(1036, 1000 + len(TEXT)))),
    generation="g1",
)
ORIGIN = Origin("c" * 64, "gpt-4.1", "answer/1", "p" * 64)
DOCUMENT = a_document("cme/a.pdf", title="Agreement", generation="g1")


def citations(chunk: Chunk = CHUNK, document: Document = DOCUMENT) -> Citations:
    return Citations({chunk.chunk_id: chunk}, {document.document_id: document}, ORIGIN, Signer())


def quote(text: str, start: int = 1000) -> Quote:
    return Quote(text, "chunk", "cme/a.pdf", start)


def test_a_citation_says_where_the_stored_words_stand():
    citation = citations().cite(quote("The fee is USD 100.", 1010))
    assert citation is not None
    assert (citation.quote, citation.span) == ("The fee is USD 100.", Span(1010, 1029))
    assert (citation.page, citation.last_page, citation.number) == (3, 3, 1)
    assert citation.certificate.document_sha256 == "d" * 64
    assert citation.certificate.quote_sha256 == hashlib.sha256(b"The fee is USD 100.").hexdigest()


def test_a_quote_in_another_setting_is_cited_in_the_words_of_the_document():
    citation = citations().cite(quote("notice is thirty days."))
    assert citation is not None
    assert (citation.quote, citation.match_level) == ("Notice\nis thirty days.", MatchLevel.FOLDED)
    assert (citation.page, citation.last_page) == (3, 4)


def test_a_quote_is_cited_by_its_own_section_of_a_shared_chunk():
    sections = (
        SectionSpan(("4.2 Fees",), Span(1000, 1030)),
        SectionSpan(("4.2 Fees", "Notice"), Span(1030, 1000 + len(TEXT))),
    )
    book = citations(dataclasses.replace(CHUNK, sections=sections))
    named = [book.cite(quote(text)).section for text in ("The fee is USD 100.", "Notice\nis thirty days.")]
    assert named == ["4.2 Fees", "Notice"]


@pytest.mark.parametrize(
    ("chain", "named"),
    [
        (["Part B", "9. Audit"], "9. Audit"),
        (["Part B", "9. Audit", "9.1"], "9. Audit › 9.1"),
        (["Part B", "9. Audit", "9.1", "(iv)"], "9. Audit › 9.1 › (iv)"),
        (["4", "4.2"], "4 › 4.2"),
    ],
)
def test_a_section_that_is_a_mere_number_is_named_with_what_it_numbers(chain, named):
    assert section_name(chain) == named


def test_the_same_words_keep_their_number():
    book = citations()
    numbers = [book.cite(quote(text)).number for text in ("The fee", "4.2 Fees.", "The fee")]
    assert numbers == [1, 2, 1]
    assert [one.number for one in book.all] == [1, 2]


def test_words_that_do_not_stand_there_get_no_citation_and_no_number():
    book = citations()
    assert book.cite(quote("The fee is USD 101.")) is None
    assert book.all == ()


def test_a_chunk_that_is_gone_or_of_another_version_cannot_be_cited():
    assert citations(dataclasses.replace(CHUNK, chunk_id="other")).cite(quote("The fee")) is None
    assert citations(document=dataclasses.replace(DOCUMENT, generation="g2")).cite(quote("The fee")) is None


def test_a_definition_that_runs_on_into_the_next_chunk_is_cited_up_to_the_end_of_its_own():
    definition = dataclasses.replace(quote("Notice\nis thirty days. It is in writing.", 1030), runs_on=True)
    citation = citations().cite(definition)
    assert citation is not None
    assert citation.quote == "Notice\nis thirty days."


def test_other_quotes_must_stand_in_one_chunk():
    assert citations().cite(quote("Notice\nis thirty days. It is in writing.", 1030)) is None


def test_a_quote_without_a_place_is_cited_where_the_chunk_holds_it_first():
    text = "A fee. A fee."
    chunk = dataclasses.replace(CHUNK, text=text, span=Span(1000, 1000 + len(text)))
    citation = citations(chunk).cite(quote_in(chunk, "A fee."))
    assert citation is not None
    assert citation.span == Span(1000, 1006)


def test_a_certificate_names_model_prompt_and_settings():
    certificate = citations().cite(quote("The fee")).certificate
    assert (certificate.model, certificate.prompt_version) == ("gpt-4.1", "answer/1")
    assert (certificate.prompt_sha256, certificate.config_sha256) == ("p" * 64, "c" * 64)


def test_a_citation_of_an_item_quotes_its_lead_in_and_condition_and_is_placed_at_its_own_words():
    book = Citations(
        {SECOND.chunk_id: SECOND},
        {"cme/a.md": a_document("cme/a.md", title="Licence")},
        ORIGIN,
        Signer(),
    )
    citation = book.cite(quote_in(SECOND, "Share the Data", whole_sentences=True))
    assert citation is not None
    assert citation.quote == f"{LEAD_IN} … {SHARE} … {CONSENT}"
    assert (citation.span, citation.page, citation.last_page) == (span_of(SHARE), 2, 2)
    assert [(part.text, part.page) for part in citation.parts] == [(LEAD_IN, 1), (SHARE, 2), (CONSENT, 3)]
    assert citation.certificate.quote_sha256 == hashlib.sha256(citation.quote.encode()).hexdigest()


def test_with_a_key_citations_are_signed():
    signer = Signer((SigningKey("k1", b"s" * 32),))
    book = Citations({"chunk": CHUNK}, {"cme/a.pdf": DOCUMENT}, ORIGIN, signer)
    assert signer.check(book.cite(quote("The fee"))) is SignatureState.VALID


def test_a_format_without_pages_gives_none():
    assert pages_at(dataclasses.replace(CHUNK, pages=()), Span(1000, 1005)) == (None, None)
