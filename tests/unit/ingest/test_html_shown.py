from __future__ import annotations

import pytest

from corpus.chunks import TextDoubtKind
from services.ingest.parsing.html import parse_html
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.markdown import parse_markdown

NOT = '<span class="n">not</span>'


@pytest.fixture
def parse(tmp_path):
    def parse_page(content: str, read=parse_html):
        path = tmp_path / "page"
        path.write_text(content, encoding="utf-8")
        return read(path, ParsingLimits())

    return parse_page


def doubted(document) -> list[tuple[str, TextDoubtKind]]:
    return [(document.text[doubt.span.start : doubt.span.end], doubt.kind) for doubt in document.doubts]


@pytest.mark.parametrize(
    "word",
    [
        "<button>not</button>",
        '<button type="button"><b>not</b></button>',
        '<input value="not">',
        '<input type="button" value="not">',
        '<input placeholder="not">',
        "<textarea>not</textarea>",
        "<select><option>maybe<option selected>not</select>",
        "<select><option>not<option>maybe</select>",
        '<select><option label="not">maybe</select>',
        "<svg><text>not</text></svg>",
        "<svg><g><title>sign</title><text><tspan>not</tspan></text></g></svg>",
        "<math><mtext>not</mtext></math>",
        "<ruby>not<rp>(</rp><rt></rt></ruby>",
        "<dialog open>not</dialog>",
        "<output>not</output>",
        "<slot>not</slot>",
        "<x-word>not</x-word>",
        "n<wbr>ot",
        '<span style="display: contents">not</span>',
        '<span style="content-visibility: auto">not</span>',
        '<del style="text-decoration: none">not</del>',
        '<span style="clip: rect(0, 0, 0, 0)">not</span>',
        '<span style="transform: scale(0)">not</span>',
        '<span style="width: 0; height: 0; overflow: hidden">not</span>',
        '<span style="text-indent: -9999px">not</span>',
        '<span style="color: transparent; text-shadow: 0 0 0 black">not</span>',
        '<span style="color: white; -webkit-text-fill-color: black">not</span>',
        '<span hidden style="display: inline">not</span>',
        '<span style="text-transform: lowercase">NOT</span>',
    ],
)
def test_words_in_a_sentence_are_read_whatever_element_shows_them(parse, word):
    document = parse(f"<p>The Licensee shall {word} copy the Data.</p>")

    assert document.text.replace("\n\n", " ") == "The Licensee shall not copy the Data."
    assert document.doubts == ()


@pytest.mark.parametrize(
    ("sheet", "is_shown"),
    [
        (".n { display: none } p .n { display: inline }", True),
        ("p .n { display: inline } .n { display: none }", True),
        (".n { display: none } .n { display: inline }", True),
        (".n { display: inline } .n { display: none }", False),
        (".n { display: none !important } p span.n { display: inline }", False),
        ("p > .n { display: none }", False),
        ("p + p .n { display: none }", True),
        ("p:first-of-type [class~=n] { visibility: hidden }", False),
        ("p { .n { display: none } }", False),
        ("p:not(.x) .n { display: none }", False),
        (".n:hover { display: none }", True),
        (".n:unknown-state, .n { display: none }", True),
        ("@media print { .n { display: none } }", True),
        ("@media screen and (min-width: 600px) { .n { display: none } }", False),
        ("@media (max-width: 600px) { .n { display: none } }", True),
        ("@media (prefers-color-scheme: dark) { .n { display: none } }", True),
        ("@supports (display: grid) { .n { display: none } }", False),
        ("@layer a { .n { display: none } } .n { display: inline }", True),
        (".n { display: inline } @layer a { .n { display: none } }", True),
        (".n { font: 0/0 a }", False),
        (".n { font-size: 0; font: 12px a }", True),
        (".n { color: white } .n { color: black }", True),
        (".n { opacity: 0 } .n { opacity: 1 }", True),
        (".n { margin: 0 0 0 -9999px }", False),
        ("<!-- .n { display: none } -->", False),
        (".n { d\\69splay: none }", False),
        (".n { display: none", False),
        ("} .n { display: none } .n { display: inline }", True),
    ],
)
def test_the_cascade_decides_what_is_shown(parse, sheet, is_shown):
    document = parse(f"<style>{sheet}</style><p>The Licensee shall {NOT} copy.</p>")

    assert document.text == f"The Licensee shall {'not ' if is_shown else ''}copy."
    assert document.hidden_characters == (0 if is_shown else 3)


@pytest.mark.parametrize(
    ("attributes", "is_shown"),
    [
        ('media="print"', True),
        ('media="screen"', False),
        ('type="text/x-template"', True),
        ('type="text/css"', False),
    ],
)
def test_a_sheet_for_another_medium_hides_nothing(parse, attributes, is_shown):
    page = f"<style {attributes}>.n {{ display: none }}</style><p>Shall {NOT} copy.</p>"

    assert ("not" in parse(page).text) is is_shown


