import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.spans import Span
from services.ingest.sentences import reads_on, split


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split(text, Span(0, len(text)))]


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme, Inc. shall pay the fees.",
        "See Sec. 4 and Art. 5 of the policy.",
        "The case Smith v. Jones controls.",
        "It falls under 15 U.S.C. Section 78 of the Act.",
        "Fees, e.g. Taxes and i.e. Duties, apply.",
        "Mr. J. R. Smith signs for Acme.",
        "The rate is 1.5 per cent of 2.75 million.",
        "He paused . . . and signed.",
        "1.2(a) The Licensee shall pay.",
        "Section 4.1. Fees are due monthly.",
        "(i) The Licensee shall pay.",
        "A. The parties agree.",
        "The Licensee\nshall pay the\nfees.",
        "as provided in Section\n2.1 The parties agree.",
        "Item No. 5 is due.",
    ],
)
def test_a_full_stop_that_is_no_end_keeps_the_sentence_whole(sentence):
    assert sentences(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It ends. Then more.", ["It ends.", "Then more."]),
        ("He said “stop.” Then he left.", ["He said “stop.”", "Then he left."]),
        ("It is made with Acme, Inc. The fee is due.", ["It is made with Acme, Inc.", "The fee is due."]),
        ("Pay under Section 4.1. The fee is due.", ["Pay under Section 4.1.", "The fee is due."]),
        ("Is it due? Yes! It is.", ["Is it due?", "Yes!", "It is."]),
        ("The fees:\n(a) one;\n(b) two.", ["The fees:", "(a) one;", "(b) two."]),
        ("• First point\n• Second point", ["• First point", "• Second point"]),
    ],
)
def test_sentences_end_where_a_reader_says_so(text, expected):
    assert sentences(text) == expected


def test_a_long_enumeration_is_split_at_its_items():
    items = [f"({letter}) {'the costs of carriage and insurance ' * 10}" for letter in "abc"]
    assert len(sentences("; ".join(items) + ".")) == 3


def test_a_short_enumeration_stays_one_sentence():
    assert len(sentences("It covers (a) costs; (b) fees; and (c) taxes.")) == 1


OPEN_ENDS = [
    *("is effective from", "may not exceed", "is due within", "the sum of", "no later than", "pays EUR"),
    *("as set out in Section", "under Clauses", "listed in Schedule", "is governed by Article", "at least"),
]
NUMBERED = [
    *("1 March 2026 only if it is paid", "5 Business Days after the notice", "4.2 Fees and Taxes", "10 EUR"),
    *("1 Part A of the Data", "30. June 2026 at the latest", "2.5 Million shares", "4 Annexes"),
]


@pytest.mark.parametrize("end", OPEN_ENDS)
@pytest.mark.parametrize("start", NUMBERED)
@pytest.mark.parametrize("line_break", ["\n", " \r\n", "\n\f"])
def test_a_sentence_goes_on_at_a_line_that_begins_with_a_number(end, start, line_break):
    text = f"The licence {end}{line_break}{start} for the Licensee. It ends."

    assert sentences(text) == [text.removesuffix(" It ends."), "It ends."]


@pytest.mark.parametrize("end", ["shall not", "the", "and", "is payable,", "(", "notice", "pays"])
@pytest.mark.parametrize("quantity", ["5 Business Days", "1 March", "10 EUR", "30. June 2026"])
def test_a_number_without_a_mark_is_a_quantity_and_no_clause(end, quantity):
    sentence = f"The Licensee {end}\n{quantity} long after the end."

    assert sentences(sentence) == [sentence]


@pytest.mark.parametrize("place", ["Section 4.1\n(a) or", "Clause\n(b)", "Article IV\n(c)"])
def test_the_rest_of_a_reference_is_no_item(place):
    sentence = f"It is given under {place} of the Policy."

    assert sentences(sentence) == [sentence]


@pytest.mark.parametrize("mark", ["(b)", "4.", "4.2", "b)"])
@pytest.mark.parametrize("lead", ["shall not", "may copy the Data, and", "may copy the Data; or", "must"])
def test_an_item_that_a_line_leads_to_begins_a_sentence(lead, mark):
    assert sentences(f"The Licensee {lead}\n{mark} Share it.") == [
        f"The Licensee {lead}",
        f"{mark} Share it.",
    ]


