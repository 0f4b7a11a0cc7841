"""Builds the retrieval service from its settings and takes it down again; nothing else constructs stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import grpc

from chassis.auth import LOCAL
from chassis.limits.concurrency import Threads
from chassis.server import Services
from clausegate.retrieval.v1 import (
    article_store_service_pb2,
    article_store_service_pb2_grpc,
    document_service_pb2,
    document_service_pb2_grpc,
    index_service_pb2,
    index_service_pb2_grpc,
    project_service_pb2,
    project_service_pb2_grpc,
    retrieval_service_pb2,
    retrieval_service_pb2_grpc,
)
from inference.embedding.local import LocalEmbedding
from inference.embedding.model import EmbeddingModel
from inference.embedding.replay import RecordingEmbedding, ReplayedEmbedding
from inference.fetch import LOCAL_MODEL, MODEL_FOLDER, is_fetched
from inference.recording import Recorder, Recording
from inference.tokens import USUAL, TokenCounters
from services.retrieval.clock import now
from services.retrieval.indexes import Indexes
from services.retrieval.reindexing import Changeover
from services.retrieval.servicers.articles import ArticleStoreServicer
from services.retrieval.servicers.documents import DocumentServicer
from services.retrieval.servicers.index import IndexServicer
from services.retrieval.servicers.projects import ProjectServicer
from services.retrieval.servicers.retrieval import RetrievalServicer
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.embedded.reindexing import EmbeddedChangeover, MadeWith
from services.retrieval.store.embedded.stores import EmbeddedStores
from services.retrieval.store.port import Stores
from services.retrieval.warming import ready_when_warm
from services.retrieval.wholeness import Wholeness

RANKING_THREADS = 2
ANSWERING = retrieval_service_pb2.DESCRIPTOR.services_by_name["RetrievalService"].full_name
"""What an index that has lost documents does not serve; it is written to, so that it gets them back."""


@asynccontextmanager
async def retrieval(settings: RetrievalSettings) -> AsyncIterator[Services]:
    """What the retrieval service offers to a server, alive until the context ends.

    Raises `ModelUnavailable` without the model's files, `EmbeddingModelMismatch` for an index of another
    model, `StoreUnavailable` when another process has the index open or Weaviate refuses the key,
    `ReplayDiverged` when a recording cannot be played back, and `IndexKeyBroken`, also without a key where
    callers need credentials. Weaviate itself need not be there yet.
    """
    settings.required_index_keys()
    async with AsyncExitStack() as stack:
        model = await _embedding_model(settings, stack)
        stack.push_async_callback(model.close)
        stores = await _stores(settings, model)
        stack.push_async_callback(stores.close)
        executor = stack.enter_context(Threads(RANKING_THREADS, "rank"))
        counter = TokenCounters(settings.tiktoken_cache_dir).by(USUAL)
        indexes = Indexes(stores.for_tenant, model, counter, executor, settings.restricted_indexes)
        stack.push_async_callback(indexes.close)
        await indexes.warm(LOCAL)
        readiness = await stack.enter_async_context(
            ready_when_warm(stores.readiness, partial(indexes.first_overview, LOCAL))
        )
        whole = await stack.enter_async_context(Wholeness(indexes).watched())
        yield Services(
            names=tuple(
                file.DESCRIPTOR.services_by_name[name].full_name
                for file, name in (
                    (retrieval_service_pb2, "RetrievalService"),
                    (document_service_pb2, "DocumentService"),
                    (index_service_pb2, "IndexService"),
                    (project_service_pb2, "ProjectService"),
                    (article_store_service_pb2, "ArticleStoreService"),
                )
            ),
            register=lambda server: _register(server, indexes, stores.engine),
            readiness=readiness,
            also={ANSWERING: whole},
        )


async def _stores(settings: RetrievalSettings, model: EmbeddingModel) -> Stores:
    """The stores that the settings name, of vectors of `model`."""
    if settings.store == "embedded":
        return EmbeddedStores(settings.data_dir / "index", model.name, model.dimension)
    # Not at the top: the client takes a second and 60 MB, for nothing where files keep the index.
    from services.retrieval.store.weaviate.stores import open_stores

    return await open_stores(settings, model.name, model.dimension)


@asynccontextmanager
async def changeover(settings: RetrievalSettings) -> AsyncIterator[tuple[Changeover, EmbeddingModel]]:
    """What puts an index of the settings' model in place of the one that their store has, and that model.

    Raises `ModelUnavailable` without the model's files.
    """
    async with AsyncExitStack() as stack:
        model = await _embedding_model(settings, stack)
        stack.push_async_callback(model.close)
        opened = _changeover(settings, model)
        stack.push_async_callback(opened.close)
        yield opened, model


def _changeover(settings: RetrievalSettings, model: EmbeddingModel) -> Changeover:
    if settings.store == "embedded":
        return EmbeddedChangeover(settings.data_dir / "index", MadeWith(model.name, model.dimension))
    # Not at the top, as above.
    from services.retrieval.store.weaviate.reindexing import WeaviateChangeover
    from services.retrieval.store.weaviate.stores import parts_of

    return WeaviateChangeover(*parts_of(settings, model.name, model.dimension))


async def _embedding_model(settings: RetrievalSettings, stack: AsyncExitStack) -> EmbeddingModel:
    """The model of the settings; a served one may be recorded or played back, the local one gives the same
    vectors anyway. A recorder is closed with the stack."""
    if settings.embedding_model == LOCAL_MODEL:
        folder = _model_folder(settings.model_dir)
        return await asyncio.to_thread(LocalEmbedding, folder, settings.embedding_threads)
    # Not at the top: the openai package takes .6 s and 40 MB, for nothing with the local model.
    from inference.embedding.openai import OpenAIEmbedding
    from inference.transport import ModelServer

    model = OpenAIEmbedding(ModelServer(settings), settings, settings.embedding_model, settings.dimension())
    if settings.replay_model_calls:
        return ReplayedEmbedding(model, Recording.read(settings.replay_model_calls))
    if settings.record_model_calls:
        return RecordingEmbedding(model, stack.enter_context(closing(Recorder(settings.record_model_calls))))
    return model


def _model_folder(folder: Path) -> Path:
    folder = folder.expanduser()
    return folder / MODEL_FOLDER if is_fetched(folder) else folder


def _register(server: grpc.aio.Server, indexes: Indexes, engine: str) -> None:
    retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server(RetrievalServicer(indexes), server)
    document_service_pb2_grpc.add_DocumentServiceServicer_to_server(DocumentServicer(indexes), server)
    index_service_pb2_grpc.add_IndexServiceServicer_to_server(IndexServicer(indexes, engine), server)
    project_service_pb2_grpc.add_ProjectServiceServicer_to_server(ProjectServicer(indexes, now), server)
    article_store_service_pb2_grpc.add_ArticleStoreServiceServicer_to_server(
        ArticleStoreServicer(indexes), server
    )
