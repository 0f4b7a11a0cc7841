"""The overview of an index: of many documents, of some that change, and of a store that fails."""

from __future__ import annotations

import asyncio
import gc
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.retrieval.background import SAMPLED_DOCUMENTS
from services.retrieval.overview import HEADS_AT_ONCE, Overviews
from services.retrieval.store.embedded.store import open_store
from services.retrieval.store.port import StoreUnavailable
from tests.contract.store.drafts import DIMENSION, Draft, open_embedded, put


@pytest.fixture
async def failing(tmp_path):
    """The overview of a store that is closed."""
    store = await open_store(tmp_path, "model", DIMENSION)
    await store.close()
    with ThreadPoolExecutor(1) as executor:
        yield Overviews(store, executor)


async def test_a_refresh_that_fails_is_logged_and_leaves_no_error_behind(failing, caplog):
    caplog.set_level(logging.WARNING)
    await asyncio.wait([failing.refresh()])
    await failing.close()
    del failing
    gc.collect()

    assert [record.message for record in caplog.records] == ["the overview was not refreshed"]


async def test_a_failed_refresh_is_told_to_those_who_wait_for_it(failing):
    with pytest.raises(StoreUnavailable):
        await failing.at("0")


async def test_a_refresh_that_failed_is_begun_anew(failing):
    failed = failing.refresh()
    await asyncio.wait([failed])

    assert failing.refresh() is not failed
    await failing.close()


async def test_an_overview_holds_every_document_by_id_and_follows_those_that_change():
    drafts = [Draft(f"cme/{number:03}.txt", ["Fees"]) for number in range(HEADS_AT_ONCE + 5)]
    async with open_embedded() as store:
        with ThreadPoolExecutor(1) as executor:
            overviews = Overviews(store, executor)
            await asyncio.gather(*(put(store, draft) for draft in reversed(drafts)))
            first = await overviews.at(await store.revision())
            await put(store, Draft("cme/000.txt", ["Tariffs"], generation="g2"))
            await store.remove(drafts[1].version.document_id)
            second = await overviews.at(await store.revision())
            await overviews.close()

    assert [head.document_id for head in first.heads.heads] == [draft.document_id for draft in drafts]
    assert len(first.sample.documents) == SAMPLED_DOCUMENTS
    kept = {head.document_id: head for head in second.heads.heads}
    assert list(kept) == [draft.document_id for draft in drafts if draft is not drafts[1]]
    assert "tariff" in kept[drafts[0].version.document_id].stems
    assert kept[drafts[2].version.document_id] is first.heads.heads[2]


async def test_a_document_of_small_chunks_is_known_by_what_stands_in_any_of_the_first():
    texts = ["Contents", "Parties", "Recitals", "Background", "Purpose", "Tariffs"]
    async with open_embedded() as store:
        with ThreadPoolExecutor(1) as executor:
            overviews = Overviews(store, executor)
            await put(store, Draft("cme/a.txt", texts))
            overview = await overviews.at(await store.revision())
            await overviews.close()

    assert "tariff" in overview.heads.heads[0].stems
