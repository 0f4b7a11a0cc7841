"""What the legs found is ordered by its evidence."""

from __future__ import annotations

import numpy as np
import pytest

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation
from corpus.spans import Span
from corpus.stems import stems_of
from services.retrieval.background import Sample
from services.retrieval.corpus import Hit, Passage, Scope
from services.retrieval.evidence import Question
from services.retrieval.names.index import NameIndex
from services.retrieval.overview import Overview
from services.retrieval.queries import SearchMode
from services.retrieval.routes import Destination
from services.retrieval.routing import HeadIndex, Routed
from services.retrieval.search import Asked, Leg, Pool, Ranked, rank
from tests.unit.nouns import a_chunk

NO_HEADS = HeadIndex([], lambda stem: 0.0)
EMPTY = Overview("", NO_HEADS, NameIndex([], NO_HEADS, lambda stem: 0.0), Sample([]))
FEES = Question(np.array([1, 0], dtype=np.float32), ("fee",), ())


def chunk(name):
    return a_chunk(
        "fees",
        chunk_id=ChunkId(name),
        alias=name,
        document_id=DocumentId("cme/a.txt"),
        generation=Generation("1"),
        source="cme",
        title="",
        section="",
        word_count=1,
        span=Span(0, 4),
    )


def found(name, text, similarity, document="cme/a.txt"):
    vector = np.array([[similarity, (1 - similarity**2) ** 0.5]], dtype=np.float32)
    windows = (Span(0, len(text)),)
    return Passage(ChunkId(name), DocumentId(document), windows, vector, tuple(stems_of(text)))


def asked(*routed):
    return Asked(Destination("fees", Scope(), routed), "fees", ("fee",), ())


def leg(*hits):
    return Leg.of([Hit(ChunkId(name), score) for name, score in hits])


def names(scored):
    return [each.passage.chunk_id for each in scored]


def test_a_hybrid_search_orders_by_combined_evidence():
    pool = Pool(
        SearchMode.HYBRID,
        leg(("alike", 0.6), ("both", 0.5)),
        leg(("both", 2.0)),
        [found("alike", "data", 0.6), found("both", "fees fees", 0.5)],
    )
    scored = rank(pool, FEES, asked(), EMPTY)
    assert names(scored) == ["both", "alike"]
    assert [each.score for each in scored] == [each.weighed.evidence.combined for each in scored]


def test_raw_scores_and_ranks_of_the_legs_stay():
    pool = Pool(
        SearchMode.HYBRID,
        leg(("alike", 0.6), ("both", 0.5)),
        leg(("both", 2.0)),
        [found("alike", "data", 0.6), found("both", "fees fees", 0.5), found("lexical", "price", 0.1)],
    )
    ranked = rank(pool, FEES, asked(), EMPTY)
    by_name = {each.passage.chunk_id: pool.candidate(each, chunk(each.passage.chunk_id)) for each in ranked}
    assert (by_name["both"].vector, by_name["both"].keyword) == (Ranked(0.5, 2), Ranked(2.0, 1))
    assert (by_name["alike"].vector, by_name["alike"].keyword) == (Ranked(0.6, 1), None)
    assert (by_name["lexical"].vector, by_name["lexical"].keyword) == (None, None)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(SearchMode.KEYWORD, ["b", "a"]), (SearchMode.VECTOR, ["a", "b"])],
)
def test_a_single_leg_orders_by_its_raw_score(mode, expected):
    pool = Pool(
        mode,
        leg(("a", 0.6), ("b", 0.5)) if mode is SearchMode.VECTOR else Leg(),
        leg(("b", 3.0), ("a", 2.0)) if mode is SearchMode.KEYWORD else Leg(),
        [found("a", "fees", 0.6), found("b", "fees", 0.5)],
    )
    assert names(rank(pool, FEES, asked(), EMPTY)) == expected


def test_equal_scores_keep_first_appearance():
    pool = Pool(SearchMode.HYBRID, Leg(), Leg(), [found(name, "data", 0.5) for name in "zay"])
    assert names(rank(pool, FEES, asked(), EMPTY)) == ["z", "a", "y"]


def test_the_better_named_document_comes_first():
    routed = (Routed(DocumentId("cme/b.txt"), 1.0), Routed(DocumentId("cme/a.txt"), 0.7))
    pool = Pool(
        SearchMode.HYBRID,
        Leg(),
        Leg(),
        [found("a", "data", 0.6, "cme/a.txt"), found("b", "data", 0.5, "cme/b.txt")],
    )
    scored = rank(pool, FEES, asked(*routed), EMPTY)
    assert names(scored) == ["b", "a"]
    assert [each.score - each.weighed.evidence.combined for each in scored] == pytest.approx([1.0, 0.7])


def test_near_duplicates_all_stay():
    pool = Pool(SearchMode.HYBRID, Leg(), Leg(), [found(name, "the same fees", 0.5) for name in "ab"])
    assert names(rank(pool, FEES, asked(), EMPTY)) == ["a", "b"]
