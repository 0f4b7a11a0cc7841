"""Passages that are checked against the stored text before they are delivered."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunks import Chunk, TextDoubt, TextDoubtKind
from corpus.spans import SectionSpan, Span
from corpus.stems import stems_of
from services.answer.answers import NoteKind
from services.answer.research.snippets import (
    UNVERIFIED_RELEVANCE,
    Delivered,
    Passage,
    Unverified,
    Wanted,
    checked_summary,
    deliver,
)
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.signing import Signer
from tests.unit.answer.listed import CONSENT, LEAD_IN, SECOND, SHARE, span_of
from tests.unit.nouns import a_chunk, a_document

QUESTION = "What is the monthly fee for a device?"
FEES = "The monthly fee is USD 120.50 for each Device. Late fees bear interest of 1.5% a month."
NOTICE = "Either party may terminate on ninety (90) days’\nwritten notice. Fees are not refunded."
POLICY = "The vendor pays a monthly fee of USD 90 for each device. It keeps records for 5 years."


def _chunk(name: str, text: str, document: str = "cme/a.pdf", start: int = 0) -> Chunk:
    span = Span(start, start + len(text))
    sentences = [one.span() for one in re.finditer(r"\S.*?[a-z]\.(?=\s|$)", text, re.DOTALL)]
    return a_chunk(
        text,
        chunk_id=name,
        alias=name,
        document_id=document,
        title=f"Title of {document}",
        heading_chain=("Part B", "2. Fees"),
        section="2. Fees",
        span=span,
        sentences=tuple(Span(start + first, start + last) for first, last in sentences),
    )


CHUNKS = {
    "c1": _chunk("fees", FEES, start=100),
    "c2": _chunk("notice", NOTICE, start=100 + len(FEES) + 1),
    "c3": _chunk("policy", POLICY, "opra/b.txt"),
    # As chunks do, it repeats the last sentence of its neighbour.
    "c4": _chunk("overlapping", FEES[47:] + " It ends.", start=147),
}
STORED = {one.chunk_id: one for one in CHUNKS.values()}
DOCUMENTS = {name: a_document(name, title=f"Title of {name}") for name in ("cme/a.pdf", "opra/b.txt")}


def delivered(*passages: Passage, stored: dict[str, Chunk] = STORED, **wanted: object) -> Delivered:
    citations = Citations(stored, DOCUMENTS, Origin("c" * 64, "gpt-4o", "snippets/1", "p" * 64), Signer())
    stems = frozenset(stems_of("monthly fee device"))
    asked = {"question": QUESTION, "stems": stems} | wanted
    return deliver(passages, citations, Wanted(**asked))  # type: ignore[arg-type]


def a_passage(content: str, handle: str = "c1", relevance: str = "It states the monthly fee.") -> Passage:
    return Passage(CHUNKS.get(handle), content, relevance)


def test_a_passage_is_delivered_with_what_its_chunk_says_of_itself() -> None:
    (one,) = delivered(a_passage("The monthly fee is USD 120.50 for each Device.")).snippets

    assert (one.content, one.relevance) == (
        "The monthly fee is USD 120.50 for each Device.",
        "It states the monthly fee.",
    )
    assert one.chunk is CHUNKS["c1"]
    assert one.location == "Part B > 2. Fees"
    assert one.citation is not None
    assert one.citation.span == Span(100, 146)
    assert one.citation.certificate.model == "gpt-4o"


def test_a_passage_stands_under_its_own_heading_where_its_chunk_runs_through_several() -> None:
    sections = (
        SectionSpan(("Part B", "2. Fees"), Span(100, 147)),
        SectionSpan(("Part B", "3. Interest"), Span(147, 100 + len(FEES))),
    )
    chunk = replace(CHUNKS["c1"], sections=sections)
    (one,) = delivered(Passage(chunk, "Late fees bear interest of 1.5% a month.")).snippets

    assert one.location == "Part B > 3. Interest"


def test_what_is_delivered_are_whole_sentences() -> None:
    (one,) = delivered(a_passage("terminate on ninety (90) days’", "c2")).snippets

    assert one.content == "Either party may terminate on ninety (90) days’\nwritten notice."


@pytest.mark.parametrize(
    "claimed",
    [
        "either PARTY may terminate on ninety (90) days’ written notice.",
        "Either party may  terminate on ninety (90) days' written\n\nnotice.",
    ],
)
def test_what_is_delivered_is_the_stored_spelling(claimed: str) -> None:
    (one,) = delivered(a_passage(claimed, "c2")).snippets

    assert one.content == "Either party may terminate on ninety (90) days’\nwritten notice."


@pytest.mark.parametrize(
    ("claimed", "handle"),
    [
        ("The monthly fee is USD 120.50 for each Device. It keeps records for 5 years.", "c1"),
        ("The monthly fee is USD 120.50 … 1.5% a month.", "c1"),
        ("Every device costs USD 120.50 a month.", "c1"),
        ("The monthly fee is USD 121.50 for each Device.", "c1"),
        ("fee is USD 120.5", "c1"),
        ("The vendor pays a monthly fee of USD 90 for each device.", "c1"),
        ("The monthly fee is USD 120.50 for each Device.", "c9"),
        ("The monthly fee is USD 120.50 for each Device.", "[c1]"),
    ],
    ids=["stitched", "gap", "paraphrased", "changed", "cut number", "other chunk", "unknown", "spelled"],
)
def test_a_passage_that_its_chunk_does_not_hold_is_dropped(claimed: str, handle: str) -> None:
    assert delivered(a_passage(claimed, handle)) == Delivered((), dropped=1)


def test_a_passage_whose_chunk_was_replaced_meanwhile_is_dropped() -> None:
    assert delivered(a_passage("The monthly fee is USD 120.50"), stored={}) == Delivered((), dropped=1)


def test_flagged_passages_come_as_claimed_without_what_steers_a_screen_and_without_a_citation() -> None:
    result = delivered(
        a_passage("An \x1b[2Jinvented\u202e sentence."),
        a_passage("An invented chunk.", "c9"),
        a_passage("Fees are not refunded.", "c2"),
        unverified=Unverified.FLAG,
    )

    assert [(one.content, one.citation and one.citation.number) for one in result.snippets] == [
        ("An [2Jinvented sentence.", None),
        ("An invented chunk.", None),
        ("Fees are not refunded.", 3),
    ]
    assert [one.chunk and one.chunk.chunk_id for one in result.snippets] == ["fees", None, "notice"]
    assert result.snippets[0].relevance == UNVERIFIED_RELEVANCE
    assert result.snippets[1].location == ""
    assert (len(result.verified), result.dropped) == (1, 0)


def test_of_passages_that_overlap_in_a_document_the_first_is_kept() -> None:
    late = "Late fees bear interest of 1.5% a month."
    result = delivered(a_passage(late), a_passage(FEES), a_passage(f"{late} It ends.", "c4"))

    assert [one.content for one in result.snippets] == [late]
    assert result.dropped == 0


def test_no_more_passages_are_delivered_than_wanted_and_in_the_order_given() -> None:
    passages = [
        a_passage("It keeps records for 5 years.", "c3"),
        a_passage("Fees are not refunded.", "c2"),
        a_passage("The monthly fee is USD 120.50"),
    ]
    result = delivered(*passages, at_most=2)

    assert [one.citation and one.citation.number for one in result.snippets] == [1, 2]
    assert [one.content for one in result.snippets] == [one.content for one in passages[:2]]


def test_characters_that_nobody_sees_do_not_leave() -> None:
    (one,) = delivered(
        a_passage("The monthly fee is USD 120.50", relevance="It states\u202e the\nfee.")
    ).snippets

    assert one.relevance == "It states the fee."


@pytest.mark.parametrize(
    "relevance",
    [
        "",
        "It sets the fee at USD 99.",
        "See https://example.com for the fee.",
        "It says that the fee is not due.",
        "Typically it states the monthly fee.",
    ],
)
def test_a_reason_beyond_the_passage_gives_way_to_one_by_code(relevance: str) -> None:
    (one,) = delivered(a_passage("The monthly fee is USD 120.50", relevance=relevance)).snippets

    assert one.relevance == "Mentions “monthly”, “fee” and “Device”."


def test_the_question_lends_a_reason_and_a_summary_no_name() -> None:
    said = "Bloomberg pays the monthly fee of USD 120.50."
    question = "Does Bloomberg pay the monthly fee?"
    passage = a_passage("The monthly fee is USD 120.50", relevance=said)
    (one,) = delivered(passage, question=question).snippets
    assert "Bloomberg" not in one.relevance
    assert "Bloomberg" not in checked_summary(f"{said} It is due.", [one], Wanted(question, frozenset()))


def test_a_summary_that_the_snippets_bear_out_stays() -> None:
    result = delivered(a_passage("The monthly fee is USD 120.50 for each Device."))
    summary = "The monthly fee is USD 120.50.\nIt is due for each Device."

    wanted = Wanted(QUESTION, frozenset())
    assert checked_summary(summary, result.snippets, wanted) == (
        "The monthly fee is USD 120.50. It is due for each Device."
    )


@pytest.mark.parametrize(
    "summary", ["", "The fee is USD 99. It is due.", "Ask OPRA on 3 May. See Section 9."]
)
def test_a_summary_beyond_the_snippets_gives_way_to_one_by_code(summary: str) -> None:
    result = delivered(a_passage("The monthly fee is USD 120.50 for each Device."))

    assert checked_summary(summary, result.snippets, Wanted(QUESTION, frozenset())) == (
        "1 passage is quoted from “Title of cme/a.pdf”. It holds none of the question’s words."
    )


TEXTS = st.sampled_from([FEES, NOTICE, POLICY])
CLAIMS = st.one_of(
    st.tuples(TEXTS, st.integers(0, 90), st.integers(0, 90)).map(lambda cut: cut[0][cut[1] : cut[2]]),
    st.tuples(TEXTS, st.text(" \n’'ﬁ-.120", max_size=3)).map(lambda pair: pair[0].replace(" ", pair[1], 2)),
    st.tuples(TEXTS, TEXTS).map(lambda pair: pair[0][:46] + pair[1][:40]),
    TEXTS.map(str.upper),
    st.text(max_size=30),
)
PASSAGES = st.lists(st.builds(a_passage, CLAIMS, st.sampled_from([*CHUNKS, "c0", ""]), CLAIMS), max_size=12)


@given(passages=PASSAGES, unverified=st.sampled_from(Unverified), at_most=st.integers(1, 8))
def test_whatever_is_claimed_a_verified_snippet_is_a_span_of_its_chunk(
    passages: list[Passage], unverified: Unverified, at_most: int
) -> None:
    result = delivered(*passages, unverified=unverified, at_most=at_most)

    assert len(result.snippets) <= at_most
    assert all(one.citation for one in result.snippets) or unverified is Unverified.FLAG
    for number, one in enumerate(result.snippets, start=1):
        if one.citation:
            chunk, span = one.chunk, one.citation.span
            assert chunk is not None
            assert chunk.text[span.start - chunk.span.start : span.end - chunk.span.start] == one.content
            assert one.citation.number == number
            # No number of a reason may be missing in its passage.
            assert set(re.findall(r"\d+", one.relevance)) <= set(re.findall(r"\d+", one.content))


@given(passages=PASSAGES)
def test_verified_snippets_of_a_document_never_overlap(passages: list[Passage]) -> None:
    cited = [one.citation for one in delivered(*passages).snippets if one.citation]
    shared = [
        one.span.overlap(other.span)
        for i, one in enumerate(cited)
        for other in cited[:i]
        if one.document == other.document
    ]

    assert not any(shared)


def test_a_snippet_of_an_item_is_contiguous_and_has_its_lead_in_and_condition_beside_it() -> None:
    documents = {"cme/a.md": a_document("cme/a.md")}
    doubtful = replace(SECOND, doubts=(TextDoubt(span_of("any third party"), TextDoubtKind.MISSING_WORDS),))
    citations = Citations({SECOND.chunk_id: doubtful}, documents, Origin("c" * 64), Signer())
    told = Passage(doubtful, "Share the Data", "The Licensee may share the Data.")
    (one,) = deliver([told], citations, Wanted(QUESTION, frozenset())).snippets

    assert (one.context_before, one.content, one.context_after) == (LEAD_IN, SHARE, CONSENT)
    assert one.citation is not None
    assert one.citation.quote == f"{LEAD_IN} … {SHARE} … {CONSENT}"
    assert one.relevance == "Holds no word of the question."
    assert [note.kind for note in one.notes] == [NoteKind.MISSING_WORDS]
