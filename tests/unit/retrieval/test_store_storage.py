"""Files of the embedded store: who may read them, and what a full disk does."""

import sqlite3
import stat
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from chassis.errors import StorageUnavailable
from services.retrieval.corpus import Project, ProjectId
from services.retrieval.store.embedded.stores import EmbeddedStores
from tests.contract.store.drafts import DIMENSION, Draft, put

FEES = Draft("cme/fees.txt", ["Fees are due monthly."])


@asynccontextmanager
async def opened(folder):
    stores = EmbeddedStores(folder, "model", DIMENSION)
    try:
        yield await stores.for_tenant("default")
    finally:
        await stores.close()


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


async def test_nobody_else_may_read_an_index(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
        files = [file for file in (tmp_path / "default").iterdir() if file.name.startswith("store.sqlite")]

        assert {mode_of(file) for file in files} == {0o600}
        assert mode_of(tmp_path / "default") == 0o700


async def test_an_index_that_others_could_read_is_closed_to_them_when_it_is_opened(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    (tmp_path / "default").chmod(0o755)
    (tmp_path / "default" / "store.sqlite").chmod(0o644)

    async with opened(tmp_path):
        assert mode_of(tmp_path / "default") == 0o700
        assert mode_of(tmp_path / "default" / "store.sqlite") == 0o600


def fill_up(store):
    """Let the database grow no more, as on a full disk."""
    with store._database.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")


NOW = datetime(2026, 11, 22, tzinfo=UTC)
PROJECT = Project(ProjectId("review"), "x" * 100_000, ("cme",), NOW, NOW)


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.records.create_project(PROJECT),
        lambda store: store.put_chunks(*big_chunks()),
    ],
    ids=["project", "chunks"],
)
async def test_a_full_disk_is_told_as_such(tmp_path, write):
    async with opened(tmp_path) as store:
        await put(store, FEES)
        fill_up(store)

        with pytest.raises(StorageUnavailable) as told:
            await write(store)

        assert told.value.reason == "STORAGE_UNAVAILABLE"
        assert told.value.retry_after_seconds
        assert isinstance(told.value.__cause__, sqlite3.Error)


def big_chunks():
    draft = Draft("cme/long.txt", [f"clause {number} " * 200 for number in range(60)])
    return draft.version, draft.chunks
