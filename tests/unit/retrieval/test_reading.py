"""Pages of chunks and documents are bounded by bytes, too: a message has a limit."""

from dataclasses import replace

import pytest

from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.document_pb2 import Document
from corpus.codec import to_message
from corpus.profiles import MAX_OTHER_NAMES, MAX_PARTIES, MAX_TEXT, OtherName, OtherNameKind, Party
from corpus.spans import Span
from services.retrieval.corpus import EVERYWHERE
from services.retrieval.reading import list_chunks, list_documents
from tests.cards import WHOLE
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


async def test_a_page_of_documents_fits_a_message_whatever_their_cards_are():
    name = OtherName("é" * MAX_TEXT, OtherNameKind.DEFINED, Span(0, MAX_TEXT))
    party = Party(name.text, name.span, (name,) * MAX_OTHER_NAMES)
    largest = replace(WHOLE, parties=(party,) * MAX_PARTIES)
    drafts = [Draft(f"cme/{number:02}.txt", ["Fees."], profile=largest) for number in range(30)]
    token, seen = "", []
    async with open_embedded() as store:
        for draft in drafts:
            await put(store, draft)
        while not seen or token:
            page = await list_documents(store, EVERYWHERE, 100, token)
            seen.append(page.items)
            token = page.next_token
    listed = [document.document_id for page in seen for document in page]
    assert listed == [draft.document_id for draft in drafts]
    assert len(seen) == 3
    assert all(
        sum(to_message(each, Document).ByteSize() for each in page) < MAX_MESSAGE_BYTES for page in seen
    )
