from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.chunks import ContextPart
from corpus.citations import MatchLevel, QuotePart
from corpus.spans import Span
from services.answer.verification.places import find_governed, find_in, level_at
from tests.unit.answer.listed import ALL, CONSENT, COPY, FEES, LEAD_IN, SECOND, SHARE, WHOLE, span_of

FAR = f"{LEAD_IN} … {SHARE} … {CONSENT}"


def test_words_of_the_text_are_found_where_they_stand():
    assert find_in(ALL, COPY).span == span_of(COPY)


@pytest.mark.parametrize("words", [LEAD_IN, CONSENT, "Licensee shall not", "the LICENSEE shall not:"])
def test_words_of_a_context_are_found_under_the_chunk_that_it_governs(words):
    place = find_in(SECOND, words)
    assert place is not None
    assert place.span in span_of(LEAD_IN) or place.span in span_of(CONSENT)


@pytest.mark.parametrize(("chunk", "words"), [(ALL, WHOLE), (SECOND, FAR), (SECOND, " ".join(FAR.split()))])
def test_joined_words_are_found_at_those_that_the_others_govern(chunk, words):
    place = find_in(chunk, words)
    assert place is not None
    assert span_of(SHARE) in place.span or place.span in span_of(SHARE)


@pytest.mark.parametrize(
    "words",
    [
        f"The Licensee may: … {SHARE}",
        f"{FEES} … {SHARE}",
        f"{LEAD_IN} … {FEES}",
        f"{LEAD_IN} … 2. Share the Data … by email.",
        f"{SHARE} … {LEAD_IN}",
        "…",
        " … ".join(["the"] * 5_000),
    ],
)
def test_words_are_not_joined_otherwise_than_the_document_does(words):
    assert find_in(ALL, words) is None


def test_the_same_item_under_two_lead_ins_is_found_under_the_one_that_is_quoted():
    text = "You may:\n(a) share it.\nYou may not:\n(a) share it."
    first, second = Span(9, 22), Span(36, 49)
    contexts = (
        ContextPart(Span(0, 8), "You may:", first, ()),
        ContextPart(Span(23, 35), "You may not:", second, ()),
    )
    chunk = replace(ALL, text=text, span=Span(0, len(text)), context_before=contexts, context_after=())
    assert text[second.start : second.end] == "(a) share it."
    assert find_governed(chunk, "(a) share it.", "You may not:\n(a) share it.").span == second
    assert find_governed(chunk, "(a) share it.", "You may:\n(a) share it.").span == first
    assert find_governed(chunk, "(a) share it.", "You must:\n(a) share it.") is None


@pytest.mark.parametrize(
    ("text", "start", "level"),
    [
        (LEAD_IN, span_of(LEAD_IN).start, MatchLevel.EXACT),
        (LEAD_IN.replace(" ", "\n"), span_of(LEAD_IN).start, MatchLevel.NORMALISED),
        (LEAD_IN, span_of(LEAD_IN).start + 1, None),
        ("The Licensee may now:!!", span_of(LEAD_IN).start, None),
        (SHARE, span_of(SHARE).start, MatchLevel.EXACT),
    ],
)
def test_a_part_stands_at_its_own_place_alone(text, start, level):
    assert level_at(SECOND, QuotePart(Span(start, start + len(text)), text)) is level
