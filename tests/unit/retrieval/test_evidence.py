"""Evidence of chunks, and what a question scores elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation, Version
from corpus.spans import Span
from corpus.stems import stems_of
from services.retrieval.background import USUAL_MEAN, Sample, SampledDocument, choose
from services.retrieval.bm25 import K1, B, Bag, ShareBM25
from services.retrieval.corpus import EmbeddedChunk
from services.retrieval.evidence import Question, weigh
from tests.unit.nouns import a_chunk

WORDS = st.sampled_from(["fee", "data", "audit", "right", "term", "notic"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=8)
QUESTION_STEMS = st.lists(WORDS | st.just("unheard"), min_size=1, max_size=6)


def embedded(text, *vectors, document="cme/a.txt"):
    chunk = a_chunk(
        text,
        chunk_id=ChunkId(f"{document}:{text}"),
        document_id=DocumentId(document),
        generation=Generation("1"),
        source="cme",
        title="",
        section="",
        word_count=len(text.split()),
    )
    windows = tuple(Span(number, number + 1) for number in range(len(vectors)))
    return EmbeddedChunk(chunk, windows, np.array(vectors, dtype=np.float32), tuple(stems_of(text)))


@settings(deadline=None)
@given(TEXTS, QUESTION_STEMS)
def test_shares_are_between_nothing_and_all(texts, question):
    shares = ShareBM25(texts).shares(question)
    assert shares.min() >= 0
    assert shares.max() <= 1


@settings(deadline=None)
@given(TEXTS, QUESTION_STEMS)
def test_postings_give_what_a_scan_with_rank_bm25_gives(texts, question):
    ours = ShareBM25(texts)
    scan = BM25Okapi(texts, k1=K1, b=B)
    scan.idf = ours.idf
    assert ours.get_scores(question) == pytest.approx(scan.get_scores(question) / (K1 + 1), abs=1e-5)


@settings(deadline=None)
@given(TEXTS, TEXTS, QUESTION_STEMS)
def test_added_texts_score_as_if_they_belonged_to_the_corpus(texts, added, question):
    joined = ShareBM25([*texts, *added])
    shares = ShareBM25(texts).shares_with(question, [Bag.of(text, question) for text in added])
    assert shares == pytest.approx(joined.shares(question)[len(texts) :], abs=1e-5)


def test_a_corpus_may_be_empty():
    assert ShareBM25([]).shares_with(["fee"], [Bag.of(["fee"], ["fee"])]) == [pytest.approx(1 / (1 + K1))]


def test_a_question_without_stems_has_no_share():
    assert ShareBM25([["fee"]]).shares([]).tolist() == [0.0]


def test_similarity_is_that_of_the_best_window():
    question = Question(np.array([1, 0], dtype=np.float32), ("fee",), ())
    [weighed] = weigh(question, [embedded("fees", [0.6, 0.8], [0.8, 0.6])], ShareBM25([]))
    assert weighed.evidence.similarity == pytest.approx(0.8)
    assert [window.similarity for window in weighed.windows] == pytest.approx([0.6, 0.8])
    assert [window.span for window in weighed.windows] == [Span(0, 1), Span(1, 2)]


def test_combined_evidence_is_the_weighted_sum():
    question = Question(np.array([1, 0], dtype=np.float32), ("fee",), ("price", "absent"))
    [weighed] = weigh(question, [embedded("fees and prices", [0.6, 0.8])], ShareBM25([]))
    evidence = weighed.evidence
    assert 0 < evidence.lexicon_share < evidence.keyword_share < 1
    assert evidence.combined == pytest.approx(
        evidence.similarity + 0.5 * evidence.keyword_share + 0.35 * evidence.lexicon_share
    )


def test_nothing_weighs_nothing():
    assert weigh(Question(np.ones(2, dtype=np.float32), ("fee",), ()), [], ShareBM25([])) == []


def sampled(number, similarity):
    rest = math.sqrt(1 - similarity**2)
    document = f"cme/{number}.txt"
    chunks = [embedded("words", [0, 1], [similarity, rest], document=document), embedded("others", [0, 1])]
    return SampledDocument.of(Version(DocumentId(document), Generation("1")), chunks)


QUESTION = Question(np.array([1, 0], dtype=np.float32), ("fee",), ())


def test_background_is_the_mean_of_each_documents_best_and_ten_usual_ones():
    sample = Sample([sampled(number, 0.5 if number % 2 else 0.1) for number in range(20)])
    background = sample.background(QUESTION, ())
    assert background.calibrated
    assert background.documents == 20
    assert background.mean == pytest.approx((20 * 0.3 + 10 * USUAL_MEAN) / 30)


def test_background_leaves_out_the_documents_that_are_asked_about():
    others = Sample([sampled(number, 0.1) for number in range(20)])
    sample = Sample([sampled(number, 0.1) for number in range(20)] + [sampled(20, 0.9)])
    assert sample.background(QUESTION, {DocumentId("cme/20.txt")}) == others.background(QUESTION, ())


@pytest.mark.parametrize("documents", [0, 1])
def test_where_nothing_else_is_indexed_the_background_is_the_usual_one(documents):
    sample = Sample([sampled(number, 0.5) for number in range(documents)])
    background = sample.background(QUESTION, {DocumentId("cme/0.txt")})
    assert (background.mean, background.documents) == (USUAL_MEAN, 0)
    assert background.calibrated


def test_usage_counts_documents():
    sample = Sample([sampled(0, 0.5), sampled(1, 0.5)])
    assert sample.usage("word") == 1
    assert sample.usage("unheard") == 0
    assert Sample([]).usage("word") == 0


@settings(deadline=None)
@given(st.sets(st.text(min_size=1), min_size=50, max_size=80), st.data())
def test_a_document_that_goes_changes_the_sample_by_one_at_most(names, data):
    gone = data.draw(st.sampled_from(sorted(names)))
    before, after = set(choose(names)), set(choose(names - {gone}))
    assert len(before - after) <= 1
