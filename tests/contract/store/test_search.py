import asyncio
import math

import numpy as np
import pytest

from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.store.port import LegHits, Legs
from tests.contract.store.drafts import Draft, put, vector_of

ALL = Scope()
CLAUSES = [
    "Rule 10b-5 of the Exchange Act applies.",
    "The S&P 500 Index may not be redistributed.",
    "Display of real-time data is permitted.",
    "Contributions to a 401(k) plan are excluded.",
    "Section 1.2(a) governs O'Neil's account.",
]


BEST = {
    "10b-5": 0,
    "S&P 500": 1,
    "S&P": 1,
    "real-time": 2,
    "401(k)": 3,
    "401k": 3,
    "1.2(a)": 4,
    "o'neil’s": 4,
}
"""Of `CLAUSES`, by the question."""
OPERATORS = [
    '"unclosed AND (',
    "text:fees",
    "fees^99 OR *",
    "NOT -fees",
    "\\",
    "+",
    "a:b:c~2",
    "[1 TO 5]",
    "\x00",
    "\ud800",
    "",
]


async def test_tokens_of_legal_text_are_found(store):
    draft = Draft("cme/a.txt", CLAUSES)
    await put(store, draft)
    first = {query: (await store.keyword_hits(stems_of(query), 5, ALL))[0].chunk_id for query in BEST}
    assert first == {query: draft.ids[best] for query, best in BEST.items()}


async def test_operators_of_any_query_language_are_only_text(store):
    draft = Draft("cme/a.txt", ["fees are due", "other clauses"])
    await put(store, draft)
    found = {query: await store.keyword_hits(stems_of(query), 5, ALL) for query in OPERATORS}
    assert {
        query for query, hits in found.items() if {hit.chunk_id for hit in hits} - {draft.ids[0]}
    } == set()


async def test_stems_that_no_tokeniser_makes_find_nothing(store):
    await put(store, Draft("cme/a.txt", ["fees are due"]))
    assert await store.keyword_hits(["fee are", "", " ", "(", "\x00", "x" * 70_000], 5, ALL) == ()


async def test_keyword_score_is_bm25_without_the_constant_factor(store):
    draft = Draft("cme/a.txt", ["fee fee report", "report", "licence licence licence licence", "audit"])
    await put(store, draft)
    (hit,) = await store.keyword_hits(["fee"], 5, ALL)
    idf = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    average_length = (3 + 1 + 4 + 1) / 4
    assert hit.score == pytest.approx(idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / average_length)), rel=1e-3)


async def test_repeated_stem_of_a_question_counts_twice(store):
    await put(store, Draft("cme/a.txt", ["fee report", "audit"]))
    (once,) = await store.keyword_hits(["fee"], 5, ALL)
    (twice,) = await store.keyword_hits(["fee", "fee"], 5, ALL)
    assert twice.score == pytest.approx(2 * once.score)


async def test_heading_chain_and_table_header_are_searched(store):
    draft = Draft(
        "cme/a.txt", ["text"], headings=("Part I", "Redistribution"), table_header="Product | Price"
    )
    await put(store, draft)
    for word in ("redistribution", "price"):
        assert [hit.chunk_id for hit in await store.keyword_hits(stems_of(word), 5, ALL)] == draft.ids


async def test_keyword_hits_are_those_of_the_best_scores_and_ties_go_by_id(store):
    drafts = [Draft(f"cme/{number:02}.txt", ["equal fee text"] * 3) for number in (3, 1, 2)]
    for draft in drafts:
        await put(store, draft)
    hits = await store.keyword_hits(["fee"], 4, ALL)
    assert [hit.chunk_id for hit in hits] == sorted(chunk_id for draft in drafts for chunk_id in draft.ids)[
        :4
    ]


async def test_similarity_is_the_cosine_of_the_best_window(store):
    draft = Draft("cme/a.txt", ["one\ntwo\nthree", "four\nfive"])
    await put(store, draft)
    vector = vector_of("three") + 0.2 * vector_of("four")
    vector /= np.linalg.norm(vector)
    hits = await store.vector_hits(vector, 5, ALL)
    best = [max(vector @ window for window in chunk.vectors) for chunk in draft.chunks]
    assert [hit.chunk_id for hit in hits] == draft.ids
    assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-5)


async def test_vector_ties_go_by_id(store):
    drafts = [Draft(f"cme/{number}.txt", ["the same", "the same"]) for number in (2, 1, 3)]
    for draft in drafts:
        await put(store, draft)
    hits = await store.vector_hits(vector_of("the same"), 3, ALL)
    assert [hit.chunk_id for hit in hits] == ["cme/1.txt#g1#0", "cme/1.txt#g1#1", "cme/2.txt#g1#0"]


