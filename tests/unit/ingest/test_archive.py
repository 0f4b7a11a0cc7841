from __future__ import annotations

import hashlib
import sqlite3
import stat
from contextlib import closing

import pytest

from chassis.errors import StorageUnavailable
from services.ingest.archive import Archive, OriginalDamaged
from services.ingest.errors import DocumentNotFound


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "archive")


@pytest.fixture
def keep(archive, tmp_path):
    async def keep_content(document_id: str, content: bytes, tenant: str = "default") -> str:
        file = tmp_path / f"upload-{len(content)}-{len(list(tmp_path.iterdir()))}"
        file.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        await archive.keep(tenant, document_id, sha256, file)
        return sha256

    return keep_content


async def read(archive, sha256, tenant="default"):
    return b"".join([data async for data in archive.read(tenant, sha256)])


async def test_what_is_kept_is_held_and_read_back(archive, keep):
    sha256 = await keep("cme/a.txt", b"content")

    assert await archive.holds("default", "cme/a.txt", sha256)
    assert await read(archive, sha256) == b"content"


async def test_keeping_twice_changes_nothing(archive, keep, tmp_path):
    sha256 = await keep("cme/a.txt", b"content")
    await keep("cme/a.txt", b"content")

    files = [
        file.name for file in (tmp_path / "archive" / "default" / "originals").rglob("*") if file.is_file()
    ]
    assert files == [sha256]


async def test_the_new_original_stands_beside_the_old_one_until_it_is_released(archive, keep):
    old, new = await keep("cme/a.txt", b"old"), await keep("cme/a.txt", b"new")
    assert await read(archive, old) == b"old"

    await archive.release("default", "cme/a.txt", but=new)

    assert not await archive.holds("default", "cme/a.txt", old)
    assert await read(archive, new) == b"new"
    with pytest.raises(DocumentNotFound):
        await read(archive, old)


async def test_an_original_is_deleted_with_its_last_document(archive, keep):
    sha256 = await keep("cme/a.txt", b"same")
    await keep("cme/b.txt", b"same")

    await archive.release("default", "cme/a.txt")
    assert await read(archive, sha256) == b"same"
    await archive.release("default", "cme/b.txt")

    with pytest.raises(DocumentNotFound):
        await read(archive, sha256)


async def test_another_document_does_not_hold_what_it_never_kept(archive, keep):
    sha256 = await keep("cme/a.txt", b"content")

    assert not await archive.holds("default", "cme/b.txt", sha256)


async def test_tenants_do_not_see_each_other(archive, keep):
    sha256 = await keep("cme/a.txt", b"content", tenant="one")

    assert not await archive.holds("two", "cme/a.txt", sha256)
    with pytest.raises(DocumentNotFound):
        await read(archive, sha256, tenant="two")


async def test_a_reader_gets_to_the_end_of_what_is_released_meanwhile(archive, keep):
    sha256 = await keep("cme/a.txt", b"x" * 3_000_000)
    pieces = archive.read("default", sha256)
    first = await anext(pieces)

    await archive.release("default", "cme/a.txt")

    assert len(first) + sum([len(piece) async for piece in pieces]) == 3_000_000


def blob_of(tmp_path, sha256):
    return tmp_path / "archive" / "default" / "originals" / sha256[:2] / sha256


@pytest.mark.parametrize("damage", [b"altered", b"", b"content and more"])
async def test_a_damaged_original_gives_no_byte_and_the_same_file_mends_it(archive, keep, tmp_path, damage):
    sha256 = await keep("cme/a.txt", b"content")
    blob_of(tmp_path, sha256).write_bytes(damage)

    assert not await archive.holds("default", "cme/a.txt", sha256)
    with pytest.raises(OriginalDamaged):
        await anext(archive.read("default", sha256))

    await keep("cme/a.txt", b"content")
    assert await archive.holds("default", "cme/a.txt", sha256)
    assert await read(archive, sha256) == b"content"


async def test_a_document_is_expected_of_the_index_once_it_was_shown_and_until_it_is_hidden(archive, keep):
    sha256 = await keep("cme/a.txt", b"content")
    assert await archive.count_visible("default") == 0

    await archive.release("default", "cme/a.txt", but=sha256)
    assert await archive.originals("default") == {"cme/a.txt": sha256}

    await archive.set_visible("default", "cme/a.txt", visible=False)
    assert await archive.count_visible("default") == 0


def forget_what_is_visible(tmp_path):
    """Leave the list of originals as an earlier release did."""
    with closing(sqlite3.connect(tmp_path / "archive" / "default" / "references.sqlite")) as list_, list_:
        list_.execute("ALTER TABLE reference DROP COLUMN visible")


@pytest.mark.parametrize(
    ("shown", "visible"), [(["cme/a.txt"], ["cme/a.txt"]), ([], ["cme/a.txt", "cme/b.txt"])]
)
async def test_what_an_earlier_release_archived_is_learnt_from_the_index(
    archive, keep, tmp_path, shown, visible
):
    sha256 = await keep("cme/a.txt", b"content")
    await keep("cme/b.txt", b"never shown")
    forget_what_is_visible(tmp_path)
    updated = Archive(tmp_path / "archive")

    assert not await updated.knows_what_is_visible("default")
    await updated.learn_what_is_visible("default", dict.fromkeys(shown, sha256))

    assert list(await updated.originals("default")) == visible
    assert await updated.knows_what_is_visible("default")


async def test_tenants_with_an_archive_are_told(archive, keep, tmp_path):
    await keep("cme/a.txt", b"content", tenant="one")
    await keep("cme/a.txt", b"content", tenant="two")
    (tmp_path / "archive" / ".spool").mkdir()

    assert await archive.tenants() == ["one", "two"]


async def test_a_list_of_originals_that_is_no_database_is_named_with_the_way_out(archive, keep, tmp_path):
    await keep("cme/a.txt", b"content")
    (tmp_path / "archive" / "default" / "references.sqlite").write_bytes(b"x" * 4096)

    with pytest.raises(StorageUnavailable, match=r"references\.sqlite\. Restore it from a back-up"):
        await archive.originals("default")


async def test_nobody_else_may_read_what_is_archived(archive, keep, tmp_path):
    sha256 = await keep("cme/a.txt", b"content")
    tenant = tmp_path / "archive" / "default"

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tenant, *tenant.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert blob_of(tmp_path, sha256) in modes
