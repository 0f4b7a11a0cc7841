"""Projects and articles as a restricted caller sees them: those that name nothing but its own sources.

One that names another source as well is hidden as a whole. A part of it would mislead: its name may be
confidential, and an answer "from the project" would be silent about documents that the project holds.
Ids are the tenant's: one that something hidden has cannot be taken, and that is all that is told of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import TypeVar

from typing_extensions import override

from chassis.errors import PermissionDenied, SourceNotHeld
from corpus.documents import source_of
from services.retrieval.articles import fold_title
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId
from services.retrieval.store.records import Records

Record = TypeVar("Record", Project, Article)
RecordId = TypeVar("RecordId", ProjectId, ArticleId)
MIN_READ = 50
"""Records of one read: some may be hidden."""


class RestrictedRecords(Records):
    """`Records` over others: those within some sources."""

    def __init__(self, records: Records, sources: Collection[str]) -> None:
        self._records = records
        self._sources = frozenset(sources)

    @override
    async def create_project(self, project: Project) -> bool:
        """Store a new project; False also for the id of a hidden one."""
        self._check_project(project)
        return await self._records.create_project(project)

    @override
    async def update_project(self, project: Project) -> Project | None:
        self._check_project(project)
        if await self.project(project.project_id) is None:
            return None
        return await self._records.update_project(project)

    @override
    async def project(self, project_id: ProjectId) -> Project | None:
        found = await self._records.project(project_id)
        return found if found and self._holds_project(found) else None

    @override
    async def projects(self, after: ProjectId | None, limit: int) -> Sequence[Project]:
        every = _every(self._records.projects, after, limit, lambda project: project.project_id)
        return await _first(every, self._holds_project, limit)

    @override
    async def delete_project(self, project_id: ProjectId) -> bool:
        return await self.project(project_id) is not None and await self._records.delete_project(project_id)

    @override
    async def put_article(self, article: Article) -> None:
        """Store an article. Raises `PermissionDenied` for the id of a hidden one."""
        for source, field in _named_by(article):
            if source not in self._sources:
                raise SourceNotHeld(source, field)
        taken = await self._records.article(article.article_id)
        if taken and not self._holds_article(taken):
            raise PermissionDenied("This credential cannot use this id.", field="article.article_id")
        await self._records.put_article(article)

    @override
    async def article(self, article_id: ArticleId) -> Article | None:
        found = await self._records.article(article_id)
        return found if found and self._holds_article(found) else None

    @override
    async def articles(self, after: ArticleId | None, limit: int) -> Sequence[Article]:
        every = _every(self._records.articles, after, limit, lambda article: article.article_id)
        return await _first(every, self._holds_article, limit)

    @override
    async def delete_article(self, article_id: ArticleId) -> bool:
        return await self.article(article_id) is not None and await self._records.delete_article(article_id)

    @override
    async def articles_titled(self, folded_titles: Sequence[str]) -> Mapping[str, ArticleId]:
        """Read all articles: a hidden one may have taken a title last."""
        wanted = frozenset(folded_titles)
        latest: dict[str, Article] = {}
        async for article in _every(
            self._records.articles, None, MIN_READ, lambda article: article.article_id
        ):
            title = fold_title(article.title)
            if title not in wanted or not self._holds_article(article):
                continue
            # By id they come in order: of several of one time the last stays.
            if title not in latest or latest[title].compiled_at <= article.compiled_at:
                latest[title] = article
        return {title: article.article_id for title, article in latest.items()}

    def _holds_project(self, project: Project) -> bool:
        return self._sources.issuperset(project.sources)

    def _holds_article(self, article: Article) -> bool:
        return all(source in self._sources for source, _ in _named_by(article))

    def _check_project(self, project: Project) -> None:
        for source in project.sources:
            if source not in self._sources:
                raise SourceNotHeld(source, "sources")


def _named_by(article: Article) -> list[tuple[str, str]]:
    """Every source that an article has something of, and the field that says so."""
    named = [(source, "article.sources") for source in article.scope.sources]
    named += [(source_of(document_id), "article.document_ids") for document_id in article.scope.document_ids]
    named += [(source_of(version.document_id), "article.basis") for version in article.basis]
    return named


async def _every(
    read: Callable[[RecordId | None, int], Awaitable[Sequence[Record]]],
    after: RecordId | None,
    limit: int,
    id_of: Callable[[Record], RecordId],
) -> AsyncIterator[Record]:
    """The records after `after`, in order; about `limit` are wanted."""
    while found := await read(after, max(limit, MIN_READ)):
        for record in found:
            yield record
        after = id_of(found[-1])


async def _first(
    records: AsyncIterator[Record], holds: Callable[[Record], bool], limit: int
) -> Sequence[Record]:
    first: list[Record] = []
    if limit > 0:
        async for record in records:
            if holds(record):
                first.append(record)
            if len(first) == limit:
                break
    return tuple(first)
