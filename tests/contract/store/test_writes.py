from dataclasses import replace

import pytest

from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.store.port import IncompleteVersion, IndexCounts, VersionIsLive
from tests.contract.store.drafts import Draft, put, recently, vector_of

ALL = Scope()
FEES = Draft("cme/fees.txt", ["Fees are due monthly.", "Late fees accrue\ninterest daily."], terms=["Fee"])


async def found(store, text):
    """Ids of the chunks that either leg finds."""
    hits = [
        *await store.keyword_hits(stems_of(text), 50, ALL),
        *await store.vector_hits(vector_of(text), 50, ALL),
    ]
    return {hit.chunk_id for hit in hits}


async def test_empty_store_finds_nothing_and_covers_nothing(store):
    assert await found(store, "fees") == set()
    assert await store.documents(ALL, None, 10) == ()
    assert await store.sources() == ()
    assert await store.counts() == IndexCounts(0, 0, 0, 0)


async def test_staged_version_is_invisible(store):
    await store.put_chunks(FEES.version, FEES.chunks)
    await store.put_definitions(FEES.version, FEES.definitions)
    assert await found(store, "Fees are due monthly.") == set()
    assert await store.chunks(FEES.ids) == {}
    assert await store.document(FEES.version.document_id) is None
    assert await store.defined_terms(ALL) == ()
    assert set(await store.staged(FEES.version)) == set(FEES.ids)


async def test_commit_shows_the_whole_version(store):
    before = await store.revision()
    committed = await put(store, FEES)
    assert not committed.replaced
    assert recently(committed.document.indexed_at)
    assert committed.revision == await store.revision() != before
    assert await store.document(FEES.version.document_id) == committed.document
    assert await found(store, "Fees are due monthly.") == set(FEES.ids)
    assert await store.counts() == IndexCounts(documents=1, chunks=2, definitions=1, windows=3)


async def test_new_generation_takes_the_place_of_the_old_one(store):
    await put(store, FEES)
    newer = Draft("cme/fees.txt", ["Charges are waived."], generation="g2")
    committed = await put(store, newer)
    assert committed.replaced
    assert await found(store, "Fees are due monthly.") <= set(newer.ids)
    assert await store.chunks([*FEES.ids, *newer.ids]) == await store.chunks(newer.ids) != {}
    assert set(await store.staged(FEES.version)) == set()
    assert await store.defined_terms(ALL) == ()
    assert await store.counts() == IndexCounts(1, 1, 0, 1)


async def test_old_generation_answers_until_the_new_one_is_committed(store):
    await put(store, FEES)
    newer = Draft("cme/fees.txt", ["Charges are waived."], generation="g2")
    await store.put_chunks(newer.version, newer.chunks)
    assert await found(store, "Charges are waived.") <= set(FEES.ids)
    assert set(await store.chunks([*FEES.ids, *newer.ids])) == set(FEES.ids)


async def test_same_batch_twice_changes_nothing(store):
    await store.put_chunks(FEES.version, FEES.chunks[:1])
    await store.put_chunks(FEES.version, FEES.chunks)
    await store.put_definitions(FEES.version, FEES.definitions)
    await put(store, FEES)
    assert await store.counts() == IndexCounts(1, 2, 1, 3)


async def test_repeating_a_live_version_leaves_it_visible(store):
    await put(store, FEES)
    again = await put(store, FEES)
    assert not again.replaced
    assert await found(store, "Fees are due monthly.") == set(FEES.ids)
    assert await store.counts() == IndexCounts(1, 2, 1, 3)


async def test_live_version_takes_no_further_chunks_or_definitions(store):
    short = Draft("cme/fees.txt", FEES.texts[:1])
    await put(store, short)
    with pytest.raises(VersionIsLive):
        await store.put_chunks(FEES.version, FEES.chunks)
    with pytest.raises(VersionIsLive):
        await store.put_definitions(FEES.version, FEES.definitions)
    assert await store.counts() == IndexCounts(1, 1, 0, 1)


