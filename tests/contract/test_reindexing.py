"""Another embedding model for an index that is in use: on embedded stores, and on Weaviate."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chassis.errors import ServiceError
from clausegate.retrieval.v1.document_service_pb2 import GetDocumentRequest
from clausegate.retrieval.v1.index_service_pb2 import RemoveDocumentRequest
from clausegate.retrieval.v1.retrieval_service_pb2 import SearchRequest
from corpus.documents import DocumentId
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from services.retrieval.reindex import Outcome, StillCurrent, run
from services.retrieval.reindexing import CONCURRENT_DOCUMENTS
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.embedded.reindexing import NoIndex
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import EmbeddingModelMismatch, Store, StoreUnavailable
from services.retrieval.store.weaviate.index import Index
from services.retrieval.store.weaviate.store import WeaviateStore
from services.retrieval.store.weaviate.stores import parts_of
from services.retrieval.wiring import changeover
from tests.contract.retrieval_index import Service, Text, running
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import DIMENSION, MEMORY, Draft, put
from tests.e2e.processes import ROOT, environment
from tests.fakes.behaviours import Hangs, Vectors, Waits
from tests.fakes.model_server import ModelServer
from tests.fakes.weaviate_server import WeaviateServer
from tests.fakes.wire import Request

ALL = Scope()
MOMENT = datetime(2024, 2, 29, 12, tzinfo=UTC)
FEES = Draft("cme/fees.txt", ["Fees are due.\nLate fees accrue.", "Taxes are extra."], terms=["Fee", "Tax"])
TERMS = Draft("opra/terms.txt", ["Notices are sent by mail."], headings=("1. Notices",), pages=1)
LAW = Draft("opra/law.txt", ["The laws of Ireland govern."])
NEW_FEES = Draft("cme/fees.txt", ["Fees are waived."], generation="g2")
NOTICE = Text("cme/notice.txt", ["The terms of this notice apply.", "Fees are due."])
NEW_NOTICE = Text("cme/notice.txt", ["The terms of this notice apply from May."])
RULES = Text("opra/rules.txt", ["The terms of these rules apply."], terms=[("Rules", 0)])
LATE = Text("opra/late.txt", ["The terms of this late notice apply."])
PROJECT = Project(ProjectId("terms"), "Terms", ("opra",), MOMENT, MOMENT)
ARTICLE = Article(ArticleId("a"), "Fees", ALL, frozenset({FEES.version}), MOMENT, b"\0record", "# Body")


@dataclass(frozen=True)
class Site:
    """A place for indexes, and a model server with two models: `model` and `other`."""

    place: dict[str, object]
    models: ModelServer

    def settings(self, model: str = "other", dimension: int = 48) -> RetrievalSettings:
        """Of a process with one of the models."""
        return RetrievalSettings(
            OPENAI_BASE_URL=self.models.url,
            embedding_model=model,
            embedding_dimension=dimension,
            **self.place,
        )

    @property
    def old(self) -> RetrievalSettings:
        return self.settings("model", DIMENSION)

    @property
    def environment(self) -> dict[str, str]:
        """Of a process with the model `other`."""
        own = {f"CLAUSEGATE_{name.upper()}": str(value) for name, value in self.place.items()}
        model = {"CLAUSEGATE_EMBEDDING_MODEL": "other", "CLAUSEGATE_EMBEDDING_DIMENSION": "48"}
        return environment({**own, **model, "OPENAI_BASE_URL": self.models.url})

    @asynccontextmanager
    async def store(self, settings: RetrievalSettings, tenant: str = "default") -> AsyncIterator[Store]:
        """The store of a tenant as a process with these settings sees it."""
        name, dimension = settings.embedding_model, settings.embedding_dimension
        if settings.store == "weaviate":
            stores = await weaviate_server.opened(settings, name, dimension)
        else:
            stores = EmbeddedStores(settings.data_dir / "index", name, dimension)
        try:
            yield await stores.for_tenant(tenant)
        finally:
            await stores.close()

    async def reindex(self, settings: RetrievalSettings | None = None, *, drop_old: bool = False):
        return await run(settings or self.settings(), drop_old=drop_old, say=print)


def vectors_for(request: Request) -> Vectors:
    return Vectors(dimensions={"model": DIMENSION, "other": 48}[request.body["model"]])


def is_of_other(request: Request) -> bool:
    return request.body["model"] == "other"


async def until(condition, seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def put_other(store: Store, draft: Draft) -> None:
    """Put a document into an index of `other`."""
    shorter = [replace(each, vectors=_shorter(each.vectors)) for each in draft.chunks]
    await store.put_chunks(draft.version, shorter)
    if draft.definitions:
        await store.put_definitions(draft.version, draft.definitions)
    await store.commit(draft.document)


def _shorter(vectors):
    return vectors[:, :48] / np.linalg.norm(vectors[:, :48], axis=1, keepdims=True)


def embedded(folder: Path, stack: ExitStack) -> dict[str, object]:
    return {"store": "embedded", "data_dir": folder}


def weaviate_fake(folder: Path, stack: ExitStack) -> dict[str, object]:
    server = stack.enter_context(WeaviateServer())
    where = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
    return {"store": "weaviate", **where, **weaviate_server.PATIENT}


def weaviate(folder: Path, stack: ExitStack) -> dict[str, object]:
    prefix = f"Suite{folder.stat().st_ino}"
    stack.callback(weaviate_server.drop_collections, prefix)
    at = weaviate_server.settings(prefix)
    return {
        "store": "weaviate",
        "weaviate_url": at.weaviate_url,
        "weaviate_grpc_url": at.weaviate_grpc_url,
        "weaviate_prefix": prefix,
    }


WEAVIATES = [pytest.param(weaviate_fake, id="weaviate-fake")]
if weaviate_server.URL:
    WEAVIATES.append(pytest.param(weaviate, id="weaviate", marks=pytest.mark.weaviate))
ENGINES = [pytest.param(embedded, id="embedded"), *WEAVIATES]


@pytest.fixture
async def site(request, tmp_path):
    """An engine with no index."""
    with ExitStack() as stack:
        async with ModelServer() as models:
            models.respond = vectors_for
            yield Site(request.param(tmp_path, stack), models)


on_each_engine = pytest.mark.parametrize("site", ENGINES, indirect=True)
on_weaviate = pytest.mark.parametrize("site", WEAVIATES, indirect=True)
on_files = pytest.mark.parametrize("site", ENGINES[:1], indirect=True)


async def versions(store: Store):
    return [document.version for document in await store.documents(ALL, None, 100)]


async def shown(store: Store):
    """All that an index shows but for the vectors."""
    documents = await store.documents(ALL, None, 100)
    chunks = [await store.chunks_of(each.version.document_id, None, 100) for each in documents]
    definitions = await store.definitions(await store.defined_terms(ALL), ALL)
    hits = {hit.chunk_id for hit in await store.keyword_hits(["fee"], 100, ALL)}
    return documents, chunks, definitions, hits, await store.sources(), await store.coverage(ALL)


@on_each_engine
async def test_everything_but_the_vectors_stays_what_it_was(site):
    async with site.store(site.old) as store:
        for draft in (FEES, TERMS, LAW):
            await put(store, draft)
        await store.records.create_project(PROJECT)
        await store.records.put_article(ARTICLE)
        before = await shown(store)

    outcome = await site.reindex()

    async with site.store(site.settings()) as store:
        assert await shown(store) == before
        assert (await store.embedded_chunks(FEES.ids))[FEES.ids[0]].vectors.shape[1] == 48
        assert await store.records.project(PROJECT.project_id) == PROJECT
        assert await store.records.article(ARTICLE.article_id) == ARTICLE
        assert (await store.counts()).windows == len(await windows_of(store, FEES, TERMS, LAW))
    assert (outcome.summary.documents, outcome.summary.chunks, outcome.summary.tenants) == (3, 4, 1)
    assert str(outcome).startswith(
        "the index is that of other (48 dimensions) now, and no longer that of model"
    )


async def windows_of(store: Store, *drafts: Draft):
    found = await store.embedded_chunks([each for draft in drafts for each in draft.ids])
    return [window for each in found.values() for window in each.windows]


@on_each_engine
async def test_each_tenant_keeps_its_own(site):
    async with site.store(site.old) as first, site.store(site.old, "second") as second:
        await put(first, FEES)
        await put(second, TERMS)

    assert (await site.reindex()).summary.tenants == 2

    async with site.store(site.settings()) as first, site.store(site.settings(), "second") as second:
        assert await versions(first) == [FEES.version]
        assert await versions(second) == [TERMS.version]


@on_each_engine
async def test_there_is_nothing_to_do_for_the_model_of_the_index(site):
    async with site.store(site.old) as store:
        await put(store, FEES)

    outcome = await site.reindex(site.old)

    assert str(outcome) == f"nothing to do: there is no index but that of model ({DIMENSION} dimensions)"
    assert site.models.requests == []


@on_weaviate
async def test_there_is_nothing_to_do_without_an_index(site):
    assert (await site.reindex()).replaced == ()


@on_files
@pytest.mark.parametrize("drop_old", [False, True])
async def test_a_folder_without_an_index_is_named(site, drop_old):
    with pytest.raises(NoIndex, match=f"there is no index in {site.place['data_dir']}/index"):
        await site.reindex(drop_old=drop_old)


@on_each_engine
async def test_an_index_can_go_back_to_its_old_model(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
    await site.reindex()
    async with site.store(site.settings()) as store:
        await put_other(store, NEW_FEES)
        await put_other(store, TERMS)
        await put_other(store, LAW)
        await store.remove(LAW.version.document_id)

    await site.reindex(site.old)

    async with site.store(site.old) as store:
        assert await versions(store) == [NEW_FEES.version, TERMS.version]
        assert (await store.counts()).chunks == 2


@on_each_engine
async def test_a_process_of_the_new_model_is_told_how_to_begin(site):
    async with site.store(site.old):
        pass
    with pytest.raises(EmbeddingModelMismatch, match=r"made with model \(96 dim.*run `clausegate reindex`"):
        async with site.store(site.settings()):
            pass


# On Weaviate, in use --------------------------------------------------------------------------------------


def service(site: Site, settings: RetrievalSettings, folder: Path, sockets: Path):
    """A whole retrieval service with these settings."""
    more = {"embedding_model": settings.embedding_model, "embedding_dimension": settings.embedding_dimension}
    return running(folder, sockets, OPENAI_BASE_URL=site.models.url, **more, **site.place)


async def found(service: Service, query: str) -> set[str]:
    request = SearchRequest(query=query)
    response = await service.call(service.retrieval.Search, request)
    return {candidate.chunk.document_id for candidate in response.candidates}


async def asked_until(service: Service, done: asyncio.Event) -> list[set[str]]:
    answers = []
    while not done.is_set():
        answers.append(await found(service, "terms of the notice"))
    return answers


@on_weaviate
async def test_questions_are_answered_and_documents_written_until_the_swap(site, tmp_path, socket_dirs):
    go_on, done = asyncio.Event(), asyncio.Event()
    async with service(site, site.old, tmp_path, socket_dirs()) as old:
        await old.put(NOTICE)
        await old.put(RULES)
        site.models.respond = lambda request: (
            Waits(vectors_for(request), go_on) if is_of_other(request) else vectors_for(request)
        )
        asking = asyncio.create_task(asked_until(old, done))
        changing = asyncio.create_task(site.reindex())
        await until(lambda: any(map(is_of_other, site.models.requests)))

        await old.put(NEW_NOTICE)
        await old.put(LATE)
        await old.call(old.index.RemoveDocument, RemoveDocumentRequest(document_id=RULES.document_id))
        go_on.set()
        await changing

        with pytest.raises(ServiceError) as refused:
            await old.put(RULES)
        assert refused.value.reason == "EMBEDDING_MODEL_MISMATCH"
        assert "made anew with other (48 dimensions)" in refused.value.message
        assert "restart it with the new model's settings" in refused.value.message
        assert await found(old, "terms of the notice") == {NOTICE.document_id, LATE.document_id}
        done.set()
        assert all(await asking)
    async with service(site, site.settings(), tmp_path, socket_dirs()) as new:
        assert await found(new, "terms of the notice") == {NOTICE.document_id, LATE.document_id}
        document = await new.call(
            new.documents.GetDocument, GetDocumentRequest(document_id=NOTICE.document_id)
        )
        assert document.document.generation == NEW_NOTICE.generation
        await new.put(RULES)


@on_weaviate
async def test_a_removal_is_refused_after_the_swap(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
        await site.reindex()

        with pytest.raises(EmbeddingModelMismatch):
            await store.remove(FEES.version.document_id)

        assert await versions(store) == [FEES.version]


@on_weaviate
async def test_writes_are_held_for_the_last_round_and_a_run_may_be_given_up(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
        async with changeover(site.settings()) as (opened, _):
            await opened.open()
            await opened.hold_writes()

        with pytest.raises(StoreUnavailable, match="run it again") as refused:
            await put(store, TERMS)
        assert refused.value.retry_after_seconds
        assert await versions(store) == [FEES.version]

        await site.reindex(site.old)
        await put(store, TERMS)


@on_weaviate
async def test_a_run_that_ended_while_it_held_writes_is_completed_by_the_next(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
    async with changeover(site.settings()) as (opened, _):
        await opened.open()
        await opened.hold_writes()

    await site.reindex()

    async with site.store(site.settings()) as store:
        await put_other(store, TERMS)


@on_weaviate
async def test_a_write_that_the_last_round_overtakes_is_not_acknowledged(site):
    connection, names, storage = parts_of(site.old, "model", DIMENSION)
    index, checks = Index(names, storage), []

    async def check() -> None:
        async with connection.reading("read aliases") as client:
            await index.check_writable(client)
        checks.append(True)
        if len(checks) == 3:  # of the two batches, and of the commit before it flips
            await opened.hold_writes()

    await connection.open(index.open)
    async with changeover(site.settings()) as (opened, _):
        await opened.open()
        async with site.store(site.old) as store:
            await put(store, TERMS)
        overtaken = WeaviateStore(connection, names, "default", lambda: MOMENT, check)
        with pytest.raises(StoreUnavailable, match="try again"):
            await put(overtaken, FEES)
        assert len(checks) == 3
    await connection.close()


@on_weaviate
async def test_old_collections_are_dropped_only_when_they_are_not_the_index(site):
    async with site.store(site.old) as store:
        await put(store, FEES)

        with pytest.raises(StillCurrent, match=r"index of now is that of model \(96 dimensions\)"):
            await site.reindex(drop_old=True)
        assert await versions(store) == [FEES.version]

        await site.reindex()
        dropped = await site.reindex(drop_old=True)

        assert len(dropped.dropped) == 5
        assert str(dropped).startswith("dropped ")
        assert (await site.reindex(drop_old=True)).dropped == []
        with pytest.raises(ServiceError):
            await versions(store)
    async with site.store(site.settings()) as store:
        assert await versions(store) == [FEES.version]
        assert await store.records.projects(None, 9) == ()


@pytest.mark.soak
@on_weaviate
async def test_two_runs_at_once_end_with_one_index(site):
    async with site.store(site.old) as store:
        for number in range(12):
            await put(store, Draft(f"cme/{number}.txt", [f"Clause {number}."]))

    ends = await asyncio.gather(site.reindex(), site.reindex(), return_exceptions=True)

    assert any(isinstance(end, Outcome) for end in ends)
    assert all(isinstance(end, Outcome | ServiceError) for end in ends)
    await site.reindex()
    async with site.store(site.settings()) as store:
        assert len(await versions(store)) == 12
        await put_other(store, FEES)


async def test_a_process_of_the_old_model_outlives_a_restart_of_weaviate():
    with WeaviateServer() as server:
        at = {"store": "weaviate", "weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
        async with ModelServer() as models:
            models.respond = vectors_for
            site = Site(at, models)
            stores = await weaviate_server.opened(site.old)
            store = await stores.for_tenant("default")
            await put(store, FEES)
            await site.reindex()

            server.stop()
            await until(lambda: not stores.readiness.ready)
            server.start()
            await until(lambda: stores.readiness.ready)

            assert await versions(store) == [FEES.version]
            with pytest.raises(EmbeddingModelMismatch):
                await put(store, TERMS)
            await stores.close()


async def test_a_server_that_is_away_is_named(free_port, tmp_path):
    nowhere = {"weaviate_url": f"http://127.0.0.1:{free_port()}"}
    async with ModelServer() as models:
        site = Site({"store": "weaviate", **nowhere}, models)
        with pytest.raises(StoreUnavailable, match="Weaviate does not answer"):
            await site.reindex()


# Interrupted ----------------------------------------------------------------------------------------------


@on_each_engine
async def test_a_run_that_was_killed_goes_on_where_it_was(site):
    async with site.store(site.old) as store:
        for number in range(12):
            await put(store, Draft(f"cme/{number:02}.txt", [f"Clause {number}.", f"Fee {number}."]))
    answered = []
    site.models.respond = lambda request: (
        answered.append(request) or vectors_for(request) if len(answered) < 7 else Hangs()
    )
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.retrieval.reindex", env=site.environment, cwd=ROOT
    )
    await until(lambda: len(site.models.requests) == 7 + CONCURRENT_DOCUMENTS)
    killed.kill()
    await killed.wait()
    site.models.forget()
    site.models.respond = vectors_for
    async with site.store(site.old) as store:
        await put(store, Draft("cme/00.txt", ["Clause 0."], generation="g2"))
        await store.remove(DocumentId("cme/11.txt"))
        await put(store, FEES)
        before = await shown(store)

    outcome = await site.reindex()

    async with site.store(site.settings()) as store:
        assert await shown(store) == before
    # At least seven were settled; of these one was replaced.
    assert outcome.summary.documents <= 12 - 7 + 1 + 1
    assert len({text for request in site.models.requests for text in request.body["input"]}) <= 2 * 6


@on_each_engine
async def test_a_model_that_fails_leaves_the_old_index_as_it_was(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
        await put(store, TERMS)
    site.models.respond = lambda request: Vectors(dimensions=47)

    with pytest.raises(ServiceError, match="CLAUSEGATE_EMBEDDING_DIMENSION"):
        await site.reindex()

    async with site.store(site.old) as store:
        assert await versions(store) == [FEES.version, TERMS.version]
        await put(store, LAW)


@on_each_engine
async def test_what_was_filled_for_a_third_model_is_not_used(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
        await put(store, TERMS)
    site.models.respond = lambda request: Vectors(dimensions=47)
    with pytest.raises(ServiceError):
        await site.reindex()
    site.models.respond = lambda request: Vectors(dimensions=32)

    await site.reindex(site.settings("third", 32))

    async with site.store(site.settings("third", 32)) as store:
        assert await versions(store) == [FEES.version, TERMS.version]
        assert (await store.embedded_chunks(FEES.ids))[FEES.ids[0]].vectors.shape[1] == 32


# On files -------------------------------------------------------------------------------------------------


@on_files
async def test_an_index_that_is_in_use_is_left_alone(site):
    async with site.store(site.old) as store:
        await put(store, FEES)
        with pytest.raises(StoreUnavailable, match="another process has the index"):
            await site.reindex()


@on_files
async def test_a_crash_after_the_swap_loses_nothing(site, tmp_path):
    async with site.store(site.old) as store:
        await put(store, FEES)
    await site.reindex()
    folder = tmp_path / "index" / "default"
    (folder / "next").mkdir()
    (keywords,) = folder.glob("keywords-*")
    keywords.rename(folder / "next" / keywords.name)

    assert (await site.reindex()).replaced == ()

    assert sorted(file.name for file in folder.iterdir()) == ["lock", "store.sqlite"]
    async with site.store(site.settings()) as store:
        assert {hit.chunk_id for hit in await store.keyword_hits(["fee"], 9, ALL)} == {FEES.ids[0]}


@on_files
async def test_a_crash_between_two_tenants_is_made_good_by_the_next_run(site, tmp_path):
    async with site.store(site.old) as first, site.store(site.old, "second") as second:
        await put(first, FEES)
        await put(second, TERMS)
    shutil.move(tmp_path / "index" / "second", tmp_path / "second")
    await site.reindex()
    shutil.move(tmp_path / "second", tmp_path / "index" / "second")

    assert (await site.reindex()).summary.tenants == 1

    async with site.store(site.settings(), "second") as second:
        assert await versions(second) == [TERMS.version]


@on_files
async def test_records_that_an_interrupted_run_copied_are_not_kept(site, tmp_path):
    async with site.store(site.old) as store:
        await store.records.create_project(PROJECT)
        await store.records.put_article(ARTICLE)
    shutil.copytree(tmp_path / "index" / "default", tmp_path / "before")
    await site.reindex()
    shutil.move(tmp_path / "index" / "default", tmp_path / "before" / "next")
    shutil.move(tmp_path / "before", tmp_path / "index" / "default")
    later = replace(PROJECT, display_name="Later")
    async with site.store(site.old) as store:
        await store.records.update_project(later)
        await store.records.delete_article(ARTICLE.article_id)

    await site.reindex()

    async with site.store(site.settings()) as store:
        assert await store.records.projects(None, 9) == (later,)
        assert await store.records.articles(None, 9) == ()


@on_files
async def test_what_was_filled_and_given_up_is_dropped_on_request(site, tmp_path):
    async with site.store(site.old) as store:
        await put(store, FEES)
    site.models.respond = lambda request: Vectors(dimensions=47)
    with pytest.raises(ServiceError):
        await site.reindex()
    filled = tmp_path / "index" / "default" / "next"

    assert (await site.reindex(site.old)).dropped == ()
    assert filled.exists()
    assert (await site.reindex(site.old, drop_old=True)).dropped == [str(filled)]
    assert not filled.exists()
    assert str(await site.reindex(site.old, drop_old=True)).startswith("nothing to do")


# In any order ---------------------------------------------------------------------------------------------

IDS = ("cme/a.txt", "cme/b.txt", "opra/c.txt")
WRITES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(IDS), st.sampled_from(("g1", "g2", "g3"))),
    st.tuples(st.just("remove"), st.sampled_from(IDS), st.just("")),
    st.tuples(st.just("broken run"), st.integers(0, 3), st.just("")),
)


async def write(store: Store, action: str, document_id: str, generation: str) -> None:
    if action == "remove":
        await store.remove(DocumentId(document_id))
    else:
        texts = [f"Fee of {generation}.", f"Clause of {document_id}."]
        await put(store, Draft(document_id, texts, generation=generation, terms=["Fee"]))


async def broken_run(site: Site, answers: int) -> None:
    """A run whose model answers a few times, then no more; if that is enough, one back to the old model."""
    replies = iter([vectors_for] * answers)
    site.models.respond = lambda request: next(replies, lambda _: Vectors(dimensions=47))(request)
    with contextlib.suppress(ServiceError):
        await site.reindex()
    site.models.respond = vectors_for
    await site.reindex(site.old)


@settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(WRITES, max_size=8))
async def test_whatever_was_written_between_broken_runs_the_new_index_shows_what_the_old_one_did(writes):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        async with ModelServer() as models:
            site = Site({"store": "embedded", "data_dir": Path(folder)}, models)
            models.respond = vectors_for
            for action, argument, generation in [("put", IDS[0], "g1"), *writes]:
                if action == "broken run":
                    await broken_run(site, argument)
                    continue
                async with site.store(site.old) as store:
                    await write(store, action, argument, generation)
            async with site.store(site.old) as store:
                before = await shown(store)

            await site.reindex()

            async with site.store(site.settings()) as store:
                assert await shown(store) == before
