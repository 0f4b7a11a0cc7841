"""What only the embedded store does: its files, its lock, its recovery."""

import asyncio
import os
import shutil
import sqlite3
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chassis.errors import InvalidInput
from services.retrieval.corpus import Project, ProjectId, Scope
from services.retrieval.store.embedded.store import open_store
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import EmbeddingModelMismatch, StoreUnavailable
from tests.contract.store.drafts import DIMENSION, Draft, put, vector_of

ALL = Scope()
MOMENT = datetime(2024, 2, 29, 12, tzinfo=UTC)
FEES = Draft("cme/fees.txt", ["Fees are due.", "Late fees accrue."], terms=["Fee"])
NEWER = Draft("cme/fees.txt", ["Tariffs are waived."], generation="g2")


@asynccontextmanager
async def opened(folder, model="model", dimension=DIMENSION):
    store = await open_store(folder, model, dimension)
    yield store
    await store.close()


async def keyword(store, stem):
    return {hit.chunk_id for hit in await store.keyword_hits([stem], 50, ALL)}


async def similar(store, text):
    return {hit.chunk_id for hit in await store.vector_hits(vector_of(text), 50, ALL)}


async def test_reopened_store_shows_what_was_committed_and_keeps_what_was_staged(tmp_path):
    async with opened(tmp_path) as store:
        committed = await put(store, FEES)
        await store.put_chunks(NEWER.version, NEWER.chunks)
    async with opened(tmp_path) as store:
        assert await store.revision() == committed.revision
        assert await store.document(FEES.version.document_id) == committed.document
        assert await keyword(store, "fee") == await similar(store, "x") == set(FEES.ids)
        assert set(await store.staged(NEWER.version)) == set(NEWER.ids)
        assert (await store.commit(NEWER.document)).replaced


async def test_time_of_the_flip_is_the_given_clocks(tmp_path):
    store = await open_store(tmp_path, "model", DIMENSION, lambda: MOMENT)
    assert (await put(store, FEES)).document.indexed_at == MOMENT
    assert {chunk.indexed_at for chunk in (await store.chunks(FEES.ids)).values()} == {MOMENT}
    await store.close()


async def test_second_opening_is_refused_until_the_first_is_closed(tmp_path):
    async with opened(tmp_path):
        with pytest.raises(StoreUnavailable, match="another process"):
            await open_store(tmp_path, "model", DIMENSION)
    async with opened(tmp_path):
        pass


@pytest.mark.parametrize(("model", "dimension"), [("other", DIMENSION), ("model", 384)])
async def test_index_of_another_model_is_refused_with_the_way_out(tmp_path, model, dimension):
    async with opened(tmp_path):
        pass
    with pytest.raises(
        EmbeddingModelMismatch, match=r"made with model \(96 dimensions\).*clausegate reindex"
    ):
        await open_store(tmp_path, model, dimension)
    async with opened(tmp_path):
        pass


LAYOUT_3 = Path(__file__).parents[2] / "data" / "store-layout-3.sql"
"""A database as the layout before projects and articles had it: `FEES` live, `NEWER` staged."""


async def test_index_without_what_was_added_since_is_opened_and_gets_it(tmp_path):
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.executescript(LAYOUT_3.read_text())
    connection.close()
    project = Project(ProjectId("pricing"), "Pricing", ("cme",), MOMENT, MOMENT)
    async with opened(tmp_path) as store:
        assert await keyword(store, "fee") == await similar(store, "x") == set(FEES.ids)
        assert await store.staged(NEWER.version) == {}
        assert (await store.staged(FEES.version)) == dict.fromkeys(FEES.ids, "")
        old = await store.document(FEES.version.document_id)
        assert (old.hidden_characters, old.scanned_pages) == (0, ())
        assert (old.reference_marks, old.running_lines, old.profile) == (0, 0, None)
        chunk = (await store.chunks(FEES.ids))[FEES.ids[0]]
        assert (chunk.context_before, chunk.context_after, chunk.doubts) == ((), (), ())
        assert await store.records.create_project(project)
    async with opened(tmp_path) as store:
        assert await store.records.project(project.project_id) == project
        assert (await put(store, NEWER)).replaced


async def test_index_of_another_model_keeps_its_layout(tmp_path):
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.executescript(LAYOUT_3.read_text())
    with pytest.raises(EmbeddingModelMismatch):
        await open_store(tmp_path, "other", DIMENSION)
    assert connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == (3,)
    connection.close()


async def test_an_index_that_is_refused_is_left_with_no_file_open(tmp_path):
    async with opened(tmp_path):
        pass
    with pytest.raises(EmbeddingModelMismatch) as refused:
        await open_store(tmp_path, "other", DIMENSION)

    assert refused.traceback
    assert [name for name in opened_files() if name.is_relative_to(tmp_path)] == []


async def test_a_file_that_is_no_database_is_left_with_no_file_open(tmp_path):
    (tmp_path / "store.sqlite").write_bytes(b"no database" * 1_000)
    with pytest.raises(StoreUnavailable) as refused:
        await open_store(tmp_path, "model", DIMENSION)

    assert refused.traceback
    assert [name for name in opened_files() if name.is_relative_to(tmp_path)] == []