@pytest.mark.parametrize(
    "clause", ["4. Fees. The", "4.2 Fees are due. The", "4.2. Fees. The", "(b) Fees are due. The"]
)
@pytest.mark.parametrize("end", ["any third party", "the Data.", "its affiliates;", "such use"])
def test_a_numbered_clause_on_a_new_line_begins_a_sentence(end, clause):
    assert f"It is not given to {end}" in sentences(f"It is not given to {end}\n{clause} Licensee pays.")


@pytest.mark.parametrize(
    ("first", "second"),
    [("1.", "2."), ("a.", "b."), ("i.", "ii."), ("4.1.1", "4.1.2"), ("4.1", "4.2"), ("3.", "4.")],
)
@pytest.mark.parametrize("end", ["", ",", ", and"])
def test_an_item_in_small_letters_that_counts_on_begins_a_sentence(first, second, end):
    lines = [f"{first} copy the Data{end}", f"{second} publish it."]

    assert sentences("\n".join(lines)) == lines


@pytest.mark.parametrize("mark", ["1.", "a.", "i.", "4.1.1"])
@pytest.mark.parametrize("lead", ["shall not", "must not do any of the following", "shall not —"])
def test_the_first_item_in_small_letters_begins_a_sentence_below_what_leads_to_it(mark, lead):
    lines = [f"The Licensee {lead}", f"{mark} copy the Data"]

    assert sentences("\n".join(lines)) == lines


@pytest.mark.parametrize(
    "sentence",
    [
        "1. copy the Data under Section\n2. of the Policy.",
        "1. copy the Data of the last\n7. and the next day.",
        "The Licensee may copy the Data of\na. and b. only.",
        "It is due on the last trading day at\n2. in the afternoon.",
    ],
)
def test_a_mark_that_neither_counts_on_nor_is_led_to_is_no_item(sentence):
    assert sentences(sentence) == [sentence]


def test_lines_that_count_on_without_marks_are_entries_of_their_own():
    assert sentences("3 Term of use\n4 Fees and taxes\n5 Law") == [
        "3 Term of use",
        "4 Fees and taxes",
        "5 Law",
    ]


def test_a_dash_that_is_closed_on_its_line_is_no_item():
    sentence = "The Licensee\n– and nobody else –\nmay copy it."

    assert sentences(sentence) == [sentence]


@settings(deadline=None)
@given(st.text(alphabet='aB1.;:?!()"”’ \n\t…-', max_size=300), st.integers(0, 20), st.integers(0, 20))
def test_sentences_cover_their_span_in_order(text, before, after):
    span = Span(min(before, len(text)), max(min(before, len(text)), len(text) - after))
    found = split(text, span)
    edges = [span.start, *(edge for sentence in found for edge in (sentence.start, sentence.end)), span.end]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    assert edges == sorted(edges)
    assert all(not text[start:end].strip() for start, end in gaps)
    assert all(text[one.start : one.end] == text[one.start : one.end].strip() != "" for one in found)


@pytest.mark.parametrize("mark", ["*", "•", "-"])
def test_a_bullet_is_never_the_number_that_a_reference_asks_for(mark):
    text = f"{mark} publish the Data in whole or in part\n{mark} disclose it"
    assert len(sentences(text)) == 2


@pytest.mark.parametrize("filler", ["\n", " ", ".", "(", '"', ";\n", "1.", "a.b.", ". \n"])
def test_any_hundred_thousand_repetitions_are_read(filler):
    text = "Start. " + filler * 100_000 + " End."
    assert sentences(text)[0].startswith("Start.")


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("shall not give it to any third", "party. It ends.", True),
        ("under the agreement of", "Acme Limited.", True),
        ("is made with Acme Inc.", "and others.", None),
        ("is made with the Licensee", "Acme Limited.", None),
        ("shall not redistribute", "The Vendor may audit.", None),
        ("shall not", "The Vendor may audit.", None),
        ("shall not copy it.", "The Vendor may audit.", False),
        ("shall not copy it; or", "(b) share it", False),
        ("", "text", False),
    ],
)
def test_words_tell_whether_a_sentence_reads_on(above, below, expected):
    assert reads_on(above, below) is expected
