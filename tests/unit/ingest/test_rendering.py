"""Pages are drawn in a child process, which a hostile file cannot leave nor stop."""

from __future__ import annotations

import pymupdf
import pytest

from services.ingest.errors import DocumentCorrupt, DocumentEncrypted, DocumentParserFailed
from services.ingest.parsing.pool import ChildLimits, artist_pool
from services.ingest.pictures import Drawing, Look

LIMITS = ChildLimits(memory_bytes=2 << 30, cpu_seconds=60, silence_seconds=60.0)


def saved(folder, name: str, **options) -> Drawing:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "The Licensee shall pay.")
        document.save(folder / name, **options)
    return Drawing(folder / name, Look(1, 200, ((70.0, 60.0, 200.0, 80.0),)))


async def test_a_page_is_drawn(tmp_path):
    async with artist_pool(1, LIMITS, tmp_path) as pool:
        picture = await pool.draw(saved(tmp_path, "a.pdf"))

    assert pymupdf.Pixmap(picture.png).pixel(65, 23) == (255, 255, 102)
    assert (picture.width, picture.page_width, picture.rotation) == (200, 595.0, 0)


async def test_a_file_that_cannot_be_drawn_is_told_and_the_child_goes_on(tmp_path):
    locked = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": "secret", "owner_pw": "other"}
    (tmp_path / "no.pdf").write_bytes(b"%PDF-1.7\nnothing of a page")
    async with artist_pool(1, LIMITS, tmp_path) as pool:
        with pytest.raises(DocumentEncrypted):
            await pool.draw(saved(tmp_path, "locked.pdf", **locked))
        with pytest.raises(DocumentCorrupt):
            await pool.draw(Drawing(tmp_path / "no.pdf", Look(1)))
        assert await pool.draw(saved(tmp_path, "a.pdf"))


async def test_a_page_that_takes_too_long_is_given_up(tmp_path):
    async with artist_pool(1, ChildLimits(silence_seconds=0.0), tmp_path) as pool:
        with pytest.raises(DocumentParserFailed):
            await pool.draw(saved(tmp_path, "a.pdf"))


async def test_a_file_elsewhere_cannot_be_drawn(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    async with artist_pool(1, LIMITS, inside) as pool:
        with pytest.raises(DocumentCorrupt):
            await pool.draw(saved(tmp_path, "outside.pdf"))
