"""Another embedding model for an index that is in use: on embedded stores, and on Weaviate."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from chassis.errors import ServiceError
from services.retrieval.corpus import Article, ArticleId, DocumentId, Project, ProjectId, Scope
from services.retrieval.reindex import StillCurrent, run
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import EmbeddingModelMismatch, Store, StoreUnavailable
from services.retrieval.wiring import changeover
from services.retrieval.store.weaviate.stores import open_stores
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import DIMENSION, Draft, put
from tests.e2e.processes import ROOT, environment
from tests.fakes.behaviours import Behaviour, Vectors
from tests.fakes.model_server import ModelServer
from tests.fakes.weaviate_server import WeaviateServer
from tests.fakes.wire import Request, Wire

ALL = Scope()
MOMENT = datetime(2024, 2, 29, 12, tzinfo=UTC)
FEES = Draft("cme/fees.txt", ["Fees are due.\nLate fees accrue.", "Taxes are extra."], terms=["Fee", "Tax"])
TERMS = Draft("opra/terms.txt", ["Notices are sent by mail."], headings=("1. Notices",), pages=1)
LAW = Draft("opra/law.txt", ["The laws of Ireland govern."])
NEW_FEES = Draft("cme/fees.txt", ["Fees are waived."], generation="g2")
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
            stores = await open_stores(settings, name, dimension)
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
    return {"store": "weaviate", "weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}


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
    hits = await store.keyword_hits(["fee"], 10, ALL)
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


@on_each_engine
async def test_there_is_nothing_to_do_without_an_index(site):
    assert (await site.reindex()).replaced == ()


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
