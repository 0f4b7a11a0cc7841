from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from services.answer.verification.lint import LintRule, lint

CORPUS = [path for path in Path("examples/corpus").rglob("*") if path.suffix in (".txt", ".md", ".html")]
SENTENCES = sorted(
    {
        " ".join(sentence.split())
        for path in CORPUS
        for sentence in re.split(r"(?<=[.;:!?])\s+|\n{2,}", path.read_text("utf-8"))
        if 4 <= len(sentence.split()) <= 80
    }
)
sentences = st.sampled_from(SENTENCES)


def pairs(name: str) -> list[tuple[str, str]]:
    """Statements and quotes, line by line, written after clauses that most contracts have."""
    lines = Path("tests/data/lint", f"{name}.txt").read_text("utf-8").splitlines()
    said = [line.strip() for line in lines if not line.startswith("#")]
    return list(zip(said[::2], said[1::2], strict=True))


def rules(statement: str, *quotes: str, question: str = "") -> set[str]:
    return {finding.rule.name for finding in lint(statement, quotes, question)}


@pytest.mark.parametrize(("statement", "quote"), pairs("fair"))
def test_a_fair_paraphrase_passes(statement, quote):
    assert lint(statement, [quote]) == ()


@pytest.mark.parametrize(("statement", "quote"), pairs("altered"))
def test_a_statement_that_says_something_else_is_found(statement, quote):
    rule, _, claim = statement.partition(" | ")
    assert rule in rules(claim, quote)


@pytest.mark.parametrize(("statement", "quote"), pairs("loose"))
def test_a_paraphrase_that_turns_a_denial_round_is_dropped(statement, quote):
    assert lint(statement, [quote])


def test_several_quotes_carry_a_statement_together():
    statement = "The fee is USD 120 a month, and it is not refunded."
    assert lint(statement, ["The monthly fee is USD 120.", "Fees are not refunded."]) == ()


def test_the_header_of_a_table_gives_its_numbers_a_unit():
    assert lint("The display fee is USD 120.", ["Service | Fee (USD)", "Display | 120"]) == ()
    assert rules("The display fee is EUR 120.", "Service | Fee (USD)", "Display | 120") == {"CURRENCY"}


def test_the_question_lends_names_and_words_but_no_numbers():
    quote = "Fees are due in advance."
    assert lint("Fees of Bloomberg are due in advance.", [quote], "When must Bloomberg pay?") == ()
    assert rules("Fees are due 30 days in advance.", quote, question="Is it 30 days?") == {"NUMBER"}


def test_the_question_alone_bears_nothing_out():
    question = "Does Delaware law govern the agreement?"
    assert rules("Delaware law governs the agreement.", "Fees are due.", question=question) == {
        "UNSUPPORTED_WORDS"
    }


def test_a_statement_without_quotes_is_unsupported():
    assert "UNSUPPORTED_WORDS" in rules("Fees are invoiced in advance.")


def test_a_finding_names_the_words_at_fault():
    (finding,) = lint("Notice is 60 days.", ["Notice is 30 days."])
    assert (finding.rule, finding.text) == (LintRule.NUMBER, "60 days")


@pytest.mark.parametrize("quote", SENTENCES)
def test_a_sentence_of_the_examples_passes_with_itself(quote):
    assert lint(quote, [quote]) == ()


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_passes_with_itself(text):
    assert lint(text, [text]) == ()


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            re.findall(
                r"\S+",
                "the Fee shall may not no 30 (30) thirty days % USD 1,000.50 $5 million Section 4.2(a) 10b-5 "
                "- January 1, 2024 at least or more per month neither nor un-limited . ; “ ” § 5:00 p.m.",
            )
        ),
        max_size=40,
    ),
    st.sampled_from([" ", "  ", "\n"]),
)
def test_any_run_of_legal_words_passes_with_itself(words, blank):
    text = blank.join(words)
    assert lint(text, [text]) == ()


@settings(deadline=None)
@given(sentences, st.data())
def test_a_sentence_with_a_changed_digit_fails(quote, data):
    places = [match.start() for match in re.finditer(r"\d", quote)]
    assume(places)
    at = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([one for one in "0123456789" if one != quote[at]]))
    assert lint(quote[:at] + digit + quote[at + 1 :], [quote])


@settings(deadline=None)
@given(sentences, st.data())
def test_a_sentence_with_one_not_more_fails(quote, data):
    at = data.draw(
        st.sampled_from([match.start() for match in re.finditer(r"(?<!\S)(?=[a-z])", quote)] or [0])
    )
    assert lint(f"{quote[:at]}not {quote[at:]}", [quote])


@pytest.mark.parametrize("quote", [one for one in SENTENCES if re.search(r"\bnot\b", one)])
def test_a_sentence_without_its_not_fails(quote):
    assert lint(re.sub(r"\bnot\s", "", quote, count=1), [quote])


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1,",
        "not ",
        "(",
        "-",
        "a.",
        "US$",
        "no. ",
        "Section 4.",
        "x@",
        "thirty ",
        "’",
        "not: ",
        "if a, ",
        "A pays ",
    ],
)
def test_a_long_statement_is_read_in_time(piece):
    text = piece * (20_000 // len(piece))
    assert lint(text, [text]) == ()


@pytest.mark.parametrize(
    ("statement", "stands"),
    [
        ("USD 58 per user and month.", True),
        ("USD 58.00 for each user a month.", True),
        ("USD 58.00 per user and year.", False),
        ("USD 58.00 a year for each user.", False),
        ("EUR 58.00 per user and month.", False),
        ("USD 58.50 per user and month.", False),
    ],
)
def test_a_row_of_a_table_has_the_currency_and_the_rate_of_its_header(statement, stands):
    quotes = ["Market | Fee per User per month (USD)", "Northgate Level 1 | 58.00"]
    assert (lint(statement, quotes) == ()) is stands
