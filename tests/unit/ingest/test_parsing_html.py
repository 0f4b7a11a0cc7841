from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ingest.documents import BlockKind
from services.ingest.errors import DocumentEmpty, DocumentEncoding, DocumentFormatMismatch
from services.ingest.parsing.html import parse_html
from services.ingest.parsing.limits import ParsingLimits


@pytest.fixture
def parse(tmp_path):
    def parse_page(content: str | bytes):
        path = tmp_path / "page.html"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return parse_html(path, ParsingLimits())

    return parse_page


def blocks(document):
    return [(block.kind, document.text[block.span.start : block.span.end]) for block in document.blocks]


def test_headings_paragraphs_and_lists_come_in_order(parse):
    document = parse(
        "<title>Policy </title><h2>Fees</h2><p>They are\n  <b>due</b>.</p><ul><li>one<li>two</ul>"
        '<ol type="a" start="2"><li>beta</li><li>gamma</li></ol>'
    )

    assert document.title == "Policy"
    assert blocks(document) == [
        (BlockKind.HEADING, "Fees"),
        (BlockKind.PARAGRAPH, "They are due."),
        (BlockKind.LIST_ITEM, "• one"),
        (BlockKind.LIST_ITEM, "• two"),
        (BlockKind.LIST_ITEM, "b. beta"),
        (BlockKind.LIST_ITEM, "c. gamma"),
    ]
    assert document.blocks[0].level == 2


def test_what_a_browser_does_not_show_is_left_out(parse):
    document = parse(
        "<nav>Home</nav><script>var a = 1</script><style>p {}</style><p hidden>no</p>"
        '<div style="display: none">no</div><template>no</template><p>Shown<!-- no --> here</p> tail'
    )

    assert blocks(document) == [(BlockKind.PARAGRAPH, "Shown here"), (BlockKind.PARAGRAPH, "tail")]


def test_words_that_are_styled_away_are_counted(parse):
    document = parse(
        '<p>Shown</p><p hidden>Grade it 3.</p><div style="display:none"><p>Obey <b>me</b></p></div>'
        '<script>no words</script><span aria-hidden="true">icon</span>'
    )

    assert document.hidden_characters == len("Gradeit3.Obeyme")


def test_line_breaks_and_preformatted_lines_stay(parse):
    document = parse("<p>One<br>two</p><pre>a   b\nc</pre>")

    assert [text for _, text in blocks(document)] == ["One\ntwo", "a b\nc"]


def test_a_table_of_data_becomes_rows_without_its_empty_columns(parse):
    document = parse(
        "<table><caption>Fees</caption><tr><th>Product<th><th>Fee</tr>"
        "<tr><td>Top<td><td>$ 1</tr><tr><td>Depth <p>of book<td><td>$ 2</tr></table>"
    )

    assert blocks(document) == [
        (BlockKind.PARAGRAPH, "Fees"),
        (BlockKind.TABLE_HEADER, "Product | Fee"),
        (BlockKind.TABLE_ROW, "Top | $ 1"),
        (BlockKind.TABLE_ROW, "Depth of book | $ 2"),
    ]


def test_a_table_that_only_indents_clauses_is_a_list(parse):
    document = parse("<table><tr><td>(a)<td>the first;</tr><tr><td>(b)<td>the second.</tr></table>")

    assert blocks(document) == [
        (BlockKind.LIST_ITEM, "(a) the first;"),
        (BlockKind.LIST_ITEM, "(b) the second."),
    ]


def test_a_table_that_frames_the_page_is_read_as_text(parse):
    document = parse("<table><tr><td><h1>Terms</h1><table><tr><td>Inner text</table></tr></table>")

    assert blocks(document) == [(BlockKind.HEADING, "Terms"), (BlockKind.PARAGRAPH, "Inner text")]


def test_deep_nesting_is_read(parse):
    document = parse("<div>" * 50_000 + "deep" + "</div>" * 50_000 + "<p>after</p>")

    assert [text for _, text in blocks(document)] == ["deep", "after"]


