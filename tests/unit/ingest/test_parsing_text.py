from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ingest.errors import (
    DocumentEmpty,
    DocumentEncoding,
    DocumentFormatMismatch,
    DocumentTooLarge,
)
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.text import parse_text

DEFAULT = ParsingLimits()


@pytest.fixture
def parse(tmp_path):
    def parse_bytes(content: bytes, limits=DEFAULT):
        path = tmp_path / "file.txt"
        path.write_bytes(content)
        return parse_text(path, limits)

    return parse_bytes


def texts(document):
    return [document.text[block.span.start : block.span.end] for block in document.blocks]


def test_the_text_is_the_file_without_its_byte_order_mark(parse):
    assert parse(b"\xef\xbb\xbf Fees\r\n\r\nare\tdue. ").text == " Fees\r\n\r\nare\tdue. "


def test_paragraphs_end_at_blank_lines(parse):
    assert texts(parse(b"One\nline more.\n\n \nTwo.\n")) == ["One\nline more.", "Two."]


def test_lines_that_were_never_wrapped_are_paragraphs(parse):
    first, second = "a" * 170 + ".", "b" * 40 + "."

    assert texts(parse(f"{first}\n{second}\n".encode())) == [first, second]


def test_a_wrapped_run_too_long_for_a_paragraph_is_cut_after_sentences(parse):
    lines = ["words that go on to the end of a line and"] * 3 + ["stop here."]

    blocks = texts(parse("\n".join(lines * 40).encode()))

    assert blocks == ["\n".join(lines)] * 40


MARGINS = ["Confidential Page 1 of 3", "- 12 -", "Page 3", "7", "Draft of 1 March 2026 | Page 2 of 9"]


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize(
    "gap", ["\n\n{}\n\n", "\n\n{}\n\f\n", "\n\f\n{}\n\n", "\n\n\n{}\n\f\n\nMarket Data, Page 2\n\n"]
)
def test_a_sentence_over_a_page_break_is_one_block_and_no_character_is_lost(parse, margin, gap):
    before, after = "The Licensee shall not give the Data to any third", "party. It keeps the Data."
    source = f"{before}{gap.format(margin)}{after}\n\nThe end."

    parsed = parse(source.encode())

    assert " ".join(texts(parsed)[0].split()) == f"{before} {after}"
    assert margin in texts(parsed)
    assert sorted(parsed.text) == sorted(source)
    assert parsed.text.endswith("\n\nThe end.")


@pytest.mark.parametrize("gap", ["\n\f", "\n\n\f\n"])
@pytest.mark.parametrize("after", ["party. It ends.", "Acme Limited and others."])
def test_a_form_feed_alone_parts_no_sentence(parse, gap, after):
    before = "The Licensee shall give the Data to no other person than any"

    assert texts(parse(f"{before}{gap}{after}".encode())) == [f"{before}{gap}{after}"]


def test_a_lead_in_that_is_repeated_stays_where_it_is(parse):
    source = "\n\n".join(["The Licensee shall not:", "(a) copy the Data or", "(b) share it or"] * 3)

    assert texts(parse(source.encode())) == source.split("\n\n")


@pytest.mark.parametrize("content", [b"", b" \n\r\n\t"])
def test_a_file_without_words_is_empty(parse, content):
    with pytest.raises(DocumentEmpty):
        parse(content)


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"text\x00text", bytes(range(1, 9)) * 50])
def test_binary_content_is_no_text(parse, content):
    with pytest.raises(DocumentFormatMismatch):
        parse(content)


@pytest.mark.parametrize("content", ["Плата".encode("cp1251"), b"\xff\xfefee"])
def test_an_encoding_that_is_not_certain_is_refused(parse, content):
    with pytest.raises(DocumentEncoding):
        parse(content)


def test_more_characters_than_allowed_are_too_large(parse):
    with pytest.raises(DocumentTooLarge):
        parse(b"words " * 100, ParsingLimits(max_characters=500))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("ab .\n\r\t\u00a0\u2028“”(1)"), min_size=1, max_size=400))
def test_blocks_cover_all_words_in_order_without_overlap(parse, text):
    document = parse(("x" + text).encode())

    position = 0
    for block in document.blocks:
        assert position <= block.span.start < block.span.end
        assert document.text[position : block.span.start].strip() == ""
        position = block.span.end
    assert document.text[position:].strip() == ""


def test_a_page_number_behind_the_last_word_of_a_page_is_no_word_of_its_sentence(tmp_path):
    ends = ["a breach of this", "a licence to the", "an order of any", "a notice under the"]
    pages = [
        f"Clause {word} counts as {end} {number}\n\nFooter of the file, 1/2/2020\n\n\n\n"
        for number, (word, end) in enumerate(zip("abcd", ends, strict=True), start=7)
    ]
    text = "".join(
        f"{page}Agreement {word} in writing.\n\n" for word, page in zip("abcd", pages, strict=True)
    )
    (tmp_path / "a.txt").write_text(text)
    parsed = parse_text(tmp_path / "a.txt", ParsingLimits())
    blocks = [" ".join(parsed.text[block.span.start : block.span.end].split()) for block in parsed.blocks]
    for word, end in zip("abcd", ends, strict=True):
        assert f"Clause {word} counts as {end} Agreement {word} in writing." in blocks
    assert [block for block in blocks if block.isdigit()] == ["7", "8", "9", "10"]


def test_an_amount_above_a_footer_stays_in_its_sentence(tmp_path):
    pages = [
        f"The Fee is paid for the {amount}\n\nFooter of the file, 1/2/2020\n\n\n\n" for amount in (7, 50, 9)
    ]
    (tmp_path / "a.txt").write_text("".join(f"{page}Days of the Term.\n\n" for page in pages))
    parsed = parse_text(tmp_path / "a.txt", ParsingLimits())
    blocks = [" ".join(parsed.text[block.span.start : block.span.end].split()) for block in parsed.blocks]
    assert not [block for block in blocks if block.isdigit()]
