from __future__ import annotations

import hashlib

import pytest

from services.ingest.archive import Archive
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