@pytest.mark.parametrize("live", [False, True])
async def test_a_chunk_that_is_put_again_takes_the_place_of_the_one_that_is_stored(store, live):
    await store.put_chunks(FEES.version, FEES.chunks)
    await store.put_definitions(FEES.version, FEES.definitions)
    if live:
        await store.commit(FEES.document)
    first = FEES.chunks[0]
    other = replace(first, chunk=replace(first.chunk, section="Fees and charges", digest="d"))
    meaning = replace(FEES.definitions[0], section="Meaning")
    await store.put_chunks(FEES.version, [other])
    await store.put_definitions(FEES.version, [meaning])
    await store.commit(FEES.document)
    found = await store.chunks(FEES.ids)
    assert [found[chunk_id].section for chunk_id in FEES.ids] == ["Fees and charges", "Section 2 of 2"]
    assert (await store.staged(FEES.version))[FEES.ids[0]] == "d"
    assert [each.section for each in await store.definitions(["fee"], ALL)] == ["Meaning"]
    assert await store.counts() == IndexCounts(1, 2, 1, 3)


@pytest.mark.parametrize("stored", [0, 1])
async def test_incomplete_version_does_not_become_live(store, stored):
    older = Draft("cme/fees.txt", ["Charges are waived."], generation="g0")
    await put(store, older)
    before = await store.revision()
    await store.put_chunks(FEES.version, FEES.chunks[:stored])
    await store.put_definitions(FEES.version, FEES.definitions)
    with pytest.raises(IncompleteVersion):
        await store.commit(FEES.document)
    assert await found(store, "Charges are waived.") == set(older.ids)
    assert await store.revision() == before


async def test_version_with_missing_definitions_does_not_become_live(store):
    await store.put_chunks(FEES.version, FEES.chunks)
    with pytest.raises(IncompleteVersion):
        await store.commit(FEES.document)


async def test_version_that_was_never_put_does_not_become_live_and_collects_nothing(store):
    await store.put_chunks(FEES.version, FEES.chunks)
    with pytest.raises(IncompleteVersion):
        await store.commit(Draft("cme/fees.txt", ["x"], generation="g9").document)
    assert set(await store.staged(FEES.version)) == set(FEES.ids)


async def test_third_generation_is_collected_by_the_first_batch_of_another(store):
    await put(store, Draft("cme/fees.txt", ["Charges are waived."], generation="g0"))
    other = Draft("cme/fees.txt", ["Tariffs rise."], generation="g2")
    await store.put_chunks(FEES.version, FEES.chunks)
    await store.put_chunks(other.version, other.chunks)
    assert set(await store.staged(FEES.version)) == set()
    with pytest.raises(IncompleteVersion):
        await store.commit(FEES.document)
    assert (await store.commit(other.document)).replaced


async def test_removed_document_is_gone_with_all_its_generations(store):
    newer = Draft("cme/fees.txt", ["Charges are waived."], generation="g2")
    await put(store, FEES)
    await put(store, Draft("cme/other.txt", ["Fees are due monthly."]))
    await store.put_chunks(newer.version, newer.chunks)
    revision = await store.remove(FEES.version.document_id)
    assert revision == await store.revision()
    assert await found(store, "Fees are due monthly.") == {"cme/other.txt#g1#0"}
    assert set(await store.staged(newer.version)) == set()
    assert await store.counts() == IndexCounts(1, 1, 0, 1)


async def test_removing_what_is_not_live_returns_none_and_keeps_the_revision(store):
    before = await store.revision()
    await store.put_chunks(FEES.version, FEES.chunks)
    assert await store.remove(FEES.version.document_id) is None
    assert await store.remove(DocumentId("cme/never.txt")) is None
    assert await store.revision() == before


async def test_removed_version_can_be_put_again(store):
    await put(store, FEES)
    await store.remove(FEES.version.document_id)
    await put(store, FEES)
    assert await found(store, "Fees are due monthly.") == set(FEES.ids)


async def test_document_without_chunks_can_be_live(store):
    await store.commit(Draft("cme/empty.txt").document)
    assert await store.counts() == IndexCounts(1, 0, 0, 0)
    assert await found(store, "fees") == set()
