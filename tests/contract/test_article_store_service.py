"""ArticleStoreService over real sockets and store."""

from __future__ import annotations

from itertools import chain

import pytest
import pytest_asyncio
from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import ServiceError
from clausegate.corpus.v1 import article_pb2, citation_pb2
from clausegate.retrieval.v1 import article_store_service_pb2 as wire
from clausegate.retrieval.v1 import index_service_pb2, retrieval_service_pb2
from tests.contract.messages import reads_well
from tests.contract.retrieval_index import STORES, Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEES = Text("cme/fees.txt", ["Fees are due monthly."])
TERMS = Text("cme/terms.txt", ["Terms are five years."])
RULES = Text("opra/rules.txt", ["Rules apply."])


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def served(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            yield service


@pytest_asyncio.fixture(loop_scope="module")
async def service(served):
    """A service with three documents and without articles."""
    for text in (FEES, TERMS, RULES):
        await served.put(text)
    for article in chain(*await pages(served)):
        await remove(served, article.article_id)
    return served


def basis(*texts):
    return [
        article_pb2.ArticleBasis(document_id=text.document_id, generation=text.generation) for text in texts
    ]


def article(article_id="fees", **fields):
    made = {
        "title": "Fees",
        "summary": "What is due.",
        "key_claims": [
            article_pb2.ArticleClaim(
                claim="Fees are due monthly.",
                confidence=article_pb2.CLAIM_CONFIDENCE_SOURCED,
                citation=citation_pb2.Citation(quote="Fees are due monthly."),
            )
        ],
        "concepts": ["fee"],
        "article_body": "# Fees\n\n“Due” monthly 😀",
        "sources": ["cme"],
        "basis": basis(FEES, TERMS),
        "compiled_at": Timestamp(seconds=1_750_000_000, nanos=123),
        **fields,
    }
    return article_pb2.Article(article_id=article_id, **made)


async def put(service, made):
    return (await service.call(service.articles.PutArticle, wire.PutArticleRequest(article=made))).article


async def read(service, article_id="fees"):
    request = wire.ReadArticleRequest(article_id=article_id)
    return (await service.call(service.articles.ReadArticle, request)).article


async def remove(service, article_id):
    request = wire.RemoveArticleRequest(article_id=article_id)
    return await service.call(service.articles.RemoveArticle, request)


async def pages(service, **request):
    token, seen = "", []
    while True:
        page = await service.call(
            service.articles.ReadArticles, wire.ReadArticlesRequest(page_token=token, **request)
        )
        seen.append(list(page.articles))
        token = page.next_page_token
        if not token:
            return seen


async def refusal(service, method, request):
    with pytest.raises(ServiceError) as refused:
        await service.call(method, request)
    assert reads_well(refused.value), str(refused.value)
    return refused.value.code, refused.value.reason, refused.value.field


async def drop(service, text):
    request = index_service_pb2.RemoveDocumentRequest(document_id=text.document_id)
    await service.call(service.index.RemoveDocument, request)


async def test_an_article_is_read_as_it_was_put(service):
    assert await put(service, article(stale=True)) == article()
    assert await read(service) == article()


async def test_an_article_takes_the_place_of_the_one_with_its_id(service):
    await put(service, article())
    await put(service, article(title="Charges", article_body="new"))
    assert await read(service) == article(title="Charges", article_body="new")


@pytest.mark.parametrize(
    "scope",
    [
        {"basis": basis(FEES, TERMS)},
        {"sources": [], "document_ids": ["cme/fees.txt"], "basis": basis(FEES)},
        {"document_ids": ["cme/fees.txt"], "basis": basis(FEES)},
        {"sources": ["cme", "opra"], "basis": basis(RULES, TERMS, FEES)},
        {"sources": ["nobody"], "basis": []},
    ],
)
async def test_an_article_of_the_documents_as_they_are_is_not_stale(service, scope):
    await put(service, article(**scope))
    await service.put(Text("ice/other.txt", ["Something else."]))
    assert not (await read(service)).stale


async def test_a_changed_document_makes_an_article_stale_until_it_is_back(service):
    await put(service, article())
    await service.put(Text(FEES.document_id, ["Fees are due weekly."]))
    assert (await read(service)).stale
    await service.put(FEES)
    assert not (await read(service)).stale


async def test_a_removed_document_makes_an_article_stale(service):
    await put(service, article(document_ids=["cme/fees.txt", "cme/terms.txt"]))
    await drop(service, TERMS)
    assert (await read(service)).stale


async def test_a_document_added_to_a_source_makes_its_articles_stale(service):
    added = Text("cme/added.txt", ["Added later."])
    await put(service, article())
    await put(service, article("fees-alone", document_ids=["cme/fees.txt"], basis=basis(FEES)))
    await service.put(added)
    stale = await read(service), await read(service, "fees-alone")
    await drop(service, added)
    assert [each.stale for each in stale] == [True, False]


async def test_a_new_article_says_at_once_that_it_is_stale(service):
    assert (await put(service, article(basis=basis(FEES)))).stale


@pytest.mark.parametrize("page_size", [1, 2, 3, 5, 6, 0, 5000])
async def test_paging_sees_every_article_once_in_order_without_its_body(service, page_size):
    for article_id in ("c", "a", "e", "b", "d"):
        await put(service, article(article_id))
    seen = await pages(service, page_size=page_size)
    assert [*chain(*seen)] == [article(article_id, article_body="") for article_id in "abcde"]
    assert all(len(page) == min(page_size or 50, 5) for page in seen[:-1])


@pytest.mark.parametrize("page_size", [2, 20])
async def test_pages_of_stale_articles_are_full(service, page_size):
    ids = [f"n{number:03}" for number in range(7, 120, 20)]
    for made in [article(f"n{number:03}") for number in range(120)]:
        await put(service, made)
    for article_id in ids:
        await put(service, article(article_id, basis=basis(FEES)))
    seen = await pages(service, page_size=page_size, stale=True)
    assert [each.article_id for each in chain(*seen)] == ids
    assert all(len(page) == page_size for page in seen[:-1])
    assert seen[-1]
    assert all(each.stale for each in chain(*seen))


async def test_a_page_stays_below_what_a_message_may_hold(service):
    large = article_pb2.ArticleClaim(claim="x" * 1_400_000)
    for article_id in "abc":
        await put(service, article(article_id, key_claims=[large]))
    seen = await pages(service)
    assert [[each.article_id for each in page] for page in seen] == [["a", "b"], ["c"]]


async def test_a_removed_article_is_gone(service):
    await put(service, article())
    await remove(service, "fees")
    request = wire.ReadArticleRequest(article_id="fees")
    refused = await refusal(service, service.articles.ReadArticle, request)
    assert refused == ("NOT_FOUND", "ARTICLE_NOT_FOUND", "article_id")
    refused = await refusal(
        service, service.articles.RemoveArticle, wire.RemoveArticleRequest(article_id="fees")
    )
    assert refused == ("NOT_FOUND", "ARTICLE_NOT_FOUND", "article_id")


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (article_pb2.Article(), "article.article_id"),
        (article(" "), "article.article_id"),
        (article(title=""), "article.title"),
        (article(title="\n"), "article.title"),
        (article(sources=[]), "article.sources"),
        (article(article_body="x" * (3 * 1024 * 1024)), "article"),
        (article(compiled_at=Timestamp(seconds=10**12)), "article.compiled_at"),
    ],
)
async def test_bad_articles_are_refused_with_the_field(service, made, field):
    refused = await refusal(service, service.articles.PutArticle, wire.PutArticleRequest(article=made))
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


