"""Restricted stores to be tested, each over one that holds as much again, loudly, in a source of others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime

from corpus.documents import Version
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from services.retrieval.store.port import Store
from services.retrieval.store.restricted import RestrictedStore
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import Draft, open_embedded, put

OWN = frozenset({"cme", "opra", "ice", "tariffs", "a", "b", "c", "d"})
"""Every source that the suite writes to."""
OTHERS = [
    Draft(
        "dtcc/a.pdf",
        ["fee fee fee\nmuch", "Fees are due monthly.", "the same", "anything", "licence audit notice term"],
        terms=["Fee", "Device"],
        headings=("Schedule", "Redistribution"),
        table_header="Product | Price",
        pages=7,
        unreadable_pages=(2, 3),
    ),
    Draft("aaa/fees.txt", ["fee"] * 12, terms=["Fee"]),
    Draft("zzz/fees.txt", ["monthly fee report " * 9, "O'Neil's 401(k) plan"]),
]
MOMENT = datetime(2031, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def restricted(opened: AbstractAsyncContextManager[Store]) -> AsyncIterator[Store]:
    """What lies in `OWN` of a store that holds `OTHERS`, and their projects and articles, beside it."""
    async with opened as store:
        staged = Draft("dtcc/new.txt", ["fee fee fee"] * 9)
        await asyncio.gather(
            *(put(store, draft) for draft in OTHERS),  # at once, for a commit takes most of the time
            *(put_records_of_others(store, number) for number in range(2)),
            store.put_chunks(staged.version, staged.chunks),
        )
        yield RestrictedStore(store, OWN)


async def put_records_of_others(store: Store, number: int) -> None:
    """One project and one article of the other sources, all titled alike."""
    mixed = ("cme", "dtcc") if number % 2 else ("dtcc",)
    project = Project(ProjectId(f"others-{number}"), "Fees", mixed, MOMENT, MOMENT)
    await store.records.create_project(project)
    basis = frozenset({Version(OTHERS[0].version.document_id, OTHERS[0].version.generation)})
    article = Article(ArticleId(f"others-{number}"), "Fees", Scope(mixed), basis, MOMENT, b"record", "# Fees")
    await store.records.put_article(article)


def open_restricted() -> AbstractAsyncContextManager[Store]:
    """Over an embedded store."""
    return restricted(open_embedded())


def open_restricted_on_fake() -> AbstractAsyncContextManager[Store]:
    """Over a store in the fake of Weaviate."""
    return restricted(weaviate_server.open_on_fake())