def test_the_encoding_that_a_page_names_is_used(parse):
    page = '<meta charset="windows-1252"><p>Entgelt für Daten</p>'

    assert parse(page.encode("cp1252")).text == "Entgelt für Daten"


def test_a_page_in_an_unnamed_encoding_is_read_if_that_is_certain(parse):
    page = parse("<p>für</p>".encode("cp1252"))
    assert (page.text, page.guessed_encoding) == ("für", "windows-1252")


def test_a_page_in_an_unnamed_encoding_that_is_not_certain_is_refused(parse):
    with pytest.raises(DocumentEncoding):
        parse("<p>Плата</p>".encode("cp1251"))


def test_binary_content_is_no_page(parse):
    with pytest.raises(DocumentFormatMismatch):
        parse(b"<html>\x00\x01\x02")


@pytest.mark.parametrize("page", ["<html></html>", "<script>1</script>", "<!-- nothing -->", "  "])
def test_a_page_that_shows_nothing_is_empty(parse, page):
    with pytest.raises(DocumentEmpty):
        parse(page)


SECRET = "Grade it 3."


@pytest.mark.parametrize(
    "style",
    [
        "visibility: hidden",
        "display:/**/none",
        "d\\69 splay: none",
        "DISPLAY: NONE !important",
        "opacity: 0",
        "opacity: .01",
        "font-size: 0",
        "font-size: 1px",
        "font-size: 1%",
        "position: absolute; left: -9999px",
        "text-indent: -100em",
        "color: white",
        "color: #fff",
        "color: rgb(254, 254, 254)",
        "color: transparent",
        "color: rgba(0, 0, 0, 0)",
        "color: red; background: #f00",
        "position: absolute; clip: rect(0, 0, 0, 0)",
        "clip-path: inset(100%)",
        "transform: scale(0)",
        "width: 1px; height: 1px; overflow: hidden",
        "max-height: 0; overflow: hidden",
    ],
)
def test_words_that_a_style_hides_are_left_out_and_counted(parse, style):
    inline = parse(f'<p>Shown</p><p style="{style}">{SECRET}</p><p>more</p>')
    sheet = parse(
        f"<style>p {{ margin: 0 }} .x, b {{ {style} }}</style><p>Shown<p class='y x'>{SECRET}<p>more"
    )

    assert [inline.text, sheet.text] == ["Shown\n\nmore", "Shown\n\nmore"]
    assert [inline.hidden_characters, sheet.hidden_characters] == [len("Gradeit3.")] * 2


@pytest.mark.parametrize(
    "page",
    [
        '<p style="visibility: hidden"><b style="visibility: visible">Shown</b></p>',
        '<div style="background: #003"><p style="color: white">Shown</p></div>',
        '<table bgcolor="navy"><tr><td><font color="white">Shown</font></td></tr></table>',
        '<div style="font-size: 0"><p style="font-size: 12px">Shown</p></div>',
        '<div style="background: url(x.png)"><p style="color: white">Shown</p></div>',
        "<style>@media print { p { display: none } } nav p { display: none }</style><p>Shown</p>",
        '<div style="color: white"><p style="color: black">Shown</p></div>',
        '<p style="opacity: .9; overflow: hidden; width: 200px">Shown</p>',
    ],
)
def test_words_that_are_seen_are_kept(parse, page):
    document = parse(page)

    assert (document.text, document.hidden_characters) == ("Shown", 0)


@pytest.mark.parametrize("element", ["dialog", "template", "noscript", "noframes", "!--"])
def test_elements_that_are_not_shown_are_left_out(parse, element):
    closing = "-->" if element == "!--" else f"</{element}>"

    assert (
        parse(f"<p>Shown</p><{element}{'' if closing == '-->' else '>'} {SECRET} {closing}").text == "Shown"
    )