@pytest.mark.parametrize(
    ("call", "request_", "field"),
    [
        ("ReadArticle", wire.ReadArticleRequest(), "article_id"),
        ("RemoveArticle", wire.RemoveArticleRequest(), "article_id"),
        ("ReadArticles", wire.ReadArticlesRequest(page_size=-1), "page_size"),
        ("ReadArticles", wire.ReadArticlesRequest(page_token="made up"), "page_token"),
        ("FindArticles", wire.FindArticlesRequest(titles=map(str, range(101))), "titles"),
    ],
)
async def test_bad_requests_are_refused_with_the_field(service, call, request_, field):
    refused = await refusal(service, getattr(service.articles, call), request_)
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


async def test_a_token_of_another_list_is_refused(service):
    for article_id in "ab":
        await put(service, article(article_id))
    page = await service.call(service.articles.ReadArticles, wire.ReadArticlesRequest(page_size=1))
    other = wire.ReadArticlesRequest(page_token=page.next_page_token, stale=True)
    assert (await refusal(service, service.articles.ReadArticles, other))[2] == "page_token"


async def test_articles_are_found_by_title_the_one_compiled_last(service):
    await put(service, article("old", title="Late  FEES", compiled_at=Timestamp(seconds=1)))
    await put(service, article("new", title="late fees", compiled_at=Timestamp(seconds=2)))
    await put(service, article("other", title="Audits", compiled_at=Timestamp(seconds=3)))

    request = wire.FindArticlesRequest(titles=["AUDITS", "nothing", " Late\nFees ", "audits", ""])
    found = await service.call(service.articles.FindArticles, request)

    assert [(each.title, each.article_id) for each in found.articles] == [
        ("AUDITS", "other"),
        (" Late\nFees ", "new"),
        ("audits", "other"),
    ]


async def test_articles_are_never_evidence(service):
    described = await service.call(service.index.DescribeIndex, index_service_pb2.DescribeIndexRequest())

    await put(service, article("zebra", title="Zebra stripes", article_body="Zebra stripes are due."))

    found = await service.call(
        service.retrieval.Search, retrieval_service_pb2.SearchRequest(query="zebra stripes", top_k=100)
    )
    assert found.index_revision == described.index_revision
    assert found.keyword.count == 0
    assert not any("Zebra" in each.chunk.text for each in found.candidates)
    assembled = await service.call(
        service.retrieval.AssembleContext, retrieval_service_pb2.AssembleContextRequest(query="zebra stripes")
    )
    assert "Zebra" not in assembled.text
