from __future__ import annotations

import pytest

from services.answer.query.notes import cross_references


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
