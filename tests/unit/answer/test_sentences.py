from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.chunks import Chunk, ContextPart
from corpus.spans import Span
from services.answer.sentences import (
    begins_earlier,
    said_by,
    says_something,
    sentences_around,
    sentences_of,
    table_header_of,
    to_its_end,
)
from tests.unit.answer.listed import CONSENT, COPY, DOCUMENT, FEES, LEAD_IN, SECOND, SHARE, items, span_of
from tests.unit.nouns import a_chunk

LAW = "This agreement is governed by the laws of the State of Illinois."


def chunk(*sentences: str, headings: tuple[str, ...] = ()) -> Chunk:
    text, spans, at = "\n".join(sentences), [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    whole = Span(0, len(text))
    return a_chunk(text, chunk_id="c", alias="c", heading_chain=headings, span=whole, sentences=tuple(spans))


@pytest.mark.parametrize(
    "heading", ["12. GOVERNING LAW", "Fees and charges due:", "Fees:", "14. Limitation of liability"]
)
def test_headings_and_fragments_are_no_statements(heading):
    part = chunk(heading, LAW, headings=("Fees and Charges Due:",))
    assert [one.text for one in sentences_of(part)] == [LAW]


def test_a_table_row_is_a_statement_and_its_header_is_none():
    part = chunk("Fee | Amount | Unit", "Display | USD 100 | month", "Non-display | USD 250 | month")
    assert [one.text for one in sentences_of(part)] == [
        "Display | USD 100 | month",
        "Non-display | USD 250 | month",
    ]


def test_the_first_row_of_a_table_without_a_header_is_a_statement():
    part = chunk("Governing law | Illinois", "Venue | Chicago")
    assert len(list(sentences_of(part))) == 2


def test_a_chunk_of_fragments_only_offers_them():
    assert [one.text for one in sentences_of(chunk("USD 10."))] == ["USD 10."]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Fee | Amount | Unit", "Display | USD 100 | 12 months"),
        ("Product | User class | 2025, USD | From 1 January 2026, USD", "Top | Professional | 26.00 | 28.50"),
        ("Event | Charge", "Late report | €750 per report"),
    ],
)
def test_a_row_names_the_header_that_says_what_its_cells_mean(header, row):
    part = chunk(LAW, header, row, row.replace("2", "3"))
    *_, last = sentences_of(part)
    found = table_header_of(last)
    assert found is not None
    assert found.text == header


@pytest.mark.parametrize(
    "rows", [("Notice period | 30 days", "Term | 3 years"), ("Governing law | Illinois", "Venue | Chicago")]
)
def test_pairs_of_names_and_values_have_no_header(rows):
    standing = list(sentences_of(chunk(*rows)))
    assert [one.text for one in standing] == list(rows)
    assert [table_header_of(one) for one in standing] == [None, None]


def test_a_sentence_has_no_header():
    (sentence,) = sentences_of(chunk(LAW))
    assert table_header_of(sentence) is None


def around(part: Chunk, words: str) -> str:
    start = part.text.index(words)
    span = sentences_around(part, Span(start, start + len(words)))
    return part.text[span.start : span.end]


@pytest.mark.parametrize(
    ("of_chunk", "words", "whole"),
    [
        ((LEAD_IN, COPY, SHARE, CONSENT), LEAD_IN, f"{LEAD_IN}\n{COPY}\n{SHARE}"),
        ((LEAD_IN, COPY), LEAD_IN, f"{LEAD_IN}\n{COPY}"),
        ((LEAD_IN, COPY, SHARE), COPY, COPY),
        ((FEES, LEAD_IN, COPY), FEES, FEES),
    ],
    ids=["list", "part of the list", "item", "other sentence"],
)
def test_a_lead_in_reaches_to_the_end_of_its_list(of_chunk, words, whole):
    span = to_its_end(items(*of_chunk), span_of(words))
    assert DOCUMENT[span.start : span.end] == whole