def opened_files():
    """What this process has open, also by what nobody but a traceback holds."""
    return [Path(os.readlink(each)) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


@pytest.mark.parametrize("layout", [0, 2, 10, 99])
async def test_index_of_any_other_layout_is_refused(tmp_path, layout):
    async with opened(tmp_path):
        pass
    edit(tmp_path, f"UPDATE meta SET value = {layout} WHERE key = 'schema'")
    with pytest.raises(StoreUnavailable, match=f"layout {layout}, this release reads 9"):
        await open_store(tmp_path, "model", DIMENSION)


def edit(folder, statement):
    with sqlite3.connect(folder / "store.sqlite") as connection:
        connection.execute(statement)
    connection.close()


def keyword_folder(folder):
    (found,) = folder.glob("keywords-*")
    return found


async def test_lost_keyword_index_is_made_again(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    shutil.rmtree(keyword_folder(tmp_path))
    async with opened(tmp_path) as store:
        assert await keyword(store, "fee") == set(FEES.ids)


async def test_broken_keyword_index_is_made_again(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    (keyword_folder(tmp_path) / "meta.json").write_text("{")
    async with opened(tmp_path) as store:
        assert await keyword(store, "fee") == set(FEES.ids)


@pytest.mark.parametrize("suffix", ["term", "pos"])
async def test_keyword_index_that_lacks_a_file_is_made_again(tmp_path, suffix):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    (file,) = keyword_folder(tmp_path).glob(f"*.{suffix}")
    file.unlink()
    async with opened(tmp_path) as store:
        assert await keyword(store, "fee") == set(FEES.ids)


async def test_keyword_index_that_was_cut_while_open_is_unavailable_and_then_made_again(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
        for file in keyword_folder(tmp_path).glob("*.term"):
            os.truncate(file, file.stat().st_size // 2)
        with pytest.raises(StoreUnavailable):
            await keyword(store, "fee")
    async with opened(tmp_path) as store:
        assert await keyword(store, "fee") == set(FEES.ids)


async def test_keyword_index_of_another_layout_is_thrown_away(tmp_path):
    (tmp_path / "keywords-0.0").mkdir()
    async with opened(tmp_path) as store:
        await put(store, FEES)
    assert keyword_folder(tmp_path).name != "keywords-0.0"


async def test_keyword_index_that_is_behind_the_database_catches_up(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    shutil.copytree(keyword_folder(tmp_path), tmp_path / "older")
    async with opened(tmp_path) as store:
        await put(store, NEWER)
    place = keyword_folder(tmp_path)
    shutil.rmtree(place)
    shutil.move(tmp_path / "older", place)
    async with opened(tmp_path) as store:
        assert await keyword(store, "tariff") == set(NEWER.ids)
        assert await keyword(store, "fee") == set()
        assert await store.count_term(["fee"], ALL) == 0


async def test_keyword_index_that_is_ahead_of_the_database_shows_nothing_early(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
        await store.put_chunks(NEWER.version, NEWER.chunks)
    shutil.copy(tmp_path / "store.sqlite", tmp_path / "before")
    async with opened(tmp_path) as store:
        await store.commit(NEWER.document)
    shutil.move(tmp_path / "before", tmp_path / "store.sqlite")
    async with opened(tmp_path) as store:
        assert await keyword(store, "tariff") == set()
        assert await keyword(store, "fee") == set(FEES.ids)
        await store.commit(NEWER.document)
        assert await keyword(store, "tariff") == await similar(store, "x") == set(NEWER.ids)


OTHER = Draft("cme/fees.txt", ["Royalties are due."], generation="g3")


async def test_keyword_index_of_a_state_that_was_left_again_does_not_tell_of_what_came_after(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, FEES)
    shutil.copy(tmp_path / "store.sqlite", tmp_path / "backup")
    async with opened(tmp_path) as store:
        left = await put(store, NEWER)
    shutil.move(tmp_path / "backup", tmp_path / "store.sqlite")
    async with opened(tmp_path) as store:
        assert (await put(store, OTHER)).revision != left.revision
        assert await keyword(store, "royalti") == set(OTHER.ids)
        assert await keyword(store, "tariff") == set()
        assert await store.count_term(["royalti"], ALL) == 1


async def test_keyword_index_of_another_database_is_not_taken_for_that_of_this_one(tmp_path):
    for name, draft in (("here", NEWER), ("there", OTHER)):
        async with opened(tmp_path / name) as store:
            await put(store, draft)
    shutil.copy(tmp_path / "there" / "store.sqlite", tmp_path / "here" / "store.sqlite")
    async with opened(tmp_path / "here") as store:
        assert await keyword(store, "royalti") == set(OTHER.ids)
        assert await keyword(store, "tariff") == set()
        assert await store.count_term(["royalti"], ALL) == 1


async def test_many_removed_chunks_leave_the_keyword_index_without_a_commit(tmp_path):
    async with opened(tmp_path) as store:
        large = Draft("cme/large.txt", ["fee"] * 1001)
        await put(store, large)
        await put(store, Draft("cme/other.txt", ["fee"]))
        await store.remove(large.version.document_id)
        (hit,) = await store.keyword_hits(["fee"], 5, ALL)
        assert hit.chunk_id == "cme/other.txt#g1#0"
        assert await store.count_term(["fee"], ALL) == 1


async def test_commits_that_wait_share_one_step(tmp_path):
    drafts = [Draft(f"cme/{number}.txt", ["fee"]) for number in range(20)]
    async with opened(tmp_path) as store:
        await asyncio.gather(*(store.put_chunks(draft.version, draft.chunks) for draft in drafts))
        committed = await asyncio.gather(*(store.commit(draft.document) for draft in drafts))
        assert {each.document.version for each in committed} == {draft.version for draft in drafts}
        assert len({each.revision for each in committed}) < len(drafts)
        assert committed[-1].revision == await store.revision()


async def test_incomplete_version_fails_alone_among_those_that_wait(tmp_path):
    good, bad = Draft("cme/good.txt", ["fee"]), Draft("cme/bad.txt", ["fee", "fee"])
    async with opened(tmp_path) as store:
        await store.put_chunks(good.version, good.chunks)
        await store.put_chunks(bad.version, bad.chunks[:1])
        results = await asyncio.gather(
            *(store.commit(draft.document) for draft in (bad, good, bad)), return_exceptions=True
        )
        assert [type(result).__name__ for result in results] == [
            "IncompleteVersion",
            "Committed",
            "IncompleteVersion",
        ]
        assert await keyword(store, "fee") == set(good.ids)


async def test_readers_see_exactly_one_generation_while_it_is_replaced(tmp_path):
    async with opened(tmp_path) as store:
        await put(store, Draft("cme/a.txt", ["fee"] * 3, generation="g0"))

        async def replacing():
            for number in range(1, 6):
                await put(store, Draft("cme/a.txt", ["fee"] * 3, generation=f"g{number}"))

        writer = asyncio.create_task(replacing())
        seen = set()
        while not writer.done():
            hits = (
                [*await store.keyword_hits(["fee"], 10, ALL)],
                [*await store.vector_hits(vector_of("x"), 10, ALL)],
            )
            for found in hits:
                assert len(found) == 3
                (generation,) = {hit.chunk_id.split("#")[1] for hit in found}
                seen.add(generation)
        await writer
        assert len(seen) > 1


async def test_closed_store_is_unavailable_and_closes_twice(tmp_path):
    async with opened(tmp_path) as store:
        pass
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.counts()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.commit(FEES.document)


async def test_failing_disk_is_unavailable_and_nothing_of_sqlite_reaches_the_caller(tmp_path):
    async with opened(tmp_path) as store:
        edit(tmp_path, "DROP TABLE definitions")
        with pytest.raises(StoreUnavailable) as caught:
            await store.definitions(["fee"], ALL)
        assert "definitions" not in str(caught.value)


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\0" + bytes(4080)])
async def test_database_that_is_none_is_unavailable_and_not_touched(tmp_path, content):
    file = tmp_path / "store.sqlite"
    file.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"cannot be opened: file is not a database\. .*back-up"):
        await open_store(tmp_path, "model", DIMENSION)
    assert file.read_bytes() == content


async def test_folder_that_cannot_be_made_is_unavailable(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="cannot be opened: Not a directory"):
        await open_store(tmp_path / "file" / "tenant", "model", DIMENSION)


@pytest.mark.parametrize("instead", [None, "other"])
async def test_nothing_is_acknowledged_once_the_database_was_removed_or_replaced(tmp_path, instead):
    async with opened(tmp_path / "other") as other:
        await put(other, OTHER)
    async with opened(tmp_path) as store:
        await put(store, FEES)
        (tmp_path / "store.sqlite").unlink()
        if instead:
            shutil.copy(tmp_path / instead / "store.sqlite", tmp_path / "store.sqlite")
        with pytest.raises(StoreUnavailable):
            await put(store, NEWER)
        assert await keyword(store, "fee") == set(FEES.ids)
        assert await keyword(store, "royalti") == set()
    assert (tmp_path / "store.sqlite").exists() == bool(instead)


async def test_tenants_see_only_their_own(tmp_path):
    stores = EmbeddedStores(tmp_path, "model", DIMENSION)
    one, other = await stores.for_tenant("one"), await stores.for_tenant("other")
    await put(one, FEES)
    assert await keyword(other, "fee") == await similar(other, "x") == set()
    assert await other.chunks(FEES.ids) == {}
    assert await stores.for_tenant("one") is one
    await stores.close()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\x00", "ä", "Acme", "x" * 65])
async def test_name_that_could_leave_the_folder_or_meet_another_is_no_tenant(tmp_path, name):
    with pytest.raises(InvalidInput):
        await EmbeddedStores(tmp_path, "model", DIMENSION).for_tenant(name)
