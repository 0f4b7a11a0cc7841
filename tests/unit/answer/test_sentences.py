from __future__ import annotations

import pytest

from services.answer.corpus import Chunk, Span
from services.answer.sentences import sentences_of, table_header_of

LAW = "This agreement is governed by the laws of the State of Illinois."


def chunk(*sentences: str, headings: tuple[str, ...] = ()) -> Chunk:
    text, spans, at = "\n".join(sentences), [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    whole = Span(0, len(text))
    return Chunk("c", "c", "cme/a.txt", "cme", "T", headings, "S", text, whole, (), "", "g", tuple(spans))


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
