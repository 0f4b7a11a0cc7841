from __future__ import annotations

import dataclasses

import pytest

from corpus.chunks import Chunk, ContextPart
from corpus.spans import Span
from services.answer.contracts.answer import GivenQuote
from services.answer.query.composing import Draft
from services.answer.query.stating import Dropped, Why, extracted, quoted, quotes_of
from services.answer.sentences import sentences_of
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.signing import Signer
from tests.unit.answer.listed import ALL, CONSENT, COPY, LEAD_IN, SECOND, SHARE
from tests.unit.nouns import a_chunk, a_document

FEE = "The Licensee shall pay a monthly display fee of USD 120 for each Device."
LAW = "This Agreement is governed by the laws of the State of Illinois."
DENIAL = "No Vendor and, unless the Licensor agrees, no Subscriber shares data with clients."
CONDITION = "Derived data stay property of the Vendor if the Vendor made them."
SWAP = "Ownership passes from the Vendor to the Subscriber."
SPLICE = "The Vendor owns derived data and the Subscriber owns raw data."
DENIED = "The Vendor denies that the Subscriber owns the data."
CUSTOM = "Data are generally delivered by the close of business."


def chunk(chunk_id: str, *sentences: str) -> Chunk:
    text, ends = " ".join(sentences), [len(" ".join(sentences[: n + 1])) for n in range(len(sentences))]
    spans = tuple(Span(end - len(one), end) for one, end in zip(sentences, ends, strict=True))
    return a_chunk(
        text,
        chunk_id=chunk_id,
        alias="alias",
        document_id=f"{chunk_id}/a.txt",
        source=chunk_id,
        sentences=spans,
    )


CME = chunk("cme", FEE, LAW, CUSTOM, DENIAL, CONDITION, SWAP, SPLICE, DENIED)
OPRA = chunk("opra", FEE.replace("120", "90"))
TABLE = chunk("table", "EXCLUSIVE LICENCE", "Service | Fee (USD)", "Display | 5")
HANDLES = {"c1": CME, "c2": OPRA, "c3": TABLE}


def citations() -> Citations:
    chunks = {one.chunk_id: one for one in HANDLES.values()}
    documents = {one.document_id: a_document(one.document_id) for one in chunks.values()}
    return Citations(chunks, documents, Origin("c" * 64), Signer())


def said(*quotes: tuple[str, str], question: str = ""):
    """What leaves of these quotes, each with its handle."""
    given = [GivenQuote(chunk=handle, quote=quote) for handle, quote in quotes]
    kept = citations()
    return quoted(quotes_of(given, HANDLES), kept, question), kept


def test_a_quote_leaves_as_a_statement_of_its_source():
    stated, kept = said(("c1", LAW))
    (statement,) = stated.statements
    assert (statement.text, statement.source_prefixes) == (LAW, ("CME",))
    assert [kept.all[n - 1].quote for n in statement.citation_numbers] == [LAW]
    assert stated.dropped == ()


def test_quotes_of_two_documents_leave_as_two_statements_not_as_one_stitched_text():
    stated, kept = said(("c1", FEE), ("c2", OPRA.text))
    assert [one.text for one in stated.statements] == [FEE, OPRA.text]
    assert [one.citation_numbers for one in stated.statements] == [(1,), (2,)]
    assert [one.source for one in kept.all] == ["cme", "opra"]


@pytest.mark.parametrize(
    ("handle", "quote"),
    [
        ("c9", LAW),
        ("c2", LAW),
        ("c1", LAW.replace("Illinois", "Delaware")),
        ("c1", ""),
        ("c1", FEE.replace("120", "121")),
        ("c1", "The Licensee shall pay … for each Device."),
        ("c1", "Nobody ever wrote this."),
    ],
)
def test_what_does_not_stand_in_stored_text_is_dropped_counted_and_cites_nothing(handle, quote):
    stated, kept = said((handle, quote))
    assert (stated.statements, stated.dropped) == ((), (Dropped(1, Why.NO_STORED_QUOTE),))
    assert kept.all == ()


def test_a_quote_that_fails_is_dropped_and_the_others_leave():
    stated, kept = said(("c2", LAW), ("c1", LAW))
    assert [one.citation_numbers for one in stated.statements] == [(1,)]
    assert [one.chunk_id for one in kept.all] == ["cme"]
    assert (sorted(stated.left), stated.dropped) == ([2], (Dropped(1, Why.NO_STORED_QUOTE),))


def test_a_quote_set_otherwise_is_cited_as_stored():
    _, kept = said(("c1", LAW.replace(" ", "\n").upper()))
    assert [one.quote for one in kept.all] == [LAW]


def test_what_is_quoted_twice_leaves_once_and_is_not_counted_as_dropped():
    stated, _ = said(("c1", FEE), ("c1", FEE.upper()))
    assert ([one.text for one in stated.statements], stated.dropped) == ([FEE], ())
    assert stated.left[1] == stated.left[2]