@pytest.mark.parametrize(
    ("sheet", "read"),
    [
        ('b::before { content: "not " }', "Shall not copy it."),
        ('b:after { content: " not" }', "Shall copy not it."),
        ("b::before { content: attr(data-word) ' ' }", "Shall not copy it."),
        ('b::before { content: "\\6e ot " }', "Shall not copy it."),
        ('b::before { content: "not "; display: none }', "Shall copy it."),
        ("b::before { content: none }", "Shall copy it."),
        ("p b { text-transform: uppercase }", "Shall COPY it."),
    ],
)
def test_what_a_sheet_writes_is_read(parse, sheet, read):
    document = parse(f'<style>{sheet}</style><p>Shall <b data-word="not">copy</b> it.</p>')

    assert (document.text, document.doubts) == (read, ())


@pytest.mark.parametrize(
    "thing",
    [
        '<img src="not.png">',
        "<svg><path d='M1 1'/></svg>",
        "<canvas>not</canvas>",
        "<object data='x'>not</object>",
        "<embed src='x'>",
        "<video>not</video>",
        "<iframe src='x'>not</iframe>",
        "<meter value='1'>not</meter>",
        "<progress>not</progress>",
        "<noscript>not</noscript>",
        "<script>document.write('not')</script>",
        "<b><template shadowrootmode='open'>not</template></b>",
        "<style>i::before { content: url(x.png) }</style><i></i>",
        "<style>i::before { content: '\\f05e' }</style><i></i>",
        "<input type='password' value='not'>",
    ],
)
def test_a_sentence_with_something_that_is_no_text_is_incomplete(parse, thing):
    document = parse(f"<p>The Licensee shall {thing} copy the Data.</p><p>Fees are due.</p>")

    assert document.text == "The Licensee shall copy the Data.\n\nFees are due."
    assert doubted(document) == [(" c", TextDoubtKind.MISSING_WORDS)]


def test_an_image_in_a_sentence_is_read_by_its_description_and_doubted(parse):
    page = parse('<p>The Licensee shall <img alt="not"> copy.</p>')
    source = parse("The Licensee shall ![not](x.png) copy.", parse_markdown)

    assert [page.text, source.text] == ["The Licensee shall not copy."] * 2
    assert doubted(page) == doubted(source) == [("t ", TextDoubtKind.MISSING_WORDS)]


@pytest.mark.parametrize(
    "alone",
    [
        "<button>Go</button>",
        "<p><input value=x></p>",
        "<div><img alt='logo'></div>",
        "<svg><text>A</text></svg>",
    ],
)
def test_fields_and_drawings_that_stand_alone_are_no_text(parse, alone):
    document = parse(f"<p>Fees are due.</p>{alone}<p>They are final.</p>")

    assert (document.text, document.doubts) == ("Fees are due.\n\nThey are final.", ())


@pytest.mark.parametrize(
    "unseen",
    [
        '<img alt="x" style="display: none">',
        '<input value="x" hidden>',
        '<img alt="x" width="1" height="1">',
        '<span style="visibility: hidden"><canvas></canvas></span>',
        '<input type="hidden" value="x">',
    ],
)
def test_what_is_not_seen_leaves_no_gap(parse, unseen):
    document = parse(f"<p>The Licensee {unseen}shall copy.</p>")

    assert (document.text, document.doubts) == ("The Licensee shall copy.", ())


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("<math><mn>50</mn></math>", "50"),
        ("<math><msup><mn>10</mn><mn>6</mn></msup></math>", "10^6"),
        ("1<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "1 1/2"),
        ("<math><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup></math>", "x^(n+1)"),
        ("<ruby>50<rt>1</rt></ruby>", "50 (1)"),
        ("<q>50</q>", "“50”"),
        ("5<wbr>01", "501"),
        ('<div style="display: flex"><span>50</span><span>1</span></div>', "50 1"),
        ("Pay <input> now", "Pay ____ now"),
        ("<input type=checkbox checked> yes", "☒ yes"),
    ],
)
def test_formulas_fields_and_small_words_are_read_as_they_stand(parse, words, read):
    assert parse(f"<div>{words}</div>").text == read


def test_figures_that_are_drawn_from_right_to_left_are_doubted(parse):
    assert doubted(parse('<p>The fee is <bdo dir="rtl">105</bdo> a month.</p>'))


def test_signs_of_a_page_cannot_pass_for_those_of_the_parser(parse):
    document = parse("<p>shall &#xFDD2;not&#xFDD4; copy <input value='&#xFDD2;or&#xFDD4;'> sell</p>")

    assert (document.text, document.reference_marks) == ("shall not copy or sell", 0)


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("USD 50[^1] a day.\n\n[^1]: Net of VAT\n", "USD 50 a day.\n\n[1] Net of VAT"),
        ("USD 50[^vat] a day.\n[^vat]: Net\nof VAT\n\nMore.", "USD 50 a day.\n\n[1] Net\nof VAT\n\nMore."),
        ("USD 50^1^ a day", "USD 50 a day"),
        ("`[^1]` and [^a-z]", "[^1] and [^a-z]"),
        ("shall <button>not</button> copy", "shall not copy"),
        ("H~2~O", "H2O"),
    ],
)
def test_notes_and_raised_figures_of_markdown_are_read(parse, source, read):
    assert parse(source, parse_markdown).text == read


def test_deep_pages_with_sheets_that_climb_are_read(parse):
    page = "<style>div p { color: black } p ~ p { color: black }</style>" + "<div>" * 3_000 + "<p>deep"

    assert parse(page).text == "deep"
