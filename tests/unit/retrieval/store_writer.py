"""A process to be killed: replaces documents of a store for ever, and prints what it was promised.

`python -m tests.unit.retrieval.store_writer FOLDER FIRST` prints `staged DOCUMENT GENERATION COUNT` after a
batch and `live DOCUMENT GENERATION` after each commit. Generations count on from FIRST.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from services.retrieval.store.embedded.store import open_store
from tests.contract.store.drafts import DIMENSION, Draft

DOCUMENTS = ("cme/a.txt", "cme/b.txt", "opra/c.txt")
BATCHES = 3
BATCH_SIZE = 4


def draft(document_id: str, generation: int) -> Draft:
    """A version whose texts say which it is."""
    texts = [f"fee of round{generation} clause {number}\nline" for number in range(BATCHES * BATCH_SIZE)]
    return Draft(document_id, texts, generation=str(generation), terms=["Fee"])


async def write(folder: Path, first: int) -> None:
    """Replace the documents in turn until killed."""
    store = await open_store(folder, "model", DIMENSION)
    for generation in itertools.count(first):
        for document_id in DOCUMENTS:
            version = draft(document_id, generation)
            for start in range(0, len(version.chunks), BATCH_SIZE):
                await store.put_chunks(version.version, version.chunks[start : start + BATCH_SIZE])
                print("staged", document_id, generation, start + BATCH_SIZE, flush=True)
            await store.put_definitions(version.version, version.definitions)
            await store.commit(version.document)
            print("live", document_id, generation, flush=True)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2])))
