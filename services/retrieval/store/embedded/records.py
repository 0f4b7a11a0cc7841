"""Projects and articles: rows that stand for themselves, beside all that searches read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from typing_extensions import override

from corpus.documents import DocumentId, Generation, Version
from services.retrieval.articles import fold_title
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from services.retrieval.store.embedded.rows import listed
from services.retrieval.store.embedded.threads import Threads
from services.retrieval.store.records import Records

CREATE_PROJECT = """
    INSERT INTO projects (project_id, display_name, sources, created_at, updated_at)
    VALUES (:project_id, :display_name, :sources, :created_at, :updated_at)
    ON CONFLICT DO NOTHING RETURNING 1
"""
UPDATE_PROJECT = """
    UPDATE projects SET display_name = :display_name, sources = :sources, updated_at = :updated_at
    WHERE project_id = :project_id RETURNING *
"""
PROJECT = "SELECT * FROM projects WHERE project_id = ?"
PROJECTS = "SELECT * FROM projects WHERE project_id > ? ORDER BY project_id LIMIT ?"
DELETE_PROJECT = "DELETE FROM projects WHERE project_id = ? RETURNING 1"

PUT_ARTICLE = """
    INSERT OR REPLACE INTO articles
        (article_id, folded_title, compiled_at, title, sources, document_ids, basis, record, body)
    VALUES (:article_id, :folded_title, :compiled_at, :title, :sources, :document_ids, :basis, :record, :body)
"""
ARTICLE = "SELECT * FROM articles WHERE article_id = ?"
ARTICLES = """
    SELECT article_id, compiled_at, title, sources, document_ids, basis, record, '' AS body
    FROM articles WHERE article_id > ? ORDER BY article_id LIMIT ?
"""
DELETE_ARTICLE = "DELETE FROM articles WHERE article_id = ? RETURNING 1"
ARTICLES_TITLED = """
    SELECT folded_title, article_id FROM articles
    WHERE folded_title IN (SELECT value FROM json_each(?)) ORDER BY compiled_at, article_id
"""


class EmbeddedRecords(Records):
    """`Records` in the database of an embedded store."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    @override
    async def create_project(self, project: Project) -> bool:
        return bool(await self._threads.changed(tuple, CREATE_PROJECT, _project_values(project)))

    @override
    async def update_project(self, project: Project) -> Project | None:
        found = await self._threads.changed(_read_project, UPDATE_PROJECT, _project_values(project))
        return found[0] if found else None

    @override
    async def project(self, project_id: ProjectId) -> Project | None:
        found = await self._threads.found(_read_project, PROJECT, (project_id,))
        return found[0] if found else None

    @override
    async def projects(self, after: ProjectId | None, limit: int) -> Sequence[Project]:
        return await self._threads.found(_read_project, PROJECTS, (after or "", max(limit, 0)))

    @override
    async def delete_project(self, project_id: ProjectId) -> bool:
        return bool(await self._threads.changed(tuple, DELETE_PROJECT, (project_id,)))

    @override
    async def put_article(self, article: Article) -> None:
        await self._threads.changed(tuple, PUT_ARTICLE, _article_values(article))

    @override
    async def article(self, article_id: ArticleId) -> Article | None:
        found = await self._threads.found(_read_article, ARTICLE, (article_id,))
        return found[0] if found else None

    @override
    async def articles(self, after: ArticleId | None, limit: int) -> Sequence[Article]:
        return await self._threads.found(_read_article, ARTICLES, (after or "", max(limit, 0)))

    @override
    async def delete_article(self, article_id: ArticleId) -> bool:
        return bool(await self._threads.changed(tuple, DELETE_ARTICLE, (article_id,)))

    @override
    async def articles_titled(self, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
        # The last row of a title is the one that stays.
        return dict(
            await self._threads.found(
                lambda row: (str(row["folded_title"]), ArticleId(row["article_id"])),
                ARTICLES_TITLED,
                (listed(folded_titles),),
            )
        )


def _project_values(project: Project) -> dict[str, object]:
    return {
        "project_id": project.project_id,
        "display_name": project.display_name,
        "sources": json.dumps(project.sources),
        "created_at": _instant(project.created_at),
        "updated_at": _instant(project.updated_at),
    }


def _read_project(row: sqlite3.Row) -> Project:
    return Project(
        project_id=ProjectId(row["project_id"]),
        display_name=row["display_name"],
        sources=tuple(json.loads(row["sources"])),
        created_at=datetime.fromisoformat(row["created_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
    )


def _article_values(article: Article) -> dict[str, object]:
    return {
        "article_id": article.article_id,
        "folded_title": fold_title(article.title),
        "compiled_at": _instant(article.compiled_at),
        "title": article.title,
        "sources": json.dumps(article.scope.sources),
        "document_ids": json.dumps(article.scope.document_ids),
        "basis": json.dumps(sorted((version.document_id, version.generation) for version in article.basis)),
        "record": article.record,
        "body": article.body,
    }


def _read_article(row: sqlite3.Row) -> Article:
    return Article(
        article_id=ArticleId(row["article_id"]),
        title=row["title"],
        scope=Scope(
            tuple(json.loads(row["sources"])), tuple(map(DocumentId, json.loads(row["document_ids"])))
        ),
        basis=frozenset(
            Version(DocumentId(document_id), Generation(generation))
            for document_id, generation in json.loads(row["basis"])
        ),
        compiled_at=datetime.fromisoformat(row["compiled_at"]),
        record=row["record"],
        body=row["body"],
    )


def _instant(moment: datetime) -> str:
    """In UTC and of one length, so that the order of texts is that of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
