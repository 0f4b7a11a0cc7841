"""Projects and articles: rows that stand for themselves, beside all that searches read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from services.retrieval.articles import fold_title
from services.retrieval.corpus import (
    Article,
    ArticleId,
    DocumentId,
    Generation,
    Project,
    ProjectId,
    Scope,
    Version,
)
from services.retrieval.store.embedded.rows import listed
from services.retrieval.store.embedded.threads import Threads

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


class EmbeddedRecords:
    """`Records` in the database of an embedded store."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    async def create_project(self, project: Project) -> bool:
        """See `Records.create_project`."""
        return await self._threads.change(_any, CREATE_PROJECT, _project_values(project))

    async def update_project(self, project: Project) -> Project | None:
        """See `Records.update_project`."""
        return await self._threads.change(_project, UPDATE_PROJECT, _project_values(project))

    async def project(self, project_id: ProjectId) -> Project | None:
        """See `Records.project`."""
        return await self._threads.look_up(_project, PROJECT, (project_id,))

    async def projects(self, after: ProjectId | None, limit: int) -> Sequence[Project]:
        """See `Records.projects`."""
        return await self._threads.look_up(_projects, after or "", max(limit, 0))

    async def delete_project(self, project_id: ProjectId) -> bool:
        """See `Records.delete_project`."""
        return await self._threads.change(_any, DELETE_PROJECT, (project_id,))

    async def put_article(self, article: Article) -> None:
        """See `Records.put_article`."""
        await self._threads.change(_any, PUT_ARTICLE, _article_values(article))

    async def article(self, article_id: ArticleId) -> Article | None:
        """See `Records.article`."""
        return await self._threads.look_up(_article, article_id)

    async def articles(self, after: ArticleId | None, limit: int) -> Sequence[Article]:
        """See `Records.articles`."""
        return await self._threads.look_up(_articles, after or "", max(limit, 0))

    async def delete_article(self, article_id: ArticleId) -> bool:
        """See `Records.delete_article`."""
        return await self._threads.change(_any, DELETE_ARTICLE, (article_id,))

    async def articles_titled(self, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
        """See `Records.articles_titled`."""
        return await self._threads.look_up(_articles_titled, folded_titles)


Values = Mapping[str, object] | tuple[str, ...]


def _any(connection: sqlite3.Connection, statement: str, values: Values) -> bool:
    """Whether the statement returns a row."""
    return connection.execute(statement, values).fetchone() is not None


def _project(connection: sqlite3.Connection, statement: str, values: Values) -> Project | None:
    row = connection.execute(statement, values).fetchone()
    return _read_project(row) if row else None


def _projects(connection: sqlite3.Connection, after: str, limit: int) -> Sequence[Project]:
    return tuple(map(_read_project, connection.execute(PROJECTS, (after, limit))))


def _article(connection: sqlite3.Connection, article_id: ArticleId) -> Article | None:
    row = connection.execute(ARTICLE, (article_id,)).fetchone()
    return _read_article(row) if row else None


def _articles(connection: sqlite3.Connection, after: str, limit: int) -> Sequence[Article]:
    return tuple(map(_read_article, connection.execute(ARTICLES, (after, limit))))


def _articles_titled(connection: sqlite3.Connection, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
    """The last row of a title is the one that stays."""
    rows = connection.execute(ARTICLES_TITLED, (listed(folded_titles),))
    return {row["folded_title"]: ArticleId(row["article_id"]) for row in rows}


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
        "basis": json.dumps(sorted((each.document_id, each.generation) for each in article.basis)),
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
