"""IndexService over real sockets, store and model."""

from __future__ import annotations

from dataclasses import replace

import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from chassis.status import upstream_errors
from clausegate.corpus.v1 import chunk_pb2, profile_pb2, span_pb2
from clausegate.digests import contents_digest
from clausegate.retrieval.v1 import document_service_pb2, index_service_pb2, retrieval_service_pb2
from corpus.codec import to_message
from corpus.layout import PlacedLine, PlacedWord, encode
from corpus.profiles import MAX_TEXT
from tests.cards import WHOLE
from tests.contract.messages import reads_well
from tests.contract.retrieval_index import STORES, Request, Text, running, with_digest

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def service(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            yield service


def fees(document_id, amount):
    paragraphs = [f"The fee is {amount} dollars.", "It is due monthly.", "“Fee” means the fee."]
    return Text(document_id, paragraphs, terms=[("Fee", 2)])


async def texts_of(service, document_id):
    request = retrieval_service_pb2.SearchRequest(query="fee", document_ids=[document_id])
    response = await service.call(service.retrieval.Search, request)
    return sorted(candidate.chunk.text for candidate in response.candidates)


async def live_generation(service, document_id):
    request = document_service_pb2.GetDocumentRequest(document_id=document_id)
    return (await service.call(service.documents.GetDocument, request)).document.generation


async def describe(service):
    return await service.call(service.index.DescribeIndex, index_service_pb2.DescribeIndexRequest())


async def test_a_version_is_stored_with_progress_and_a_receipt(service):
    text = fees("new/a.txt", 400)

    events = await service.send(
        [text.header(), text.chunks(0, 1), text.chunks(2), text.definitions(), text.commit()]
    )

    assert [event.stored.count for event in events if event.HasField("stored")] == [2, 3]
    receipt = events[-1].receipt
    assert not receipt.replaced
    assert receipt.document.chunk_count == 3
    assert receipt.document.HasField("indexed_at")
    assert receipt.index_revision == (await describe(service)).index_revision


LAYOUT = encode([PlacedLine(2, 100, 112, (PlacedWord(4, 9, 50, 90),))])


def whole(text):
    """The requests for `text` with every field of its last chunk and its document set."""
    chunks, commit = text.chunks(), text.commit()
    chunk, document = chunks.chunks.chunks[-1], commit.commit.document
    part = span_pb2.Span(start=4, end=9)
    pages = [span_pb2.PageSpan(page=2, span=part)]
    chunk.sections.add(heading_chain=["Terms", "2. Use"], span=part)
    chunk.context_before.add(span=part, text="shall not:", governs=part, pages=pages)
    chunk.context_before.add(span=part, text="copy or", governs=part)
    chunk.context_after.add(span=part, text="without consent.", governs=part, pages=pages)
    for kind in (chunk_pb2.TEXT_DOUBT_KIND_READING_ORDER, chunk_pb2.TEXT_DOUBT_KIND_MISSING_WORDS):
        chunk.doubts.add(span=part, kind=kind)
    chunk.table_header, chunk.is_definitions, chunk.layout = "Product | Fee", True, LAYOUT
    document.hidden_characters, document.reference_marks, document.running_lines = 3, 5, 7
    document.scanned_pages.append(2)
    document.profile.CopyFrom(to_message(WHOLE, profile_pb2.DocumentProfile))
    with_digest(chunk)
    definitions = text.definitions()
    sent = (*chunks.chunks.chunks, *definitions.definitions.definitions)
    document.contents_sha256 = contents_digest(each.digest for each in sent)
    with_digest(document)
    return [text.header(), chunks, definitions, commit]


async def test_every_field_of_a_chunk_and_its_document_comes_back(service):
    text = Text("whole/a.pdf", ["“Fee” means the fee.", "It is 400 dollars."], terms=[("Fee", 0)], pages=2)
    _, chunks, _, commit = requests = whole(text)

    await service.send(requests)

    wanted = retrieval_service_pb2.GetChunksRequest(chunk_ids=[text.chunk_id(1)])
    response = await service.call(service.retrieval.GetChunks, wanted)
    sent = (chunks.chunks.chunks[-1], commit.commit.document)
    for stored, put in zip((response.chunks[0], response.documents[0]), sent, strict=True):
        named = {field.name for field, _ in stored.ListFields()}
        assert named == set(stored.DESCRIPTOR.fields_by_name) - {"html"}  # made when it is asked for
        stored.ClearField("indexed_at")
        assert stored == put


@pytest.mark.parametrize("kind", [0, 99])
async def test_a_doubt_of_no_known_kind_is_refused(service, kind):
    text = fees("doubt/a.txt", 400)
    chunks = text.chunks()
    chunks.chunks.chunks[1].doubts.add(span=text.span(1), kind=kind)

    with pytest.raises(ServiceError) as told:
        await service.send([text.header(), chunks, text.definitions(), text.commit()])

    assert told.value.code == "INVALID_ARGUMENT"


async def test_a_card_that_is_too_large_is_refused_by_the_path_of_its_field(service):
    title = replace(WHOLE.title, text="x" * (MAX_TEXT + 1))

    with pytest.raises(ServiceError) as told:
        await service.put(replace(fees("card/a.txt", 400), profile=replace(WHOLE, title=title)))

    assert (told.value.code, told.value.field) == ("INVALID_ARGUMENT", "commit.document.profile.title.text")


async def test_a_new_version_replaces_the_old_one(service):
    await service.put(fees("swap/a.txt", 400))

    receipt = await service.put(fees("swap/a.txt", 500))

    assert receipt.replaced
    assert "The fee is 500 dollars." in await texts_of(service, "swap/a.txt")
    assert "The fee is 400 dollars." not in await texts_of(service, "swap/a.txt")


async def test_the_old_version_answers_until_the_commit(service):
    old, new = fees("until/a.txt", 400), fees("until/a.txt", 500)
    await service.put(old)

    with pytest.raises(ServiceError):
        await service.send(new.requests()[:-1])

    assert await live_generation(service, "until/a.txt") == old.generation
    assert "The fee is 400 dollars." in await texts_of(service, "until/a.txt")


async def test_a_repeat_after_a_broken_call_completes(service):
    text = fees("broken/a.txt", 400)
    with pytest.raises(ServiceError):
        await service.send([text.header(), text.chunks(0, 1)])

    receipt = await service.put(text)

    assert receipt.document.chunk_count == 3
    assert len(await texts_of(service, "broken/a.txt")) == 3


async def test_the_same_version_again_changes_nothing_that_is_read(service):
    text = fees("again/a.txt", 400)
    await service.put(text)
    before = await describe(service)

    assert (await service.put(text)).document.generation == text.generation

    after = await describe(service)
    assert (after.chunk_count, after.definition_count) == (before.chunk_count, before.definition_count)


async def finish(call, text):
    with upstream_errors():
        await call.write(text.definitions())
        await call.write(text.commit())
        await call.done_writing()
        await call.read()


async def test_a_writer_that_another_one_overtook_is_told_and_may_repeat(service):
    slow, fast = fees("race/a.txt", 400), fees("race/a.txt", 500)
    overtaken = service.index.ReplaceDocument(timeout=30)
    await overtaken.write(slow.header())
    await overtaken.write(slow.chunks())
    assert (await overtaken.read()).stored.count == 3
    await service.put(fast)

    with pytest.raises(ServiceError) as told:
        await finish(overtaken, slow)

    assert (told.value.code, told.value.reason) == ("ABORTED", "DOCUMENT_CONFLICT")
    assert await live_generation(service, "race/a.txt") == fast.generation
    assert (await service.put(slow)).replaced
    assert await live_generation(service, "race/a.txt") == slow.generation


async def test_a_cancelled_call_leaves_nothing_to_see(service):
    text = fees("cancelled/a.txt", 400)
    call = service.index.ReplaceDocument(timeout=30)
    await call.write(text.header())
    await call.write(text.chunks(0))
    assert (await call.read()).stored.count == 1
    call.cancel()

    with pytest.raises(ServiceError) as missing:
        await live_generation(service, "cancelled/a.txt")
    assert missing.value.reason == "DOCUMENT_NOT_FOUND"


GOOD = fees("bad/a.txt", 400)
OTHER = fees("bad/b.txt", 400)
EMPTY = Text("bad/c.txt", [])


def wrong_count():
    document = GOOD.document()
    document.chunk_count = 2
    with_digest(document)
    return Request(commit=index_service_pb2.Commit(document=document))


def misplaced():
    chunk = GOOD.chunk(0)
    chunk.span.end += 1
    with_digest(chunk)
    return Request(chunks=index_service_pb2.ChunkBatch(chunks=[chunk]))


def changed(request, **fields):
    """The request with other fields in its first chunk, its first definition or its document."""
    match request.WhichOneof("part"):
        case "chunks":
            item = request.chunks.chunks[0]
        case "definitions":
            item = request.definitions.definitions[0]
        case _:
            item = request.commit.document
    for name, value in fields.items():
        setattr(item, name, value)
    if "digest" not in fields:
        with_digest(item)
    return request


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "header"),
        ([GOOD.chunks()], "header"),
        ([GOOD.header(), GOOD.header()], "header"),
        ([GOOD.header()], "commit"),
        ([GOOD.header(), GOOD.chunks()], "commit"),
        ([GOOD.header(), Request()], "part"),
        ([GOOD.header(), Request(chunks=index_service_pb2.ChunkBatch())], "chunks.chunks"),
        ([GOOD.header(), OTHER.chunks()], "chunks.chunks[0]"),
        ([GOOD.header(), GOOD.chunks(1)], "chunks.chunks[0].ordinal"),
        ([GOOD.header(), GOOD.chunks(0), GOOD.chunks(0)], "chunks.chunks[0].ordinal"),
        ([GOOD.header(), misplaced()], "chunks.chunks[0].span"),
        ([GOOD.header(), changed(GOOD.chunks(), chunk_id=OTHER.chunk_id(0))], "chunks.chunks[0].chunk_id"),
        ([GOOD.header(), changed(GOOD.chunks(), source="opra")], "chunks.chunks[0].source"),
        ([GOOD.header(), OTHER.definitions()], "definitions.definitions[0]"),
        (
            [GOOD.header(), changed(GOOD.definitions(), term="Other")],
            "definitions.definitions[0].definition_id",
        ),
        ([GOOD.header(), changed(GOOD.definitions(), source="opra")], "definitions.definitions[0].source"),
        (
            [GOOD.header(), GOOD.chunks(), GOOD.definitions(), changed(GOOD.commit(), source="opra")],
            "commit.document.source",
        ),
        ([GOOD.header(), GOOD.chunks(), GOOD.definitions(), wrong_count()], "commit.document.chunk_count"),
        ([GOOD.header(), GOOD.chunks(), GOOD.commit()], "commit.document.contents_sha256"),
        ([GOOD.header(), changed(GOOD.chunks(), digest=OTHER.contents())], "chunks.chunks[0].digest"),
        (
            [GOOD.header(), changed(GOOD.chunks(), text="The fee is 900 dollars.")],
            "chunks.chunks[0].content_sha256",
        ),
        ([GOOD.header(), changed(GOOD.definitions(), digest="")], "definitions.definitions[0].digest"),
        (
            [GOOD.header(), GOOD.chunks(), GOOD.definitions(), changed(GOOD.commit(), digest="")],
            "commit.document.digest",
        ),
        (
            [GOOD.header(), GOOD.chunks(), GOOD.definitions(), OTHER.commit()],
            "commit.document.contents_sha256",
        ),
        ([OTHER.header(), GOOD.commit()], "commit.document.contents_sha256"),
        ([GOOD.header(), changed(EMPTY.commit())], "commit.document"),
        ([*GOOD.requests(), GOOD.commit()], "commit"),
        ([Request(header=index_service_pb2.ReplaceHeader(generation="g"))], "header.document_id"),
        ([Request(header=index_service_pb2.ReplaceHeader(document_id="a/b"))], "header.generation"),
    ],
)
async def test_calls_that_break_the_protocol_are_refused_with_the_field(service, requests, field):
    with pytest.raises(ServiceError) as refused:
        await service.send(requests)

    assert (refused.value.code, refused.value.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert refused.value.field == field
    assert reads_well(refused.value)
    with pytest.raises(ServiceError, match="not indexed"):
        await live_generation(service, "bad/a.txt")


async def test_a_removed_document_is_gone(service):
    await service.put(fees("gone/a.txt", 400))
    before = await describe(service)

    response = await service.call(
        service.index.RemoveDocument, index_service_pb2.RemoveDocumentRequest(document_id="gone/a.txt")
    )

    after = await describe(service)
    assert response.index_revision == after.index_revision != before.index_revision
    assert before.document_count - after.document_count == 1
    assert before.chunk_count - after.chunk_count == 3
    with pytest.raises(ServiceError, match="not indexed"):
        await texts_of(service, "gone/a.txt")


@pytest.mark.parametrize(
    ("document_id", "code", "reason"),
    [("", "INVALID_ARGUMENT", "INVALID_FIELD"), ("cme/no.txt", "NOT_FOUND", "DOCUMENT_NOT_FOUND")],
)
async def test_removing_nothing_is_refused(service, document_id, code, reason):
    request = index_service_pb2.RemoveDocumentRequest(document_id=document_id)

    with pytest.raises(ServiceError) as refused:
        await service.call(service.index.RemoveDocument, request)

    assert (refused.value.code, refused.value.reason, refused.value.field) == (code, reason, "document_id")


async def test_the_index_describes_itself(service, request):
    description = await describe(service)

    assert (description.embedding_model, description.embedding_dimension) == ("all-MiniLM-L6-v2", 384)
    assert request.node.callspec.id.startswith(description.store)
    assert description.window_count >= description.chunk_count


async def test_every_write_changes_the_revision(service):
    before = await describe(service)
    first = await service.put(fees("revisions/a.txt", 400))
    second = await service.put(fees("revisions/a.txt", 500))

    assert len({before.index_revision, first.index_revision, second.index_revision}) == 3
