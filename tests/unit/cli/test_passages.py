from hypothesis import given
from hypothesis import strategies as st

from clausegate.answer.v1.answer_pb2 import SupportingClause
from clausegate.corpus.v1.span_pb2 import Span
from cli.passages import CONTEXT_STYLE, QUOTE_STYLE, cut, excerpt, highlighted, reflow

QUOTES = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=5)


@given(length=st.integers(0, 80), quotes=QUOTES)
def test_pieces_tile_the_passage(length, quotes):
    pieces = list(cut(length, quotes))

    assert [piece.start for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])][: len(pieces)]
    assert sum(piece.end - piece.start for piece in pieces) == length


@given(text=st.text(alphabet="ab .\n", max_size=800), quotes=QUOTES)
def test_an_excerpt_keeps_every_quote_whole(text, quotes):
    pieces = list(cut(len(text), quotes))

    shown = list(excerpt(text, pieces))

    assert [piece for piece in shown if piece.quoted] == [piece for piece in pieces if piece.quoted]


@given(text=st.text(alphabet="ab .\n", max_size=800), quotes=QUOTES)
def test_an_excerpt_is_in_order_and_within_the_passage(text, quotes):
    shown = list(excerpt(text, list(cut(len(text), quotes))))

    edges = [edge for piece in shown for edge in (piece.start, piece.end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)


def test_lines_of_a_paragraph_are_joined():
    assert (
        reflow("is due thirty (30) days\nafter  the invoice date.")
        == "is due thirty (30) days after the invoice date."
    )


def test_rows_of_a_table_keep_their_lines():
    assert reflow("Device | Fee\nTerminal | $95.00") == "Device | Fee\nTerminal | $95.00"


def test_paragraphs_keep_their_lines():
    assert reflow("First.\n\n  Second.") == "First.\nSecond."


def test_a_document_cannot_steer_the_terminal():
    assert reflow("fees\x1b[2Jgone") == "fees\ufffd[2Jgone"
    assert reflow("fees \u202e021 DSU") == "fees \ufffd021 DSU"


def test_a_quote_is_bold_and_its_context_dim():
    text = "Fees. Invoices are due at once. Interest is due later."
    start = text.index("Invoices")
    end = text.index(" Interest")
    clause = SupportingClause(
        text=text, span=Span(start=500, end=500 + len(text)), quoted=[Span(start=500 + start, end=500 + end)]
    )

    shown = highlighted(clause, full=False)

    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert styles["Invoices are due at once."] == QUOTE_STYLE
    assert styles["Fees. "] == CONTEXT_STYLE


def test_what_an_excerpt_leaves_out_is_marked():
    clause = SupportingClause(text="word " * 200, span=Span(start=0, end=1000))

    assert highlighted(clause, full=False).plain.endswith(" …")


def test_a_whole_passage_has_no_mark():
    clause = SupportingClause(text="word " * 200, span=Span(start=0, end=1000))

    assert "…" not in highlighted(clause, full=True).plain
