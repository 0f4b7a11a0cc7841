from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.raised import CALL, END, LOWERED, RAISED, tell_apart
from tests.unit.ingest.raised_layouts import LAYOUTS

EXAMPLES = 20 if settings.default.max_examples <= 30 else 1_000
"""Of each layout: 820 in all, and 50 times as many in `make soak`."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def up(text: str) -> str:
    return f"{RAISED}{text}{END}"


def down(text: str) -> str:
    return f"{LOWERED}{text}{END}"


@pytest.mark.parametrize(
    ("text", "read", "marks"),
    [
        ("USD 50" + up("1") + " per month.", "USD 50 per month.", 1),
        ("USD 50¹.", "USD 50.", 1),
        ("50 USD" + up("2") + " a day", "50 USD a day", 1),
        ("Fees" + up("1, 2") + " apply", "Fees apply", 2),
        ("50" + up("*") + " a day", "50 a day", 1),
        ("50%" + up("1") + " of it", "50% of it", 1),
        ("(the “Fee”)" + up("2") + ".", "(the “Fee”).", 1),
        ("until 2026¹", "until 2026", 1),
        ("Section 4.2" + up("3") + " holds", "Section 4.2 holds", 1),
        ("50" + CALL + "1" + END + " a day", "50 a day", 1),
        ("50" + CALL + "1" + END + "5 a day", "50 5 a day", 1),
        ("50" + CALL + "1" + END + ",000 a day", "50 ,000 a day", 1),
        ("¹ Net of VAT", "[1] Net of VAT", 0),
        (up("(1)") + "Net of VAT", "[1] Net of VAT", 0),
        (CALL + "1" + END + " Net of VAT", "[1] Net of VAT", 0),
        ("10⁶ units", "10^6 units", 0),
        ("5 × 10⁻³ units", "5 × 10^-3 units", 0),
        ("100 m² of floor", "100 m^2 of floor", 0),
        ("(1 + r)" + up("n") + ".", "(1 + r)^n.", 0),
        ("10" + up("6") + "5 units", "10^(6)5 units", 0),
        ("1¹/₂ times", "1 1/2 times", 0),
        ("1" + up("1") + "/2 times", "1 1/2 times", 0),
        ("1" + up("1/2") + " times", "1 1/2 times", 0),
        (up("1") + "⁄" + down("2") + "5 times", "1/2 5 times", 0),
        ("1½ times", "1½ times", 0),
        ("the 1" + up("st") + " day", "the 1st day", 0),
        ("the n" + up("th") + " day", "the nth day", 0),
        ("Acme" + up("TM") + " data, Acme" + up("®"), "Acme™ data, Acme®", 0),
        ("N" + up("o") + " 5", "No 5", 0),
        (
            "H" + down("2") + "O, CO" + down("2") + "5, 10" + down("2") + ", P" + down("max"),
            "H2O, CO_(2)5, 10_2, P_max",
            0,
        ),
        ("2⁸ bits", "2 [8] bits", 0),
        ("within 50" + up("1") + " days", "within 50 [1] days", 0),
        ("$5" + up("99") + " each", "$5 [99] each", 0),
        ("see 5① there", "see 5 ① there", 0),
        ("shall" + up("not") + " copy", "shall not copy", 0),
    ],
)
def test_what_is_raised_is_written_as_what_it_is(text, read, marks):
    assert tell_apart(text) == (read, marks)


def test_a_mark_that_stands_before_a_note_of_the_document_is_one():
    assert tell_apart("within 50" + up("1") + " days", frozenset("1")) == ("within 50 days", 1)


def test_ten_with_a_known_mark_may_still_be_a_power():
    assert tell_apart("within 10³ days", frozenset("3")) == ("within 10 [3] days", 0)


befores = st.sampled_from(
    [
        "USD 50",
        "a fee of 50",
        "10",
        "5 x 10",
        "50%",
        "(50)",
        "the Fee",
        "the date.",
        "USD 1,000",
        "$5",
        "2.50",
        "100 m",
        "Section 4",
        "until 2026",
        "50,",
        "“Fee”",
        "1",
    ]
)
raiseds = st.sampled_from(["1", "2", "3", "6", "12", "99", "a", "n", "(1)", "-3", "1,2", "*", "1/2", "2026"])
afters = st.sampled_from(
    [
        "",
        " per month.",
        ".",
        ",",
        ";",
        "%",
        ") of it",
        ",000 copies",
        ".5 each",
        "5 more",
        "x",
        " 7 of 9",
        "/60",
    ]
)
places = st.sampled_from(["line", "heading", "item", "cell"])


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(
    max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(before=befores, raised=raiseds, after=afters, place=places)
@example(before="USD 50", raised="1", after=" per month.", place="line")
@example(before="10", raised="6", after=" copies.", place="cell")
def test_reading_makes_no_number_that_the_page_does_not_show(tmp_path, layout, before, raised, after, place):
    suffix, write = LAYOUTS[layout]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(write(before, raised, after, place))

    document = parse(path, format_of(path.name), ParsingLimits(), lambda done, total: None)

    shown = {number for part in (before, raised, after, "1") for number in NUMBER.findall(part)}
    assert set(NUMBER.findall(unicodedata.normalize("NFKC", document.text))) <= shown
