from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunks import Chunk, ContextPart, TextDoubt, TextDoubtKind
from corpus.spans import PageSpan, Span
from services.answer.parts import around, doubts_of, joined, outside, quote_parts, quoted_text, reading_of
from services.answer.verification.lint import LintRule, lint
from tests.unit.answer.listed import (
    ALL,
    CONSENT,
    COPY,
    DOCUMENT,
    FEES,
    LEAD_IN,
    SECOND,
    SHARE,
    items,
    span_of,
)


def test_an_ordinary_quote_is_one_part():
    (part,) = quote_parts(ALL, span_of(FEES))
    assert (part.text, part.span, part.page) == (FEES, span_of(FEES), 2)


@pytest.mark.parametrize("chunk", [ALL, items(COPY, SHARE, CONSENT)])
def test_an_item_has_its_lead_in_and_its_condition_wherever_these_stand(chunk):
    assert quoted_text(chunk, span_of(SHARE)) == f"{LEAD_IN} … {SHARE}\n{CONSENT}"


def test_parts_outside_the_chunk_tell_their_own_pages():
    parts = quote_parts(SECOND, span_of(SHARE))
    assert [(part.text, part.page) for part in parts] == [(LEAD_IN, 1), (SHARE, 2), (CONSENT, 3)]


def test_what_only_white_space_of_the_chunk_parts_is_one():
    assert [part.text for part in quote_parts(ALL, span_of(COPY))] == [f"{LEAD_IN}\n{COPY}", CONSENT]


def test_words_of_an_item_come_with_the_lead_in_as_well():
    assert quoted_text(SECOND, span_of("Share the Data")) == f"{LEAD_IN} … Share the Data … {CONSENT}"


def test_a_quote_of_the_whole_list_repeats_nothing():
    whole = Span(span_of(LEAD_IN).start, span_of(CONSENT).end)
    assert quoted_text(ALL, whole) == DOCUMENT[whole.start :]


def test_a_lead_in_outside_the_chunk_can_be_quoted_under_those_further_out():
    outer, inner = "The Licensee shall not:", "permit any Affiliate to:"
    text = f"{outer}\n{inner}\nshare it"
    governs = span_of("share it", text)
    contexts = tuple(ContextPart(span_of(one, text), one, governs, ()) for one in (outer, inner))
    chunk = replace(SECOND, text="share it", span=governs, context_before=contexts, context_after=())
    assert quoted_text(chunk, span_of(inner, text)) == f"{outer} … {inner}"


def test_only_contexts_that_the_text_lacks_stand_outside_of_it():
    assert outside(ALL, ALL.context_before) == ()
    assert [part.text for part in outside(SECOND, SECOND.context_before)] == [LEAD_IN]


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [(COPY, LEAD_IN, CONSENT), (SHARE, LEAD_IN, CONSENT), (FEES, "", "")],
)
def test_what_stands_around_the_words_is_told_apart(words, before, after):
    assert around(quote_parts(ALL, span_of(words)), span_of(words)) == (before, after)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [(FEES, ()), (LEAD_IN, (TextDoubtKind.READING_ORDER,)), (SHARE, (TextDoubtKind.READING_ORDER,))],
)
def test_a_quote_is_in_doubt_when_one_of_its_parts_is(words, kinds):
    doubt = TextDoubt(span_of("shall not"), TextDoubtKind.READING_ORDER)
    chunk = replace(ALL, doubts=(doubt,))
    assert doubts_of(chunk, quote_parts(chunk, span_of(words))) == kinds


TEXTS = st.text("ab \n", min_size=30, max_size=60)


@st.composite
def governed_chunks(draw):
    """A document, a chunk of it with contexts anywhere, and a span within the chunk."""
    text = draw(TEXTS)
    cut = st.integers(0, len(text))
    spans = st.tuples(cut, cut).filter(lambda ends: ends[0] < ends[1]).map(lambda ends: Span(*ends))
    span = draw(spans)
    inner = st.tuples(st.integers(span.start, span.end), st.integers(span.start, span.end))
    within = inner.filter(lambda ends: ends[0] < ends[1]).map(lambda ends: Span(*ends))
    contexts = draw(st.lists(st.tuples(spans, within), max_size=4))
    parts = tuple(
        ContextPart(where, text[where.start : where.end], governs, (PageSpan(1, where),))
        for where, governs in contexts
    )
    chunk = replace(
        SECOND, text=text[span.start : span.end], span=span, context_before=parts[:2], context_after=parts[2:]
    )
    return text, chunk, draw(within)


@given(governed_chunks())
def test_parts_are_stretches_of_the_document_in_order_that_hold_all_that_belongs_to_the_words(drawn):
    text, chunk, span = drawn
    parts = quote_parts(chunk, span)
    assert all(part.text == text[part.span.start : part.span.end] for part in parts)
    assert all(one.span.end < other.span.start for one, other in pairwise(parts))
    needed = [span, *(part.span for part in _governing(chunk, span))]
    assert all(any(one in part.span for part in parts) for one in needed)
    assert joined(parts).count(" … ") >= len(parts) - 1


def _governing(chunk: Chunk, span: Span) -> list[ContextPart]:
    return [one for one in (*chunk.context_before, *chunk.context_after) if one.governs.overlap(span)]


@pytest.mark.parametrize("chunk", [ALL, SECOND])
def test_an_item_is_read_in_one_go_with_what_governs_it(chunk):
    assert reading_of(chunk, span_of(SHARE)) == (
        "The Licensee shall not Share the Data with any third party for commercial purposes "
        "in each case only with the prior written consent of the Licensor."
    )


def test_every_item_of_a_quote_is_read_with_its_lead_in_and_the_lead_in_not_alone():
    whole = Span(span_of(FEES).start, span_of(SHARE).end)
    read = reading_of(replace(ALL, context_after=()), whole)
    assert read == (
        f"{FEES} The Licensee shall not Copy the Data. "
        "The Licensee shall not Share the Data with any third party for commercial purposes."
    )


@pytest.mark.parametrize(
    ("claim", "rules"),
    [
        ("The Licensee may share the Data with any third party.", {LintRule.NEGATION, LintRule.MODAL}),
        ("Share the Data with any third party for commercial purposes.", {LintRule.NEGATION}),
        ("The Licensee shall not share the Data with any third party.", set()),
    ],
)
def test_the_lint_reads_a_prohibition_in_a_lead_in(claim, rules):
    found = {one.rule for one in lint(claim, [reading_of(SECOND, span_of(SHARE))])}
    assert found - {LintRule.CONDITION} == rules
    assert LintRule.CONDITION in found
