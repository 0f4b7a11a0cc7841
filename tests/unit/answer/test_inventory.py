"""What texts hold of numbers, dates, clause numbers and links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.verification.lint import LintRule
from services.answer.verification.lint.inventory import Inventory

HELD = Inventory(
    [
        "The fee is USD 1,250.50 a month, and rises by 5% on 1 March 2025.",
        "Section 4.2(a): ninety (90) days’ notice. Rule 10b-5. See https://a.example/x or mail@a.example.",
        "| Fee (EUR) | 77 |",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It costs USD 1,250.50. Again: USD 1250.50, that is 1,250.50.",
        "5 percent, from March 2025, in 2025",
        "90 days and again ninety days; one may say so",
        "section 4.2(a) and Section 4.2(a)",
        "rule 10b-5",
        "https://a.example/x, mail@a.example",
        "EUR 77",
    ],
)
def test_what_stands_there_is_held_however_often_it_is_said(text):
    assert list(HELD.lacks(text)) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("USD 1,250.51", LintRule.CURRENCY),
        ("EUR 1,250.50", LintRule.CURRENCY),
        ("6%", LintRule.PERCENTAGE),
        ("91 days", LintRule.NUMBER),
        ("ninety-one days", LintRule.NUMBER),
        ("90 months", LintRule.NUMBER),
        ("2 March 2025", LintRule.DATE),
        ("1 March 2026", LintRule.DATE),
        ("section 9.4", LintRule.CLAUSE_NUMBER),
        ("rule 10b-6", LintRule.CLAUSE_NUMBER),
        ("form 10b-6", LintRule.NUMBER),
        ("https://b.example/x", LintRule.NAME),
        ("https://a.example/x?q=1", LintRule.NAME),
        ("other@a.example", LintRule.NAME),
        ("[x](https://a.example/x)", LintRule.NAME),
    ],
)
def test_what_stands_nowhere_is_found(text, rule):
    assert [one.rule for one in HELD.lacks(text)] == [rule]


@given(st.text(st.sampled_from("0123456789 .,%$()/:-ab§Sect\n"), max_size=40))
def test_a_text_holds_itself(text):
    assert list(Inventory([text]).lacks(text)) == []
