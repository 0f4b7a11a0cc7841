"""The part of the store port that keeps what is no evidence: what people and models made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.retrieval.corpus import Article, ArticleId, Project, ProjectId


class Records(Protocol):
    """What people and models made, kept beside the index of one tenant: projects and articles.

    - Nothing that `Store` offers sees any of it, and it never changes `Store.revision`: it is no evidence.
    - A write is one record, whole and on disk when it returns. Of two writes at once one comes last; of two
      that create the same id one alone creates it.
    - Records come back as they were put. Lists are ordered by id, by code points: those after `after`, at
      most `limit`. A record that is written while its list is read in pages may be seen or not; others are.
    - What a scope or a project names need not be indexed.
    """

    async def create_project(self, project: Project) -> bool:
        """Store a new project. False when its id is taken; nothing changes then."""
        ...

    async def update_project(self, project: Project) -> Project | None:
        """Replace the project with this id, all but its `created_at`; as stored, or None without one."""
        ...

    async def project(self, project_id: ProjectId) -> Project | None:
        """The project, or None."""
        ...

    async def projects(self, after: ProjectId | None, limit: int) -> Sequence[Project]:
        """A list of projects."""
        ...

    async def delete_project(self, project_id: ProjectId) -> bool:
        """Delete a project; whether there was one."""
        ...

    async def put_article(self, article: Article) -> None:
        """Store an article in place of the one with its id."""
        ...

    async def article(self, article_id: ArticleId) -> Article | None:
        """The article, or None."""
        ...

    async def articles(self, after: ArticleId | None, limit: int) -> Sequence[Article]:
        """A list of articles, their bodies left out."""
        ...

    async def delete_article(self, article_id: ArticleId) -> bool:
        """Delete an article; whether there was one."""
        ...

    async def articles_titled(self, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
        """The article of each of these titles, folded by `articles.fold_title`; those without are left out.

        Of several articles of a title the one compiled last, of these the one with the last id.
        """
        ...
