"""DocumentService over real sockets and store."""

from __future__ import annotations

from itertools import chain

import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from clausegate.retrieval.v1 import document_service_pb2 as wire
from tests.contract.messages import reads_well
from tests.contract.retrieval_index import STORES, Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENTS = [
    Text(document_id, ["The fee is due.", "Notices are given in writing."], terms=[("Fee", 0)])
    for document_id in ("cme/a.txt", "cme/b/c.txt", "ice/a.txt", "opra/a.txt", "opra/z.txt")
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def service(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            for document in DOCUMENTS:
                await service.put(document)
            yield service


async def test_a_document_is_read_as_it_was_written(service):
    request = wire.GetDocumentRequest(document_id="cme/b/c.txt")
    document = (await service.call(service.documents.GetDocument, request)).document

    assert document.HasField("indexed_at")
    document.ClearField("indexed_at")
    assert document == DOCUMENTS[1].document()


@pytest.mark.parametrize(
    ("document_id", "reason"),
    [("", "INVALID_FIELD"), ("cme/no.txt", "DOCUMENT_NOT_FOUND"), ("cme", "DOCUMENT_NOT_FOUND")],
)
async def test_an_unknown_document_is_named(service, document_id, reason):
    with pytest.raises(ServiceError) as refused:
        await service.call(service.documents.GetDocument, wire.GetDocumentRequest(document_id=document_id))
    assert (refused.value.reason, refused.value.field) == (reason, "document_id")


async def pages(service, **request):
    token, seen = "", []
    while True:
        page = await service.call(
            service.documents.ListDocuments, wire.ListDocumentsRequest(page_token=token, **request)
        )
        seen.append([document.document_id for document in page.documents])
        token = page.next_page_token
        if not token:
            return seen


@pytest.mark.parametrize("page_size", [1, 2, 4, 5, 6, 0, 5000])
async def test_paging_sees_every_document_once_in_order(service, page_size):
    seen = await pages(service, page_size=page_size)
    assert [*chain(*seen)] == [document.document_id for document in DOCUMENTS]
    assert all(0 < len(page) <= (page_size or 50) for page in seen)


async def test_documents_of_some_sources_are_listed(service):
    seen = await pages(service, sources=["opra", "ice"], page_size=2)
    assert seen == [["ice/a.txt", "opra/a.txt"], ["opra/z.txt"]]


async def test_an_unknown_source_is_named(service):
    with pytest.raises(ServiceError) as refused:
        await service.call(
            service.documents.ListDocuments, wire.ListDocumentsRequest(sources=["cme", "cmee"])
        )
    assert (refused.value.code, refused.value.reason) == ("NOT_FOUND", "SOURCE_NOT_FOUND")
    assert refused.value.field == "sources[1]"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (wire.ListDocumentsRequest(page_size=-1), "page_size"),
        (wire.ListDocumentsRequest(page_token="made up"), "page_token"),
        (wire.ListDocumentsRequest(sources=map(str, range(101))), "sources"),
    ],
)
async def test_bad_lists_are_refused(service, request_, field):
    with pytest.raises(ServiceError) as refused:
        await service.call(service.documents.ListDocuments, request_)
    assert (refused.value.reason, refused.value.field) == ("INVALID_FIELD", field)
    assert reads_well(refused.value)


async def test_a_token_of_another_list_is_refused(service):
    page = await service.call(service.documents.ListDocuments, wire.ListDocumentsRequest(page_size=1))
    other = wire.ListDocumentsRequest(page_token=page.next_page_token, sources=["opra"])
    with pytest.raises(ServiceError) as refused:
        await service.call(service.documents.ListDocuments, other)
    assert refused.value.field == "page_token"


async def test_sources_are_listed_with_their_counts(service):
    first = await service.call(service.documents.ListSources, wire.ListSourcesRequest(page_size=2))
    rest = await service.call(
        service.documents.ListSources, wire.ListSourcesRequest(page_token=first.next_page_token)
    )
    assert [
        (each.source, each.document_count, each.chunk_count) for each in [*first.sources, *rest.sources]
    ] == [
        ("cme", 2, 4),
        ("ice", 1, 2),
        ("opra", 2, 4),
    ]
    assert not rest.next_page_token
