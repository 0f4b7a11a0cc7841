import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.ingest.documents import Span
from services.ingest.sentences import split


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


@pytest.mark.parametrize("filler", ["\n", " ", ".", "(", '"', ";\n", "1.", "a.b.", ". \n"])
def test_any_hundred_thousand_repetitions_are_read(filler):
    text = "Start. " + filler * 100_000 + " End."
    assert sentences(text)[0].startswith("Start.")