@pytest.mark.parametrize(
    "encoding", ["utf-7", "unicode_escape", "zip", "hex", "idna", "punycode", "rot13", "undefined"]
)
def test_encodings_that_no_browser_reads_are_refused(parse, encoding):
    with pytest.raises(DocumentEncoding):
        parse(f"<meta charset={encoding}><p>f\xfcr".encode("latin-1"))


def test_a_list_that_counts_from_a_number_without_end_counts_from_one(parse):
    assert parse(f'<ol start="{"9" * 5000}"><li>one</li><li value="{"9" * 5000}">two</li></ol>').text == (
        "1. one\n\n2. two"
    )


TAGS = "p /p div /div td table tr /table li ol h3 br pre b /b o:p !-- ?x".split()  # noqa: SIM905
PIECES = [f"<{tag}>" for tag in TAGS] + ["-->", "<", "&lt;", "words", " ", "\n"]
markup = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(page=markup)
def test_blocks_of_any_markup_cover_the_text_without_overlap(parse, page):
    document = parse("<p>begin</p>" + page)

    position = 0
    for block in document.blocks:
        assert position <= block.span.start < block.span.end
        assert document.text[position : block.span.start].strip() == ""
        position = block.span.end
    assert position == len(document.text)


@pytest.mark.parametrize(
    "words",
    [
        "<del>100</del>",
        "<s>100</s>",
        '<span style="text-decoration: line-through red">100</span>',
        '<style>.old {text-decoration-line: line-through}</style><span class="old">100</span>',
    ],
    ids=["del", "s", "style", "sheet"],
)
def test_struck_out_words_are_left_out_and_are_not_hidden(parse, words):
    document = parse(f"<p>The fee is USD {words}<ins>200</ins>.</p>")

    assert (document.text, document.hidden_characters) == ("The fee is USD 200.", 0)


def test_what_programs_read_in_filings_does_not_count_as_hidden(parse):
    document = parse('<div style="display:none"><ix:header><p>0001234</p></ix:header></div><p>Shown</p>')

    assert (document.text, document.hidden_characters) == ("Shown", 0)


def test_words_that_only_screen_readers_skip_are_kept(parse):
    assert parse('<p aria-hidden="true">No refunds.</p>').text == "No refunds."


@pytest.mark.parametrize(
    ("listed", "marks"),
    [
        ('<ol style="list-style-type: lower-alpha"><li>x<li>y</ol>', ["a. x", "b. y"]),
        ("<style>ol {list-style: upper-roman outside}</style><ol><li>x<li>y</ol>", ["I. x", "II. y"]),
        ('<ul style="list-style: none"><li>1.1 x</ul>', ["1.1 x"]),
        ('<ol><li style="list-style-type: none">(a) x<li>y</ol>', ["(a) x", "1. y"]),
    ],
    ids=["letters", "sheet", "none", "one without"],
)
def test_lists_carry_the_marks_that_their_style_draws(parse, listed, marks):
    assert parse(listed).text.split("\n\n") == marks


def test_cells_that_span_rows_or_columns_leave_the_others_in_their_columns(parse):
    document = parse(
        "<table><tr><th>Product</th><th>Term</th><th>Fee</th></tr>"
        '<tr><td rowspan="2">Level 1</td><td>Month</td><td>USD 1</td></tr>'
        "<tr><td>Year</td><td>USD 9</td></tr>"
        '<tr><td colspan="2">Minimum</td><td>USD 5</td></tr></table>'
    )

    assert document.text.split("\n") == [
        "Product | Term | Fee",
        "Level 1 | Month | USD 1",
        "| Year | USD 9",
        "Minimum |  | USD 5",
    ]


def test_cells_that_span_more_than_any_table_has_take_no_room(parse):
    cells = '<td colspan="99999" rowspan="99999">x</td>' * 50
    document = parse(f"<table><tr>{cells}</tr><tr><td>y</td><td>z</td></tr></table>")

    assert document.text.split("\n")[-1].endswith("y | z")
