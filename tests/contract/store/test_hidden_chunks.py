"""A chunk that lies in a source elsewhere costs the same reads as one that is nowhere."""

import pytest

from corpus.chunks import ChunkId
from services.retrieval.reading import ChunkNotFound, read_chunks
from services.retrieval.store.restricted import RestrictedStore
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import Draft, open_embedded, put

OWN = Draft("cme/fees.txt", ["Fees are due monthly."])
OTHERS = Draft("ice/fees.txt", ["Fees are due yearly."])


class Counted:
    """A store that keeps what was read of it."""

    def __init__(self, store):
        self._store = store
        self.reads = []

    def __getattr__(self, name):
        method = getattr(self._store, name)
        if name == "records":
            return method

        async def counted(*arguments):
            result = await method(*arguments)
            self.reads.append((name, result))
            return result

        return counted


@pytest.mark.parametrize(
    "opened", [open_embedded, weaviate_server.open_on_fake], ids=["embedded", "weaviate-fake"]
)
async def test_a_hidden_chunk_costs_the_reads_of_an_absent_one(opened):
    async with opened() as store:
        await put(store, OWN)
        await put(store, OTHERS)
        reads = []
        for chunk_id in (OTHERS.ids[0], ChunkId("nowhere")):
            counted = Counted(store)
            with pytest.raises(ChunkNotFound):
                await read_chunks(RestrictedStore(counted, {"cme"}), [chunk_id])
            reads.append(counted.reads)

        assert reads[0] == reads[1]
        assert (await read_chunks(RestrictedStore(store, {"cme"}), OWN.ids)).chunks
