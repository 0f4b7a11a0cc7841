from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunks import Chunk, ContextPart
from corpus.spans import SectionSpan, Span
from services.retrieval.chunk_html import html_of

ELEMENTS = {"h2", "h3", "h4", "h5", "h6", "p", "table", "thead", "tbody", "tr", "th", "td"}
HEADER, ROW = "Product | Fee, USD", "QH Top | 28.50"


def chunk(text: str, **more) -> Chunk:
    values = {
        "chunk_id": "c",
        "alias": "a_0",
        "document_id": "a/b.txt",
        "generation": "g",
        "source": "a",
        "title": "B",
        "heading_chain": (),
        "section": "Fees",
        "pages": (),
        "table_header": "",
        "content_sha256": "",
        "is_definitions": False,
        "ordinal": 0,
        "sentences": (),
    }
    return Chunk(**{**values, **more}, text=text, word_count=len(text.split()), span=Span(0, len(text)))


class Read(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[object] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words += data

    def handle_comment(self, data):
        self.elements.append("a comment")

    def handle_decl(self, decl):
        self.elements.append("a declaration")

    def handle_pi(self, data):
        self.elements.append("an instruction")


def bare(text: str) -> str:
    """A text without what tells blocks and cells apart."""
    return "".join(text.replace("|", "").split())


def test_headings_paragraphs_and_tables_are_told_apart():
    text = f"2. Fees\n\n2.1 The fees are\nthese.\n\n{HEADER}\n{ROW}\n\nNo others."
    header = ContextPart(Span(0, 0), HEADER, Span(0, 0), ())
    fees = chunk(text, heading_chain=("Schedule", "2. Fees"), context_before=(header,))

    assert html_of(fees) == (
        "<h3>2. Fees</h3>\n<p>2.1 The fees are\nthese.</p>\n<table><thead><tr><th>Product</th>"
        "<th>Fee, USD</th></tr></thead><tbody><tr><td>QH Top</td><td>28.50</td></tr></tbody></table>\n"
        "<p>No others.</p>"
    )


def test_a_table_that_goes_on_has_the_header_row_from_before_the_chunk():
    goes_on = chunk(f"{ROW}\n\n{ROW}", table_header=HEADER)

    first, second = html_of(goes_on).split("\n")

    assert first.startswith("<table><thead><tr><th>Product</th>")
    assert second == "<table><tbody><tr><td>QH Top</td><td>28.50</td></tr></tbody></table>"


def test_the_headings_of_each_section_in_the_chunk_are_headings():
    text = "Audit\n\nOnce a year.\n\nNotices\n\nBy post."
    sections = (SectionSpan(("Audit",), Span(0, 19)), SectionSpan(("Notices",), Span(19, len(text))))

    assert html_of(replace(chunk(text), sections=sections)).count("<h2>") == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a | <b onclick='x'>b</b>",
        '</p><a href="javascript:x">y</a>',
        "<!-- --><!DOCTYPE x><?php x ?>",
        "&lt;script&gt; &#60;b&#62;",
    ],
)
@pytest.mark.parametrize("field", ["text", "table_header"])
def test_markup_in_a_document_is_text(hostile, field):
    shown = chunk(hostile) if field == "text" else chunk(ROW, table_header=hostile)
    read = Read(html_of(shown))

    assert (read.attributes, set(read.elements) <= ELEMENTS) == ([], True)
    assert bare(hostile) in bare(read.words)


PIECES = st.text(max_size=5) | st.sampled_from(["\n", "\n\n", " | ", "<", "&", "<!--", "&amp;", "</p>"])


@given(st.lists(PIECES).map("".join))
def test_every_word_of_the_text_is_there_and_nothing_else(text):
    read = Read(html_of(chunk(text)))

    assert (read.attributes, set(read.elements) <= ELEMENTS) == ([], True)
    assert bare(read.words) == bare(text)
