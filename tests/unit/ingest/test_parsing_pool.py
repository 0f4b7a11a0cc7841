from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pymupdf
import pytest

from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.errors import DocumentEncoding, DocumentParserFailed
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pool import ChildLimits, parser_pool
from services.ingest.reading import Job

LIMITS = ChildLimits(memory_bytes=400 << 20)


@pytest.fixture
def job(tmp_path):
    def make(name: str, content: bytes) -> Job:
        path = tmp_path / name
        path.write_bytes(content)
        origin = Origin(f"cme/{name}", "cme", name, "g1", name)
        return Job(path, origin, ParsingLimits(), ChunkLimits())

    return make


def ignore(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def children() -> set[int]:
    """Process ids of our parsers that are no zombies."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            is_parser = b"services.ingest.parsing.worker" in (process / "cmdline").read_bytes()
        except OSError:
            continue
        if is_parser and int(parent) == os.getpid() and state != "Z":
            found.add(int(process.name))
    return found


async def until(condition) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - nobody tells us of processes
            await asyncio.sleep(0.01)


async def test_a_reading_crosses_the_process_unchanged(job, tmp_path):
    document = pymupdf.open()
    for number in range(3):
        document.new_page().insert_text(
            (72, 72), f'1.{number} "Term{number}" means the fee of page {number}.'
        )

    async with parser_pool(1, LIMITS, tmp_path) as pool:
        reading = await pool.read(job("terms.pdf", document.tobytes()), ignore)

    assert (reading.page_count, reading.unreadable_pages, reading.title) == (3, (), "terms.pdf")
    assert reading.scanned_pages == ()
    assert {part.page for chunk in reading.chunks for part in chunk.pages} == {1, 2, 3}
    assert {definition.chunk_id for definition in reading.definitions} <= {c.chunk_id for c in reading.chunks}


async def test_a_reading_keeps_the_count_of_hidden_characters(job, tmp_path):
    async with parser_pool(1, LIMITS, tmp_path) as pool:
        reading = await pool.read(job("page.html", b"<p>Seen.</p><p hidden>Not seen.</p>"), ignore)

    assert reading.hidden_characters == len("Notseen.")


async def test_a_child_is_reused(job, tmp_path):
    async with parser_pool(1, LIMITS, tmp_path) as pool:
        await pool.read(job("one.txt", b"First text."), ignore)
        first = children()
        await pool.read(job("two.txt", b"Second text."), ignore)
        assert children() == first


async def test_an_error_of_the_file_keeps_the_child(job, tmp_path):
    async with parser_pool(1, LIMITS, tmp_path) as pool:
        await pool.read(job("one.txt", b"First text."), ignore)
        first = children()
        with pytest.raises(DocumentEncoding):
            await pool.read(job("bad.txt", b"\xcf\xeb\xe0\xf2\xe0"), ignore)
        assert children() == first


async def test_a_file_that_needs_too_much_memory_fails_alone(job, tmp_path):
    async with parser_pool(1, ChildLimits(memory_bytes=100 << 20), tmp_path) as pool:
        with pytest.raises(DocumentParserFailed):
            await pool.read(job("huge.txt", "wörter ".encode() * 8_000_000), ignore)

        reading = await pool.read(job("small.txt", b"A small text."), ignore)

    assert len(reading.chunks) == 1


async def test_a_file_that_needs_too_much_processor_time_fails_alone(job, tmp_path):
    async with parser_pool(1, ChildLimits(memory_bytes=2 << 30, cpu_seconds=0), tmp_path) as pool:
        with pytest.raises(DocumentParserFailed):
            await pool.read(job("long.txt", b"Some words in a sentence. " * 600_000), ignore)

        reading = await pool.read(job("small.txt", b"A small text."), ignore)

    assert len(reading.chunks) == 1


async def test_a_child_that_stays_silent_is_killed(job, tmp_path):
    async with parser_pool(1, ChildLimits(silence_seconds=0.0), tmp_path) as pool:
        with pytest.raises(DocumentParserFailed):
            await pool.read(job("small.txt", b"A small text."), ignore)

        assert children() == set()


async def test_a_child_that_dies_fails_its_file_and_is_replaced(job, tmp_path):
    async with parser_pool(1, LIMITS, tmp_path) as pool:
        reading = asyncio.create_task(pool.read(job("long.txt", b"Some words here. " * 300_000), ignore))
        await until(children)
        for child in children():
            os.kill(child, signal.SIGKILL)
        with pytest.raises(DocumentParserFailed):
            await reading

        assert await pool.read(job("small.txt", b"A small text."), ignore)


async def test_cancelled_work_ends_its_child(job, tmp_path):
    async with parser_pool(1, LIMITS, tmp_path) as pool:
        reading = asyncio.create_task(pool.read(job("long.txt", b"Some words here. " * 300_000), ignore))
        await until(children)

        reading.cancel()

        with pytest.raises(asyncio.CancelledError):
            await reading
        assert children() == set()


async def test_a_child_is_replaced_after_its_share_of_files(job, tmp_path):
    async with parser_pool(1, ChildLimits(files=1), tmp_path) as pool:
        await pool.read(job("one.txt", b"First text."), ignore)
        assert children() == set()
        assert await pool.read(job("two.txt", b"Second text."), ignore)


async def test_an_idle_child_ends(job, tmp_path):
    async with parser_pool(1, ChildLimits(idle_seconds=0.01), tmp_path) as pool:
        await pool.read(job("one.txt", b"First text."), ignore)

        await until(lambda: not children())


async def test_closing_the_pool_leaves_no_child(job, tmp_path):
    async with parser_pool(2, LIMITS, tmp_path) as pool:
        await asyncio.gather(
            pool.read(job("one.txt", b"First text."), ignore), pool.read(job("two.txt", b"Second."), ignore)
        )
        assert len(children()) == 2

    assert children() == set()
