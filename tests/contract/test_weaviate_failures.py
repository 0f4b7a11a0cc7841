"""Retrieval over real sockets while Weaviate is away, slow, full, of another kind, or fails in the midst."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import grpc
import pytest
import pytest_asyncio
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2, status_pb2

from chassis.errors import ServiceError
from chassis.status import DETAILS_KEY
from clausegate.corpus.v1 import article_pb2
from clausegate.retrieval.v1 import article_store_service_pb2 as articles_wire
from clausegate.retrieval.v1 import document_service_pb2 as documents_wire
from clausegate.retrieval.v1 import index_service_pb2 as index_wire
from clausegate.retrieval.v1 import project_service_pb2 as projects_wire
from clausegate.retrieval.v1 import retrieval_service_pb2 as retrieval_wire
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import StoreUnavailable
from services.retrieval.store.weaviate.connection import Connection, Server
from services.retrieval.store.weaviate.index import Index
from services.retrieval.store.weaviate.schema import LAYOUT, Identity, Names, Storage
from tests.contract.gateway_services import Script
from tests.contract.gateway_services import running as gateway
from tests.contract.retrieval_index import Text
from tests.contract.store import weaviate_server
from tests.contract.traces import kept_spans
from tests.contract.weaviate_behind import RETRIEVAL, running_on, started_on, wired, within_patience
from tests.fakes.weaviate_behaviours import Fails, Garbage, RejectsObjects
from tests.fakes.weaviate_server import WeaviateServer

OLD = Text("cme/fees.txt", ["The fee is 400 dollars.", "It is due monthly.", "“Fee” means it."], [("Fee", 2)])
NEW = Text(
    "cme/fees.txt", ["The fee is 500 dollars.", "It is due weekly.", "“Fee” means that."], [("Fee", 2)]
)
ARTICLE = article_pb2.Article(
    article_id="fees",
    title="Fees",
    summary="What is due.",
    article_body="# Fees",
    sources=["cme"],
    basis=[article_pb2.ArticleBasis(document_id=OLD.document_id, generation=OLD.generation)],
    compiled_at=Timestamp(seconds=1_750_000_000),
)
OTHER = Text("opra/rules.txt", ["Rules apply to a subscriber.", "A fee is not due."])


@pytest.fixture
def folder(socket_dirs):
    return socket_dirs()


@asynccontextmanager
async def on_fake():
    with WeaviateServer() as server:
        async with wired(server.url, server.grpc_url) as weaviate:
            yield weaviate


@asynccontextmanager
async def on_real():
    async with wired(weaviate_server.URL, weaviate_server.GRPC_URL, weaviate_server.API_KEY) as weaviate:
        yield weaviate
    weaviate_server.drop_collections(weaviate.prefix)


SERVERS = [pytest.param(on_fake, id="fake")]
if weaviate_server.URL:
    SERVERS.append(pytest.param(on_real, id="real", marks=pytest.mark.weaviate))


@pytest.fixture(params=SERVERS)
async def weaviate(request):
    """Behind wires, without anything of ours."""
    async with request.param() as weaviate:
        yield weaviate


def told(failure):
    """Code, reason and seconds to wait, as a caller reads them."""
    status = status_pb2.Status.FromString(dict(tuple(failure.trailing_metadata()))[DETAILS_KEY])
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(retry)
    return failure.code().name, info.reason, retry.retry_delay.ToTimedelta().total_seconds()


async def refusal(awaited):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await within_patience(awaited)
    return refused.value


async def search(running, query="fee", **how):
    response = await running.service.retrieval.Search(retrieval_wire.SearchRequest(query=query), **how)
    return sorted(candidate.chunk.text for candidate in response.candidates)


async def stored(running):
    """What the index says it holds, and what a search finds of it."""
    described = await running.service.index.DescribeIndex(index_wire.DescribeIndexRequest())
    return described.document_count, described.chunk_count, described.definition_count, await search(running)


def holds(*texts):
    """`stored` of exactly these documents."""
    paragraphs = sorted(paragraph for text in texts for paragraph in text.paragraphs)
    return len(texts), len(paragraphs), sum(len(text.terms) for text in texts), paragraphs


# A server that is away -----------------------------------------------------------------------------------

CALLS = {
    "Search": ("retrieval", retrieval_wire.SearchRequest(query="fee")),
    "FindDefinitions": ("retrieval", retrieval_wire.FindDefinitionsRequest(terms=["fee"])),
    "GetChunks": ("retrieval", retrieval_wire.GetChunksRequest(chunk_ids=[OLD.chunk_id(0)])),
    "ListChunks": ("retrieval", retrieval_wire.ListChunksRequest(document_id=OLD.document_id)),
    "AssembleContext": ("retrieval", retrieval_wire.AssembleContextRequest(query="fee")),
    "CountTerms": ("retrieval", retrieval_wire.CountTermsRequest(terms=["fee"])),
    "GetDocument": ("documents", documents_wire.GetDocumentRequest(document_id=OLD.document_id)),
    "ListDocuments": ("documents", documents_wire.ListDocumentsRequest()),
    "ListSources": ("documents", documents_wire.ListSourcesRequest()),
    "RemoveDocument": ("index", index_wire.RemoveDocumentRequest(document_id=OLD.document_id)),
    "DescribeIndex": ("index", index_wire.DescribeIndexRequest()),
    "CreateProject": ("projects", projects_wire.CreateProjectRequest(project_id="fees", sources=["cme"])),
    "GetProject": ("projects", projects_wire.GetProjectRequest(project_id="fees")),
    "ListProjects": ("projects", projects_wire.ListProjectsRequest()),
    "UpdateProject": ("projects", projects_wire.UpdateProjectRequest(project_id="fees", sources=["cme"])),
    "DeleteProject": ("projects", projects_wire.DeleteProjectRequest(project_id="fees")),
    "PutArticle": ("articles", articles_wire.PutArticleRequest(article=ARTICLE)),
    "ReadArticle": ("articles", articles_wire.ReadArticleRequest(article_id="fees")),
    "ReadArticles": ("articles", articles_wire.ReadArticlesRequest()),
    "RemoveArticle": ("articles", articles_wire.RemoveArticleRequest(article_id="fees")),
    "FindArticles": ("articles", articles_wire.FindArticlesRequest(titles=["Fees"])),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def without(socket_dirs):
    """A service that was started while nothing listened."""
    async with on_fake() as weaviate:
        await weaviate.cut()
        async with started_on(weaviate, socket_dirs()) as running:
            yield running


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", CALLS)
async def test_every_call_says_that_the_server_is_away_and_when_to_ask_again(without, name):
    area, request = CALLS[name]
    refused = await refusal(getattr(getattr(without.service, area), name)(request))

    assert told(refused) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", 2)
    assert refused.details() == "Weaviate does not answer."


@pytest.mark.asyncio(loop_scope="module")
async def test_so_does_a_replace(without):
    refused = await refusal(anext(aiter(without.service.index.ReplaceDocument(iter(OLD.requests())))))

    assert told(refused) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", 2)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", [RETRIEVAL, ""])
async def test_a_service_started_without_the_server_is_not_serving(without, name):
    assert await without.status(name) == "NOT_SERVING"


async def test_a_service_started_without_the_server_serves_when_it_comes(weaviate, folder):
    await weaviate.cut()
    async with started_on(weaviate, folder) as running:
        await weaviate.mend()
        await running.becomes("SERVING")
        await running.service.put(OLD)

        assert await stored(running) == holds(OLD)


async def test_a_search_under_way_fails_when_the_server_is_lost_and_works_when_it_is_back(weaviate, folder):
    async with running_on(weaviate, folder, weaviate_read_seconds=300) as running:
        await running.service.put(OLD)
        weaviate.hold()
        searching = asyncio.create_task(refusal(search(running)))
        done, _ = await asyncio.wait([searching], timeout=0.2)
        await weaviate.cut()

        assert not done
        assert told(await searching)[:2] == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        await running.becomes("NOT_SERVING")

        await weaviate.mend()
        await running.becomes("SERVING")
        assert await stored(running) == holds(OLD)


async def test_a_replace_that_loses_the_server_shows_the_old_version_and_can_be_repeated(weaviate, folder):
    async with running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        await running.service.put(OTHER)
        replacing = running.service.index.ReplaceDocument()
        for part in NEW.requests()[:-1]:
            await replacing.write(part)
        assert (await replacing.read()).stored.count == 3
        await weaviate.cut()
        await replacing.write(NEW.commit())
        refused = await refusal(replacing.read())

        assert told(refused)[:2] == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        await running.becomes("NOT_SERVING")
        await weaviate.mend()
        await running.becomes("SERVING")
        assert await stored(running) == holds(OLD, OTHER)
        assert (await running.service.put(NEW)).replaced
        assert await stored(running) == holds(NEW, OTHER)


# A server that is slow -----------------------------------------------------------------------------------


async def test_a_callers_deadline_passes_while_the_server_is_slow(weaviate, folder):
    async with running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        weaviate.grpc.hold()
        refused = await refusal(search(running, timeout=0.5))
        weaviate.grpc.release()

        assert refused.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert await running.status() == "SERVING"
        assert await stored(running) == holds(OLD)


async def test_our_limit_passes_while_the_server_is_slow(weaviate, folder):
    async with running_on(weaviate, folder, weaviate_read_seconds=0.5) as running:
        weaviate.grpc.hold()
        refused = await refusal(search(running, timeout=300))
        weaviate.grpc.release()

        assert told(refused) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", 2)


async def test_a_server_that_is_ready_and_answers_no_call_makes_the_service_unready(weaviate, folder):
    async with running_on(weaviate, folder) as running:
        await running.service.put(OLD)
    async with running_on(weaviate, folder, weaviate_read_seconds=0.5) as running:
        weaviate.grpc.hold()
        while await running.status() == "SERVING":
            await refusal(search(running))
        weaviate.grpc.release()

        await running.becomes("SERVING")


# A server that refuses -----------------------------------------------------------------------------------


@pytest.fixture
def fake():
    with WeaviateServer() as server:
        yield server


async def put_refused(running, text):
    call = running.service.index.ReplaceDocument(iter(text.requests()))

    async def all_of_it():
        async for _ in call:
            pass

    return await refusal(all_of_it())


READ_ONLY = "store is read-only due to: resource pressure"
"""What a real one says of every object, over gRPC, when its disk is fuller than its limit."""


@pytest.mark.parametrize("failure", [RejectsObjects(READ_ONLY), Fails(READ_ONLY)], ids=["objects", "calls"])
async def test_a_full_disk_is_told_while_searches_go_on(fake, folder, failure):
    async with wired(fake.url, fake.grpc_url) as weaviate, running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        fake.always("BatchObjects", failure)
        refused = await put_refused(running, NEW)

        assert told(refused) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", 30)
        assert refused.details().startswith("Weaviate takes no writes")
        assert await running.status() == "SERVING"
        assert await stored(running) == holds(OLD)

        fake.always("BatchObjects", None)
        await running.service.put(NEW)
        assert await stored(running) == holds(NEW)


async def test_half_a_batch_that_is_rejected_is_invisible_and_repeated(fake, folder):
    async with wired(fake.url, fake.grpc_url) as weaviate, running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        fake.always("BatchObjects", RejectsObjects("out of luck", every=2))
        refused = await put_refused(running, NEW)
        fake.always("BatchObjects", None)

        assert "out of luck" not in refused.details()
        assert await stored(running) == holds(OLD)
        await running.service.put(NEW)
        assert await stored(running) == holds(NEW)


@pytest.mark.parametrize("garbled", ["Search", "Aggregate", "BatchObjects"])
async def test_an_answer_that_nobody_can_read_is_a_failure_that_shows_nothing_of_it(fake, folder, garbled):
    async with wired(fake.url, fake.grpc_url) as weaviate, running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        fake.always(garbled, Garbage())
        refused = await put_refused(running, NEW)
        fake.always(garbled, None)

        assert told(refused)[:2] == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        assert "Sign in" not in refused.details()
        assert await stored(running) == holds(OLD)


async def starts(weaviate, folder, **more):
    """The error that keeps the service from starting."""
    with pytest.raises(ServiceError) as refused:
        async with started_on(weaviate, folder, **more):
            pass
    return refused.value


async def made_by(weaviate, identity):
    """Make an index with this identity the current one, as another process does."""
    settings = RetrievalSettings(**weaviate.settings)
    where = Server(settings.weaviate_url, settings.weaviate_grpc_url, settings.weaviate_key(), 10, 30)
    connection = Connection(where)
    await connection.open(Index(Names(weaviate.prefix, identity), Storage(1, "none")).open)
    await connection.close()


OTHER_INDEXES = {
    "another model": (Identity(LAYOUT, "other-model", 8), "EMBEDDING_MODEL_MISMATCH", "other-model (8 dimen"),
    "another layout": (Identity(LAYOUT + 1, "m", 8), "UPSTREAM_UNAVAILABLE", f"layout {LAYOUT + 1}"),
}


@pytest.mark.parametrize(("identity", "reason", "says"), OTHER_INDEXES.values(), ids=OTHER_INDEXES)
async def test_an_index_of_another_make_is_told_at_start(weaviate, folder, identity, reason, says):
    await made_by(weaviate, identity)
    refused = await starts(weaviate, folder)

    assert refused.reason == reason
    assert says in refused.message
    assert "clausegate reindex" in refused.message


@pytest.mark.parametrize(("identity", "reason", "says"), OTHER_INDEXES.values(), ids=OTHER_INDEXES)
async def test_an_index_of_another_make_that_comes_later_keeps_the_service_unready_and_every_call_says_why(
    weaviate, folder, identity, reason, says
):
    await made_by(weaviate, identity)
    await weaviate.cut()
    async with started_on(weaviate, folder) as running:
        await weaviate.mend()

        async def why():
            while says not in (refused := await refusal(search(running))).details():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            return refused

        assert told(await within_patience(why()))[1:] == (reason, 0)
        assert await running.status() == "NOT_SERVING"


async def test_a_wrong_key_is_told_at_start_with_the_settings_that_hold_it(folder):
    with WeaviateServer(key="right") as server:
        async with wired(server.url, server.grpc_url, "wrong") as weaviate:
            refused = await starts(weaviate, folder)

    assert "CLAUSEGATE_WEAVIATE_API_KEY_FILE" in refused.message
    assert "wrong" not in refused.message


async def test_the_key_may_be_in_a_file(folder):
    (folder / "key").write_text("right\n")
    with WeaviateServer(key="right") as server:
        async with (
            wired(server.url, server.grpc_url) as weaviate,
            running_on(weaviate, folder, weaviate_api_key_file=folder / "key") as running,
        ):
            await running.service.put(OLD)
            assert await stored(running) == holds(OLD)


# Who asks, and who watches -------------------------------------------------------------------------------


async def test_an_index_that_is_gone_is_told_until_it_is_restored(fake, folder):
    async with wired(fake.url, fake.grpc_url) as weaviate, running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        kept, fake.database = fake.database, type(fake.database)()
        await weaviate.cut()
        await running.becomes("NOT_SERVING")
        await weaviate.mend()
        while "is gone from Weaviate" not in (refused := await refusal(search(running))).details():
            assert told(refused)[:2] == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        assert await running.status() == "NOT_SERVING"
        assert not fake.database.collections

        fake.database = kept
        await running.becomes("SERVING")
        assert await stored(running) == holds(OLD)


async def test_a_process_that_starts_on_an_empty_server_begins_a_new_index(fake, folder):
    async with wired(fake.url, fake.grpc_url) as weaviate:
        async with running_on(weaviate, folder) as running:
            await running.service.put(OLD)
        fake.database = type(fake.database)()
        async with running_on(weaviate, folder) as running:
            await running.service.put(NEW)
            assert await stored(running) == holds(NEW)


async def test_an_alias_of_an_index_that_is_gone_is_told_at_start(fake, folder):
    async with wired(fake.url, fake.grpc_url) as weaviate:
        async with running_on(weaviate, folder) as running:
            await running.service.put(OLD)
        fake.database.collections.clear()
        with pytest.raises(StoreUnavailable, match=r"points to .*, which is gone from Weaviate"):
            async with started_on(weaviate, folder):
                pass


@pytest.fixture
def spans():
    with kept_spans() as spans:
        yield spans


async def test_the_calls_of_weaviate_for_a_search_are_in_its_trace(weaviate, folder, spans):
    async with running_on(weaviate, folder) as running:
        await running.service.put(OLD)
        await search(running)
        spans.clear()
        await search(running)
    finished = spans.get_finished_spans()
    calls = [span for span in finished if span.name.startswith("weaviate ")]
    here = {span.context.span_id for span in finished}
    (searched,) = [span for span in finished if span.name == f"{RETRIEVAL}/Search"]

    assert calls
    assert {span.context.trace_id for span in calls} == {searched.context.trace_id}
    assert {span.parent.span_id for span in calls} <= here
    assert {span.attributes["db.system.name"] for span in calls} == {"weaviate"}
    assert "weaviate vector search" in {span.name for span in calls}


async def test_the_gateway_is_not_ready_and_names_retrieval_while_weaviate_is_away(weaviate, folder):
    async with (
        running_on(weaviate, folder) as running,
        gateway(Script(), retrieval_address=running.address) as client,
    ):
        before = await client.get("/readyz")
        await weaviate.cut()
        await running.becomes("NOT_SERVING")
        away = await client.get("/readyz")
        await weaviate.mend()
        await running.becomes("SERVING")
        after = await client.get("/readyz")

    assert (before.status_code, away.status_code, after.status_code) == (200, 503, 200)
    assert away.json()["services"][RETRIEVAL] == "NOT_SERVING"
    assert away.json()["services"]["clausegate.answer.v1.QueryService"] == "SERVING"