BANNED = (
    "Fees are due.",
    "The Licensee shall not:",
    "(a) copy the Data; or",
    "(b) share the Data with others.",
)


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ("share the", BANNED[3:]),
        ("shall not:\n(a) copy", BANNED[1:3]),
        ("Fees", BANNED[:1]),
        ("due", BANNED[:1]),
    ],
)
def test_words_are_widened_to_the_sentences_that_hold_them_and_no_further(words, whole):
    assert around(chunk(*BANNED), words) == "\n".join(whole)


def test_words_of_a_chunk_that_names_no_sentences_stay_as_they_are():
    assert around(replace(chunk(LAW), sentences=()), "the laws") == "the laws"


def test_an_item_can_stand_for_itself_with_what_leads_into_it():
    assert SECOND in {one.chunk for one in sentences_of(SECOND)}
    short = items(COPY)
    assert [said_by(one) for one in sentences_of(short)] == [f"{LEAD_IN} … {COPY} … {CONSENT}"]


def test_what_leads_into_a_quote_and_is_kept_with_the_chunk_is_not_missing():
    part = cut_off("(j) sell the Data;", "(k) share the Data with an Affiliate;")
    lead_in = ContextPart(Span(50, 73), "The Licensee shall not:", part.span, ())
    assert begins_earlier(part, part.sentences[1])
    assert not begins_earlier(replace(part, context_before=(lead_in,)), part.sentences[1])


def test_headings_and_headers_of_tables_say_nothing():
    part = chunk("EXCLUSIVE LICENCE", "9. Audit", "Fee | Amount", "Display | USD 1", headings=("9. Audit",))
    says = [says_something(part, one) for one in part.sentences]
    assert says == [False, False, False, True]


def cut_off(*sentences: str, header: str = "") -> Chunk:
    """A chunk that others stand before, as `header` does when it is the rest of a table."""
    part = chunk(*sentences)
    behind = tuple(Span(one.start + 100, one.end + 100) for one in part.sentences)
    return replace(
        part, span=Span(100, 100 + part.span.end), sentences=behind, table_header=header, text=part.text
    )


@pytest.mark.parametrize(
    ("part", "at", "begins"),
    [
        (cut_off("(j) sell the Data;", "(k) share the Data with an Affiliate;"), 1, True),
        (cut_off("(j) Sell the Data;", "(k) Share the Data with an Affiliate."), 1, True),
        (cut_off("except to the extent that the law permits it.", LAW), 0, True),
        (cut_off("except to the extent that the law permits it.", LAW), 1, False),
        (cut_off("The Licensee shall not:", "(a) share the Data."), 1, False),
        (cut_off("(b) Either party may terminate on notice.", LAW), 0, False),
        (cut_off("12. The fee is USD 5 a month.", LAW), 0, False),
        (cut_off("Display | USD 100", "Other | USD 90", header="Use | Monthly fee"), 1, True),
        (cut_off("Use | Fee", "Display | USD 100", header="Use | Fee"), 1, False),
        (cut_off("Governing law | Illinois"), 0, False),
        (chunk("(a) share the Data;", "(b) sell it."), 1, False),
    ],
    ids=[
        "item",
        "capitals",
        "sentence",
        "next sentence",
        "led in",
        "whole item",
        "clause",
        "row",
        "row and header",
        "row without header",
        "beginning of the document",
    ],
)
def test_what_leads_into_a_quote_may_stand_in_an_earlier_chunk(part, at, begins):
    assert begins_earlier(part, sentences_around(part, part.sentences[at])) is begins


@pytest.mark.parametrize(
    ("sentences", "whole"),
    [
        (("Fees go to this account:", "Bank of Nowhere, number 12.", LAW), 2),
        (("Fees go to this account:", "Bank of Nowhere", "Main Road 1", "Number 12.", LAW), 4),
        (("Fees follow the list of the 12", "Vendor as it stands then.", LAW), 2),
        (("Fees follow the Vendor's list.", LAW), 1),
        (("Fees go to this account:",), 1),
    ],
    ids=["colon", "short lines", "broken off", "full sentence", "end of the chunk"],
)
def test_a_quote_goes_on_with_what_its_last_words_call_for(sentences, whole):
    part = chunk(*sentences)
    span = to_its_end(part, part.sentences[0])
    assert part.text[span.start : span.end] == "\n".join(sentences[:whole])