def test_words_cut_out_of_a_sentence_are_cited_as_the_whole_sentence():
    stated, kept = said(("c1", "USD 120 for each Device"))
    assert [one.text for one in stated.statements] == [FEE]
    assert [one.quote for one in kept.all] == [FEE]


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ("Subscriber shares data with clients.", DENIAL),
        ("the Subscriber owns the data.", DENIED),
        ("Derived data stay property of the Vendor", CONDITION),
    ],
)
def test_denials_and_conditions_cannot_be_cut_off(words, whole):
    stated, _ = said(("c1", words))
    assert [one.text for one in stated.statements] == [whole]


def test_a_heading_says_nothing_alone():
    stated, kept = said(("c3", "EXCLUSIVE LICENCE"))
    assert (stated.statements, stated.dropped, kept.all) == ((), (Dropped(1, Why.SAYS_NOTHING),), ())


@pytest.mark.parametrize("cell", ["Display | 5", "5"])
def test_a_row_of_a_table_always_comes_with_its_header(cell):
    stated, kept = said(("c3", cell))
    (statement,) = stated.statements
    assert [kept.all[n - 1].quote for n in statement.citation_numbers] == [
        "Display | 5",
        "Service | Fee (USD)",
    ]
    assert stated.left[1].readings == ("Service | Fee (USD)", "Display | 5")


def shown(chunk: Chunk) -> tuple[dict[str, Chunk], Citations]:
    """The chunk as `c1`, and as it is stored."""
    document = a_document(chunk.document_id)
    return {"c1": chunk}, Citations(
        {chunk.chunk_id: chunk}, {chunk.document_id: document}, Origin("c" * 64), Signer()
    )


@pytest.mark.parametrize(
    "quotes", [[SHARE], [LEAD_IN, SHARE], [LEAD_IN, SHARE, CONSENT], [f"{LEAD_IN} … {SHARE}"]]
)
def test_whatever_a_model_quotes_of_an_item_its_lead_in_and_condition_leave_with_it(quotes):
    handles, kept = shown(SECOND)
    stated = quoted(quotes_of([GivenQuote(chunk="c1", quote=quote) for quote in quotes], handles), kept, "")
    assert [one.text for one in stated.statements] == [f"{LEAD_IN} … {SHARE} … {CONSENT}"]
    assert sorted(stated.left) == list(range(1, len(quotes) + 1))


def test_a_lead_in_is_not_said_again_beside_its_items():
    _, kept = shown(ALL)
    draft = Draft("What may the Licensee not do?", kept=(), definitions=(), calibrated=True)
    wanted = [one for text in (LEAD_IN, COPY, SHARE) for one in sentences_of(ALL) if one.text == text]
    statements = extracted(draft, wanted, kept)
    assert [one.text for one in statements] == [
        f"{LEAD_IN}\n{COPY} … {CONSENT}",
        f"{LEAD_IN} … {SHARE}\n{CONSENT}",
    ]


def test_a_lead_in_alone_comes_with_its_whole_list():
    _, kept = shown(ALL)
    draft = Draft("What may the Licensee not do?", kept=(), definitions=(), calibrated=True)
    wanted = [one for one in sentences_of(ALL) if one.text == LEAD_IN]
    (statement,) = extracted(draft, wanted, kept)
    assert statement.text == "\n".join([LEAD_IN, COPY, SHARE, CONSENT])


def test_a_lead_in_that_a_model_quotes_alone_comes_with_its_whole_list():
    handles, kept = shown(ALL)
    stated = quoted(quotes_of([GivenQuote(chunk="c1", quote=LEAD_IN)], handles), kept, "")
    assert [one.text for one in stated.statements] == ["\n".join([LEAD_IN, COPY, SHARE, CONSENT])]


def test_what_answers_is_marked_in_the_first_quote_alone():
    _, kept = said(("c2", OPRA.text), ("c1", FEE), question="How much is the fee?")
    first, second = kept.all
    assert [first.quote[mark.start : mark.end] for mark in first.highlights] == ["USD 90"]
    assert second.highlights == ()


@pytest.mark.parametrize(("is_answer", "marks"), [(True, 1), (False, 0), (None, 0)])
def test_extracts_are_marked_where_they_are_an_answer(is_answer, marks):
    kept = citations()
    draft = Draft("How much is the fee?", kept=(), definitions=(), calibrated=True, is_answer=is_answer)
    extracted(draft, [one for one in sentences_of(CME) if one.text == FEE], kept)
    assert len(kept.all[0].highlights) == marks


def test_a_row_that_its_own_header_leads_into_cites_no_earlier_one():
    header, row = "Service | Fee (USD)", "Display | 5"
    both = chunk("both", header, "Data | 3", header, row)
    own = ContextPart(both.sentences[2], header, both.sentences[3], ())
    handles, kept = shown(dataclasses.replace(both, context_before=(own,)))
    stated = quoted(quotes_of([GivenQuote(chunk="c1", quote=row)], handles), kept, "")
    (statement,) = stated.statements
    assert statement.text.split() == f"{header} {row}".split()
    assert statement.citation_numbers == (1,)
