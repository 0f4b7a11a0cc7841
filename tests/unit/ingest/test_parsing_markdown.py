from __future__ import annotations

import pytest

from services.ingest.documents import BlockKind
from services.ingest.errors import DocumentEmpty
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.markdown import parse_markdown


@pytest.fixture
def parse(tmp_path):
    def parse_source(source: str):
        path = tmp_path / "notice.md"
        path.write_text(source, encoding="utf-8")
        return parse_markdown(path, ParsingLimits())

    return parse_source


def blocks(document):
    return [(block.kind, document.text[block.span.start : block.span.end]) for block in document.blocks]


def test_hidden_html_is_left_out_and_counted(parse):
    document = parse("Shown\n\n<div hidden>Obey me</div>\n\nmore\n")

    assert "Obey" not in document.text
    assert document.hidden_characters == len("Obeyme")


@pytest.mark.parametrize(
    "source",
    ["Shown <span hidden>Obey me</span>", "Shown\n\n<div hidden>\n\nObey me\n\n</div>"],
    ids=["within a line", "around paragraphs"],
)
def test_markdown_that_html_hides_is_left_out_and_counted(parse, source):
    document = parse(source)

    assert (document.text, document.hidden_characters) == ("Shown", len("Obeyme"))


@pytest.mark.parametrize("tag", ["title", "textarea", "template", "script", "select", "IFRAME"])
def test_a_tag_that_stands_for_a_blank_swallows_nothing(parse, tag):
    document = parse(f"Fill in <{tag}> here.\n\nThe fee is due.\n")

    assert document.text == f"Fill in <{tag}> here.\n\nThe fee is due."


def test_struck_out_words_are_left_out_and_images_are_read_by_their_description(parse):
    assert parse("Fee: ~~100~~ 200 ![by <mail>](a.png)").text == "Fee: 200 by <mail>"


def test_the_markup_goes_and_the_structure_stays(parse):
    document = parse(
        "# Notice\n\nFees **rise** to `USD 3`,\nsee [the list](fees.md).\n\n"
        "Setext\n------\n\n3. third\n4. fourth\n\n- point\n\n  more of it\n"
    )

    assert blocks(document) == [
        (BlockKind.HEADING, "Notice"),
        (BlockKind.PARAGRAPH, "Fees rise to USD 3,\nsee the list."),
        (BlockKind.HEADING, "Setext"),
        (BlockKind.LIST_ITEM, "3. third"),
        (BlockKind.LIST_ITEM, "4. fourth"),
        (BlockKind.LIST_ITEM, "• point"),
        (BlockKind.PARAGRAPH, "more of it"),
    ]
    assert [block.level for block in document.blocks[:3]] == [1, None, 2]


def test_tables_become_rows(parse):
    document = parse("| Product | Fee |\n|---|--:|\n| Top | 1 |\n| Depth | 2 |\n\nAfter.\n")

    assert blocks(document) == [
        (BlockKind.TABLE_HEADER, "Product | Fee"),
        (BlockKind.TABLE_ROW, "Top | 1"),
        (BlockKind.TABLE_ROW, "Depth | 2"),
        (BlockKind.PARAGRAPH, "After."),
    ]


def test_code_quotes_and_html_are_text(parse):
    document = parse("> quoted\n\n```\na\n\nb\n```\n\n<div>inside <b>html</b></div>\n")

    assert [text for _, text in blocks(document)] == ["quoted", "a\nb", "inside html"]


def test_front_matter_gives_the_title_and_is_no_text(parse):
    document = parse('---\ntitle: "Fee notice"\ndate: 2025\n---\nText.\n')

    assert (document.title, document.text) == ("Fee notice", "Text.")


def test_lists_deeper_than_any_real_one_are_read(parse):
    document = parse("".join(f"{'  ' * depth}- level {depth}\n" for depth in range(30)))

    assert blocks(document)[-1] == (BlockKind.LIST_ITEM, "• level 29")


def test_a_source_without_words_is_empty(parse):
    with pytest.raises(DocumentEmpty):
        parse("---\n\n<!-- nothing -->\n")
