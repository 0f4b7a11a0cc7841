"""The overview of a store that fails."""

from __future__ import annotations

import asyncio
import gc
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.retrieval.overview import Overviews
from services.retrieval.store.embedded.store import open_store
from services.retrieval.store.port import StoreUnavailable
from tests.contract.store.drafts import DIMENSION


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
