"""What is stored but not live, and documents beyond a page: neither hides or adds anything."""

import asyncio

import pytest

from corpus.documents import DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.store.port import IndexCounts, Legs
from tests.contract.store.drafts import Draft, put, vector_of

ALL = Scope()
LIVE = [Draft(f"cme/{number}.txt", [f"fee and much else, as number {number} says"]) for number in range(3)]
LOUD = ["fee fee fee\nmuch"] * 60


@pytest.fixture
async def flooded(store):
    """A store whose best matches for `fee` are all staged: of a new document, and of a new generation."""
    for draft in LIVE:
        await put(store, draft)
    for staged in (Draft("cme/new.txt", LOUD), Draft("cme/0.txt", LOUD, generation="g2")):
        await store.put_chunks(staged.version, staged.chunks)
    return store


async def test_staged_chunks_that_outscore_the_live_ones_push_none_out(flooded):
    ids = {draft.ids[0] for draft in LIVE}
    assert {hit.chunk_id for hit in await flooded.keyword_hits(["fee"], 3, ALL)} == ids
    assert {hit.chunk_id for hit in await flooded.vector_hits(vector_of("fee fee fee"), 3, ALL)} == ids


async def test_passages_of_live_chunks_come_with_them_among_staged_ones(flooded):
    found = await flooded.search(Legs(vector_of("fee fee fee"), 3, (["fee"], ["number"]), 3), ALL)
    assert {passage.chunk_id for passage in found.passages} == {draft.ids[0] for draft in LIVE}
    assert [len(leg) for leg in (found.vector, *found.keywords)] == [3, 3, 3]


async def test_terms_of_staged_chunks_do_not_count(flooded):
    assert await flooded.count_term(["fee"], ALL) == len(LIVE)
    assert await flooded.count_term(["fee"], Scope(document_ids=(DocumentId("cme/0.txt"),))) == 1
    assert await flooded.count_term(["fee"], Scope(document_ids=(DocumentId("cme/new.txt"),))) == 0


async def test_search_sees_one_whole_generation_while_a_document_is_replaced(store):
    versions = [
        Draft("cme/a.txt", [f"fee {number}", f"fee again {number}"], generation=f"g{number}")
        for number in range(10)
    ]
    await put(store, versions[0])

    async def replace_again_and_again():
        for version in versions[1:]:
            await put(store, version)

    writing = asyncio.create_task(replace_again_and_again())
    seen = set()
    while not writing.done():
        found = await store.search(Legs(vector_of("fee"), 2, (["fee"],), 2), ALL)
        seen |= {frozenset(hit.chunk_id for hit in leg) for leg in (found.vector, *found.keywords)}
        seen.add(frozenset(passage.chunk_id for passage in found.passages))
    await writing
    assert seen <= {frozenset(version.ids) for version in versions}


async def test_commit_may_be_repeated(store):
    draft = Draft("cme/a.txt", ["fee"], terms=["Fee"])
    first = await put(store, draft)
    again = await store.commit(draft.document)
    assert (again.replaced, again.document.version) == (False, first.document.version)
    assert again.revision == await store.revision() != first.revision
    assert await store.counts() == IndexCounts(1, 1, 1, 1)


async def test_document_beyond_a_page_is_read_replaced_and_removed_whole(store):
    await _check_long_document(store, 1_100)


@pytest.mark.soak
async def test_document_beyond_what_one_call_deletes_is_replaced_and_removed_whole(store):
    await _check_long_document(store, 10_100)


async def _check_long_document(store, size):
    long = Draft("cme/long.txt", [f"clause {number}" for number in range(size)])
    document_id = long.version.document_id
    for start in range(0, size, 200):
        await store.put_chunks(long.version, long.chunks[start : start + 200])
    assert set(await store.staged(long.version)) == set(long.ids)
    await store.commit(long.document)
    everything = await store.chunks_of(document_id, None, size + 1)
    assert [chunk.ordinal for chunk in everything] == list(range(size))
    assert len(await store.embedded_chunks(long.ids)) == size
    assert await store.count_term(["claus"], ALL) == size
    await put(store, Draft("cme/long.txt", ["one clause"], generation="g2"))
    assert set(await store.staged(long.version)) == set()
    assert await store.count_term(["claus"], ALL) == 1
    await store.remove(document_id)
    assert await store.counts() == IndexCounts(0, 0, 0, 0)


COVERED = {
    ALL: True,
    Scope(sources=("cme",)): True,
    Scope(sources=("opra", "cme")): True,
    Scope(sources=("opra",)): False,
    Scope(document_ids=(DocumentId("cme/a.txt"),)): True,
    Scope(document_ids=(DocumentId("cme/b.txt"),)): False,
    Scope(("opra",), (DocumentId("cme/a.txt"),)): False,
}


async def test_scope_is_covered_by_live_documents_alone(store):
    staged = Draft("opra/b.txt", ["fee"])
    await put(store, Draft("cme/a.txt", ["fee"]))
    await store.put_chunks(staged.version, staged.chunks)
    assert {scope: await store.covers(scope) for scope in COVERED} == COVERED
