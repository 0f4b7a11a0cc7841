"""Builds the retrieval service from its settings and takes it down again; nothing else constructs stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc

from chassis.auth import LOCAL
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
from inference.embedding.fetch import MODEL_FOLDER, is_fetched
from inference.embedding.local import LocalEmbedding
from services.retrieval.indexes import Indexes
from services.retrieval.servicers.documents import DocumentServicer
from services.retrieval.servicers.index import IndexServicer
from services.retrieval.servicers.retrieval import RetrievalServicer
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.embedded.stores import Stores

RANKING_THREADS = 2


@asynccontextmanager
async def retrieval(settings: RetrievalSettings) -> AsyncIterator[Services]:
    """What the retrieval service offers to a server, alive until the context ends.

    Raises `ModelUnavailable` without the model's files, `EmbeddingModelMismatch` for an index of another
    model, and `StoreUnavailable` when another process has the index open.
    """
    async with AsyncExitStack() as stack:
        folder = _model_folder(settings.model_dir)
        model = await asyncio.to_thread(LocalEmbedding, folder, settings.embedding_threads)
        stack.push_async_callback(model.close)
        stores = Stores(settings.data_dir / "index", model.name, model.dimension)
        stack.push_async_callback(stores.close)
        executor = stack.enter_context(ThreadPoolExecutor(RANKING_THREADS, thread_name_prefix="rank"))
        indexes = Indexes(stores.for_tenant, model, executor)
        stack.push_async_callback(indexes.close)
        local = await indexes.of(LOCAL.tenant)
        local.overviews.refresh()
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
            register=lambda server: _register(server, indexes),
        )


def _model_folder(folder: Path) -> Path:
    return folder / MODEL_FOLDER if is_fetched(folder) else folder


def _register(server: grpc.aio.Server, indexes: Indexes) -> None:
    retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server(RetrievalServicer(indexes), server)
    document_service_pb2_grpc.add_DocumentServiceServicer_to_server(DocumentServicer(indexes), server)
    index_service_pb2_grpc.add_IndexServiceServicer_to_server(IndexServicer(indexes, "embedded"), server)
    project_service_pb2_grpc.add_ProjectServiceServicer_to_server(
        project_service_pb2_grpc.ProjectServiceServicer(), server
    )
    article_store_service_pb2_grpc.add_ArticleStoreServiceServicer_to_server(
        article_store_service_pb2_grpc.ArticleStoreServiceServicer(), server
    )