@pytest.mark.parametrize("k", [0, -1])
async def test_no_hits_are_returned_when_none_are_wanted(store, k):
    await put(store, Draft("cme/a.txt", ["fee"]))
    assert await store.keyword_hits(["fee"], k, ALL) == ()
    assert await store.vector_hits(vector_of("fee"), k, ALL) == ()


async def test_scope_of_one_document_among_80_is_exact(store):
    drafts = [
        Draft(
            f"cme/{number:03}.txt", [f"fee fee fee clause {number}", f"fee {number}\nsecond line", "nothing"]
        )
        for number in range(80)
    ]
    # All at once a call would wait longer than a call may take, where many tests run.
    for start in range(0, len(drafts), 20):
        await asyncio.gather(*(put(store, draft) for draft in drafts[start : start + 20]))
    vector = vector_of("fee fee fee clause 42")
    everywhere = {hit.chunk_id: hit.score for hit in await store.keyword_hits(["fee"], 600, ALL)}
    scope = Scope(sources=("cme", "opra"), document_ids=(drafts[57].version.document_id,))
    keyword = await store.keyword_hits(["fee"], 10, scope)
    assert [(hit.chunk_id, hit.score) for hit in keyword] == [
        (chunk_id, pytest.approx(everywhere[chunk_id])) for chunk_id in drafts[57].ids[:2]
    ]
    by_cosine = {each.chunk.chunk_id: (each.vectors @ vector).max() for each in drafts[57].chunks}
    similar = await store.vector_hits(vector, 10, scope)
    assert {hit.chunk_id: hit.score for hit in similar} == pytest.approx(by_cosine, abs=1e-5)


WITHIN = {
    Scope(sources=("opra",)): {"opra/a.txt", "opra/b.txt"},
    Scope(sources=("opra", "cme")): {"opra/a.txt", "opra/b.txt", "cme/a.txt"},
    Scope(sources=("nobody",)): set(),
    Scope(document_ids=(DocumentId("cme/a.txt"), DocumentId("opra/b.txt"))): {"cme/a.txt", "opra/b.txt"},
    Scope(sources=("cme",), document_ids=(DocumentId("opra/b.txt"),)): set(),
}


async def test_hits_stay_within_the_scope(store):
    for document_id in ("cme/a.txt", "opra/a.txt", "opra/b.txt"):
        await put(store, Draft(document_id, [f"fee of {document_id}"]))
    for found in (
        {scope: await store.keyword_hits(["fee"], 10, scope) for scope in WITHIN},
        {scope: await store.vector_hits(vector_of("anything"), 10, scope) for scope in WITHIN},
    ):
        assert {
            scope: {hit.chunk_id.split("#")[0] for hit in hits} for scope, hits in found.items()
        } == WITHIN


async def test_legs_together_find_what_each_finds_alone(store):
    drafts = [
        Draft("cme/a.txt", ["fee due\nmonthly", "audit", "fee fee"], headings=("Notice",)),
        Draft("opra/b.txt", ["notice of fee", "term"]),
    ]
    for draft in drafts:
        await put(store, draft)
    vector = vector_of("monthly")
    found = await store.search(Legs(vector, 2, (["fee"], [], ["notic"]), 2), ALL)
    assert found.vector == await store.vector_hits(vector, 2, ALL)
    assert list(found.keywords) == [
        await store.keyword_hits(wanted, 2, ALL) for wanted in (["fee"], [], ["notic"])
    ]
    hits = [hit.chunk_id for leg in (found.vector, *found.keywords) for hit in leg]
    assert [passage.chunk_id for passage in found.passages] == list(dict.fromkeys(hits))


async def test_passages_hold_what_was_put_with_their_chunks(store):
    draft = Draft("cme/a.txt", ["Fees are due\nmonthly", "audit"])
    await put(store, draft)
    found = await store.search(Legs(vector_of("audit"), 2, (), 2), ALL)
    passages = {passage.chunk_id: passage for passage in found.passages}
    assert set(passages) == set(draft.ids)
    for put_in in draft.chunks:
        passage = passages[put_in.chunk.chunk_id]
        assert passage.document_id == "cme/a.txt"
        assert (passage.windows, passage.stems) == (put_in.windows, put_in.stems)
        assert passage.vectors.tolist() == put_in.vectors.tolist()


async def test_legs_that_want_nothing_find_nothing(store):
    await put(store, Draft("cme/a.txt", ["fee"]))
    assert await store.search(Legs(vector_of("fee"), 0, (["fee"],), 0), ALL) == LegHits((), [()], [])


async def test_legs_stay_within_the_scope(store):
    for document_id in ("cme/a.txt", "opra/a.txt"):
        await put(store, Draft(document_id, ["fee"]))
    found = await store.search(Legs(vector_of("fee"), 5, (["fee"],), 5), Scope(sources=("opra",)))
    assert [passage.document_id for passage in found.passages] == ["opra/a.txt"]
