from __future__ import annotations

import dataclasses
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.chunks import Chunk
from corpus.spans import Span
from corpus.stems import stems_of
from services.answer.corpus import Background, Candidate, Found, Leg, Window
from services.answer.evidence.extraction import (
    ANY_OTHER_WORD_WEIGHT,
    COVERED_WEIGHT,
    FULL_WEIGHT,
    KEYWORD_WEIGHT,
    LEXICON_WEIGHT,
    OTHER_WORDS_WEIGHT,
    choose_sentences,
    score_sentences,
)
from services.answer.evidence.grading import GradedCandidate
from tests.unit.nouns import a_chunk

FEE = "The licensee shall pay a monthly fee of USD 100 for each device."
LAW = "This agreement is governed by the laws of the State of Illinois."
NOTICE = "Either party may terminate on thirty days written notice to the other."


def chunk(*sentences: str, start: int = 0, name: str = "c", headings: tuple[str, ...] = ()) -> Chunk:
    text = " ".join(sentences)
    spans, at = [], start
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    whole = Span(start, start + len(text))
    return a_chunk(
        text, chunk_id=name, alias=name, heading_chain=headings, span=whole, sentences=tuple(spans)
    )


def graded(part: Chunk, *similarities: float, combined: float = 0.8) -> GradedCandidate:
    windows = tuple(Window(span, cosine) for span, cosine in zip(part.sentences, similarities, strict=True))
    return GradedCandidate(Candidate(part, max(similarities), 0.0, combined, windows), combined, combined)


def found(question: str = "", lexicon: str = "") -> Found:
    nothing = Leg(0, None)
    background = Background(0.6, calibrated=True)
    stems, extra = tuple(stems_of(question)), tuple(stems_of(lexicon))
    return Found("", question, (), nothing, nothing, 0, 0, background, {}, stems, extra, "1")


def chosen(kept, question: str = "", lexicon: str = "") -> list[str]:
    return [one.sentence.text for one in choose_sentences(kept, found(question, lexicon))]


def test_the_sentence_with_the_words_of_the_question_comes_first():
    assert chosen([graded(chunk(LAW, FEE, NOTICE), 0.3, 0.3, 0.3)], "monthly fee per device")[0] == FEE


def test_words_that_the_lexicon_adds_count_as_well():
    assert chosen([graded(chunk(LAW, FEE, NOTICE), 0.3, 0.3, 0.3)], "", "terminate notice")[0] == NOTICE


def test_a_sentence_takes_the_cosine_of_its_own_window():
    assert chosen([graded(chunk(LAW, FEE, NOTICE), 0.1, 0.1, 0.9)]) == [NOTICE]


def test_runners_up_must_come_close_to_the_best():
    assert chosen([graded(chunk(LAW, FEE, NOTICE), 0.5, 0.49, -0.3)]) == [LAW, FEE]


def test_no_more_than_three_sentences_are_chosen():
    kept = [graded(chunk(*[f"{LAW} {i}" for i in range(9)]), *[0.5] * 9)]
    assert len(chosen(kept)) == 3


def test_a_sentence_that_two_chunks_share_is_chosen_once():
    first = chunk(LAW, FEE, name="one")
    second = chunk(FEE, NOTICE, name="two", start=len(LAW) + 1)
    scored = score_sentences([graded(first, 0.5, 0.5), graded(second, 0.5, 0.5)], found())
    assert [(one.sentence.chunk.alias, one.sentence.text) for one in scored] == [
        ("one", LAW),
        ("one", FEE),
        ("two", NOTICE),
    ]


def test_sentences_that_read_the_same_are_stated_once():
    first, edition = (
        chunk(LAW, name="one"),
        chunk(LAW.replace("the laws", "the\nlaws"), name="two", start=500),
    )
    assert chosen([graded(first, 0.5), graded(edition, 0.5)]) == [LAW]


def test_nothing_kept_gives_no_sentences():
    assert choose_sentences((), found("fee")) == ()


SHARES = KEYWORD_WEIGHT + LEXICON_WEIGHT + COVERED_WEIGHT + OTHER_WORDS_WEIGHT
MOST = SHARES + ANY_OTHER_WORD_WEIGHT + FULL_WEIGHT
words = st.lists(
    st.sampled_from(["fee", "monthly", "device", "law", "notice", "the", "of", "10", ";", "."]), max_size=12
)


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=6), words)
def test_every_sentence_is_a_slice_and_every_share_lies_between_0_and_1(sentences, question):
    part = chunk(*(" ".join(sentence) or "." for sentence in sentences), start=7)
    kept = [graded(part, *[0.0] * len(sentences), combined=0.0)]
    query = " ".join(question)
    for one in score_sentences(kept, found(query, query)):
        span = one.sentence.span
        assert part.text[span.start - 7 : span.end - 7] == one.sentence.text
        assert 0 <= one.score <= MOST + 1e-9


@settings(deadline=None)
@given(st.text(max_size=50))
def test_stems_are_lower_case_words_of_two_characters_and_more(text):
    assert all(len(stem) >= 1 and not re.search(r"\s", stem) for stem in stems_of(text))


def test_stems_are_cut_as_retrieval_cuts_them():
    assert stems_of("Redistribution fees, 10b-5 and 401(k).") == [
        "redistribut", "fee", "10b", "and", "401", "10b-5", "401k",
    ]  # fmt: skip


def test_a_table_row_is_read_with_its_section_and_its_header():
    rows = ("Product | USD | EUR", "Depth | 90 | 80", "Options | 70 | 60")
    inside = chunk(*rows, name="inside")
    outside = dataclasses.replace(chunk(*rows, start=1_000, name="outside"), section="External distribution")
    kept = [graded(inside, 0.3, 0.3, 0.3), graded(outside, 0.3, 0.3, 0.3)]
    best = choose_sentences(kept, found("external distribution options eur"))[0].sentence
    assert (best.text, best.chunk.section) == ("Options | 70 | 60", "External distribution")


def test_a_sentence_that_holds_what_the_question_wants_is_preferred():
    vague = "The licensee shall pay the licence fee in the way that the licensor tells it."
    exact = "The licence fee that the licensee shall pay comes to USD 100 altogether for it."
    kept = [graded(chunk(vague, exact), 0.3, 0.3)]
    assert chosen(kept, "how much is the licence fee")[0] == exact


def test_words_of_contracts_count_for_those_that_people_use():
    assert chosen([graded(chunk(LAW, FEE, NOTICE), 0.3, 0.3, 0.3)], "can we walk away")[0] == NOTICE


def test_blacked_out_words_are_the_worse_answer():
    hidden, told = (
        "The royalty comes to [***] of the net price.",
        "The royalty comes to a tenth of net price.",
    )
    assert chosen([graded(chunk(hidden, told), 0.3, 0.3)])[0] == told


def test_a_signature_is_chosen_only_when_nothing_else_is_there():
    signature = "By: /s/ A. Person, director of the licensee"
    assert chosen([graded(chunk(signature, FEE), 0.9, 0.1)], "what may the licensee do") == [FEE]
    assert chosen([graded(chunk(signature), 0.9)], "what may the licensee do") == [signature]
