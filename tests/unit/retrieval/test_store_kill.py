"""kill -9 while a store is written: nothing promised is lost, nothing half done seen, a repeat completes."""

import random
import subprocess
import sys

import pytest

from corpus.documents import DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.store.embedded.store import open_store
from tests.contract.store.drafts import DIMENSION, put, vector_of
from tests.unit.retrieval.store_writer import BATCH_SIZE, BATCHES, DOCUMENTS, draft

LINES_A_ROUND = len(DOCUMENTS) * (BATCHES + 1)


def write_until_killed(folder, generation, lines):
    """Promises of a writer that is killed at some moment after its `lines`-th."""
    command = [sys.executable, "-m", "tests.unit.retrieval.store_writer", str(folder), str(generation)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        heard = [writer.stdout.readline() for _ in range(lines)]
        writer.kill()
        heard += writer.stdout.readlines()
    return [line.split() for line in heard]


def possible(promises, live):
    """Generations, of each document, that may be live now."""
    last = {document_id: {live.get(document_id)} for document_id in DOCUMENTS}
    for word, document_id, generation, *_ in promises:
        if word == "live":
            last[document_id] = {int(generation)}
    word, document_id, generation, *count = promises[-1]
    if count == [str(BATCHES * BATCH_SIZE)]:
        # All is staged: the commit may be done, and its promise not heard any more.
        last[document_id].add(int(generation))
    return last


async def check(folder, promises, live):
    """Reopen the store and compare; returns the generation that is live afterwards, of each document."""
    store = await open_store(folder, "model", DIMENSION)
    found = await store.keyword_hits(["fee"], 1000, Scope())
    similar = await store.vector_hits(vector_of("line"), 1000, Scope())
    now = {}
    for document_id, generations in possible(promises, live).items():
        document = await store.document(DocumentId(document_id))
        now[document_id] = int(document.version.generation) if document else None
        assert now[document_id] in generations
        ids = draft(document_id, now[document_id]).ids if document else []
        for hits in (found, similar):
            assert {hit.chunk_id for hit in hits if hit.chunk_id.startswith(document_id)} == set(ids)
        in_order = await store.chunks_of(DocumentId(document_id), None, 100)
        assert [chunk.chunk_id for chunk in in_order] == ids
    await check_staged(store, promises, now)
    await store.close()
    return {document_id: generation for document_id, generation in now.items() if generation is not None}


async def check_staged(store, promises, now):
    """The batches of the last version that was being written are there, and completing it makes it live."""
    _, document_id, generation, *count = promises[-1]
    version = draft(document_id, int(generation))
    if count:
        assert set(version.ids[: int(count[0])]) <= set(await store.staged(version.version))
    committed = await put(store, version)
    assert committed.document.version == version.version
    now[document_id] = int(generation)


async def kill_often(folder, rounds, seed):
    choose = random.Random(seed)
    live = {}
    generation = 1
    for _ in range(rounds):
        promises = write_until_killed(folder, generation, choose.randint(1, 2 * LINES_A_ROUND))
        live = await check(folder, promises, live)
        generation = max(live.values(), default=generation) + 1
    assert live


@pytest.mark.parametrize("seed", range(2))
async def test_killed_writer_keeps_its_promises(tmp_path, seed):
    await kill_often(tmp_path, rounds=2, seed=seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
async def test_writer_killed_again_and_again_keeps_its_promises(tmp_path, seed):
    await kill_often(tmp_path, rounds=20, seed=1000 + seed)
