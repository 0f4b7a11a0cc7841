from __future__ import annotations

from dataclasses import replace

import pytest

from services.answer.query.notes import cross_references, hidden_text_notes, left_out_notes
from tests.unit.answer.test_rendering import CITATION
from tests.unit.nouns import a_document


@pytest.mark.parametrize(
    ("quote", "references"),
    [
        ("Fees are due as set out in Section 4.2(b) and Schedule B.", ("Section 4.2(b)", "Schedule B")),
        ("See Exhibit A-1, Article IV and Appendix 3.", ("Exhibit A-1", "Article IV", "Appendix 3")),
        ("Section 4.2 Fees. The fee is due under Section\n7 and Section 7.", ("Section 7",)),
        ("The schedule is attached. Schedule an audit. Section headings do not count.", ()),
    ],
)
def test_references_to_other_clauses_are_found_as_written(quote, references):
    assert cross_references(quote) == references


@pytest.mark.parametrize(
    ("told", "notes"),
    [
        ({"reference_marks": 1}, ["From the text of “L” 1 footnote and reference mark was left out."]),
        (
            {"running_lines": 2},
            ["From the text of “L” 2 lines of running headers and footers were left out."],
        ),
        (
            {"hidden_characters": 1},
            ["The file of “L” holds 1 character that its readers do not see; it was left out."],
        ),
        ({}, []),
    ],
)
def test_a_note_tells_in_a_sentence_how_much_was_left_out(told, notes):
    document = a_document(CITATION.document, title="L", content_sha256="", generation="", **told)
    citations = [replace(CITATION, document_label="L")]
    found = [*left_out_notes(citations, [document]), *hidden_text_notes(citations, [document])]
    assert [note.text for note in found] == notes
