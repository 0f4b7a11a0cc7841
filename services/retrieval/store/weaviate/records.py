"""Projects and articles: one object each, beside all that searches read."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override
from weaviate.collections.classes.filters import Filter

from corpus.documents import DocumentId, Generation, Version
from services.retrieval.articles import fold_title
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from services.retrieval.store.records import Records
from services.retrieval.store.weaviate.keys import key_of
from services.retrieval.store.weaviate.named import NamedObjects, Values
from services.retrieval.store.weaviate.tenants import TenantCollections


class WeaviateRecords(Records):
    """`Records` of one tenant.

    That one alone creates a project is kept by a lock among the tasks of a process. Between processes it is
    as sure as Weaviate makes it: the server looks for the id just before it writes, so that of two which
    create it within milliseconds both may succeed, and the later one stays.
    """

    def __init__(self, tenant: TenantCollections) -> None:
        self._projects = NamedObjects(tenant, tenant.names.projects)
        self._articles = NamedObjects(tenant, tenant.names.articles)
        self._changing_projects = asyncio.Lock()

    @override
    async def create_project(self, project: Project) -> bool:
        async with self._changing_projects:
            if await self.project(project.project_id) is not None:
                return False
            await self._projects.create(project.project_id, _project_values(project))
            return True

    @override
    async def update_project(self, project: Project) -> Project | None:
        async with self._changing_projects:
            stored = await self.project(project.project_id)
            if stored is None:
                return None
            changed = replace(project, created_at=stored.created_at)
            await self._projects.put(project.project_id, _project_values(changed))
            return changed

    @override
    async def project(self, project_id: ProjectId) -> Project | None:
        values = await self._projects.read(project_id)
        return _read_project(values) if values else None

    @override
    async def projects(self, after: ProjectId | None, limit: int) -> Sequence[Project]:
        return tuple(map(_read_project, await self._projects.after(after, limit, ["fields"])))

    @override
    async def delete_project(self, project_id: ProjectId) -> bool:
        async with self._changing_projects:
            return await self._projects.delete(project_id)

    @override
    async def put_article(self, article: Article) -> None:
        await self._articles.put(article.article_id, _article_values(article))

    @override
    async def article(self, article_id: ArticleId) -> Article | None:
        values = await self._articles.read(article_id)
        return _read_article(values) if values else None

    @override
    async def articles(self, after: ArticleId | None, limit: int) -> Sequence[Article]:
        return tuple(map(_read_article, await self._articles.after(after, limit, ["fields", "record"])))

    @override
    async def delete_article(self, article_id: ArticleId) -> bool:
        return await self._articles.delete(article_id)

    @override
    async def articles_titled(self, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
        if not folded_titles:
            return {}
        titled = Filter.by_property("title_key").contains_any(list(map(key_of, folded_titles)))
        found = map(_read_article, await self._articles.after(None, None, ["fields"], [titled]))
        by_time = sorted(found, key=lambda article: (article.compiled_at, article.article_id))
        return {fold_title(article.title): article.article_id for article in by_time}


def _project_values(project: Project) -> Values:
    fields = {
        "project_id": project.project_id,
        "display_name": project.display_name,
        "sources": project.sources,
        "created_at": project.created_at.isoformat(),
        "updated_at": project.updated_at.isoformat(),
    }
    return {"fields": json.dumps(fields)}


def _read_project(values: Values) -> Project:
    fields = json.loads(values["fields"])
    return Project(
        project_id=ProjectId(fields["project_id"]),
        display_name=fields["display_name"],
        sources=tuple(fields["sources"]),
        created_at=datetime.fromisoformat(fields["created_at"]),
        updated_at=datetime.fromisoformat(fields["updated_at"]),
    )


def _article_values(article: Article) -> Values:
    fields = {
        "article_id": article.article_id,
        "title": article.title,
        "sources": article.scope.sources,
        "document_ids": article.scope.document_ids,
        "basis": sorted((version.document_id, version.generation) for version in article.basis),
        "compiled_at": article.compiled_at.isoformat(),
    }
    return {
        "title_key": str(key_of(fold_title(article.title))),
        "fields": json.dumps(fields),
        "record": b64encode(article.record).decode(),
        "body": article.body,
    }


def _read_article(values: Values) -> Article:
    """What was not asked for is empty."""
    fields = json.loads(values["fields"])
    return Article(
        article_id=ArticleId(fields["article_id"]),
        title=fields["title"],
        scope=Scope(tuple(fields["sources"]), tuple(map(DocumentId, fields["document_ids"]))),
        basis=frozenset(
            Version(DocumentId(document_id), Generation(generation))
            for document_id, generation in fields["basis"]
        ),
        compiled_at=datetime.fromisoformat(fields["compiled_at"]),
        record=b64decode(values.get("record", "")),
        body=values.get("body", ""),
    )
