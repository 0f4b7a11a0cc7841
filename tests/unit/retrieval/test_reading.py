"""Pages of chunks are bounded by bytes, too: a message has a limit."""

import pytest

from clausegate.corpus.v1.chunk_pb2 import Chunk
from corpus.codec import to_message
from services.retrieval.reading import list_chunks
from tests.contract.store.drafts import Draft, open_embedded, put

MAX_MESSAGE_BYTES = 4 * 2**20


async def pages(store, draft, size):
    token, seen = "", []
    while not seen or token:
        page = await list_chunks(store, draft.version.document_id, size, token)
        seen.append(page.items)
        token = page.next_token
    return seen


@pytest.mark.parametrize(("chunks", "characters", "count"), [(16, 10, 1), (16, 40_000, 2), (2, 400_000, 2)])
async def test_a_page_of_chunks_fits_a_message_whatever_its_headings_are(chunks, characters, count):
    draft = Draft("cme/long.html", [f"Fee {n}." for n in range(chunks)], headings=("é" * characters,))
    async with open_embedded() as store:
        await put(store, draft)
        seen = await pages(store, draft, 100)
    assert [chunk.chunk_id for page in seen for chunk in page] == draft.ids
    assert len(seen) == count
    assert all(sum(to_message(each, Chunk).ByteSize() for each in page) < MAX_MESSAGE_BYTES for page in seen)
