"""Whatever is done to the records of a store, they are what two dictionaries would hold."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corpus.documents import DocumentId, Generation, Version
from services.retrieval.articles import fold_title
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from tests.contract.store import weaviate_server
from tests.contract.store.drafts import open_embedded

IDS = st.sampled_from(["a", "a-", "a-b", "a0", "b", "é", "\U0001f600"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NAMES = st.lists(TEXTS, max_size=3).map(tuple)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
PROJECTS = st.builds(Project, IDS.map(ProjectId), TEXTS, NAMES, MOMENTS, MOMENTS)
VERSIONS = st.builds(Version, TEXTS.map(DocumentId), TEXTS.map(Generation))
ARTICLES = st.builds(
    Article,
    article_id=IDS.map(ArticleId),
    title=st.sampled_from(["Fees", "FEES ", " late\tfees", "Late Fees", "ß", "SS"]),
    scope=st.builds(Scope, NAMES, NAMES),
    basis=st.frozensets(VERSIONS, max_size=3),
    compiled_at=MOMENTS,
    record=st.binary(max_size=5),
    body=TEXTS,
)
PAGE = 2


class RecordsAsDictionaries(RuleBasedStateMachine):
    """Compares the records of a store with what was written to them; `open_store` is the store's own."""

    open_store: ClassVar = staticmethod(open_embedded)

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.opened = self.open_store()
        self.records = self.runner.run(self.opened.__aenter__()).records
        self.projects: dict[ProjectId, Project] = {}
        self.articles: dict[ArticleId, Article] = {}

    def teardown(self) -> None:
        self.runner.run(self.opened.__aexit__(None, None, None))
        self.runner.close()

    @rule(project=PROJECTS)
    def create(self, project: Project) -> None:
        created = self.runner.run(self.records.create_project(project))
        assert created == (project.project_id not in self.projects)
        self.projects.setdefault(project.project_id, project)

    @rule(project=PROJECTS)
    def update(self, project: Project) -> None:
        updated = self.runner.run(self.records.update_project(project))
        old = self.projects.get(project.project_id)
        assert updated == (old and replace(project, created_at=old.created_at))
        if updated:
            self.projects[project.project_id] = updated

    @rule(project_id=IDS)
    def delete_project(self, project_id: ProjectId) -> None:
        deleted = self.runner.run(self.records.delete_project(project_id))
        assert deleted == (self.projects.pop(project_id, None) is not None)

    @rule(article=ARTICLES)
    def put(self, article: Article) -> None:
        self.runner.run(self.records.put_article(article))
        self.articles[article.article_id] = article

    @rule(article_id=IDS)
    def delete_article(self, article_id: ArticleId) -> None:
        deleted = self.runner.run(self.records.delete_article(article_id))
        assert deleted == (self.articles.pop(article_id, None) is not None)

    @invariant()
    def each_record_is_read_as_it_was_written(self) -> None:
        for project_id, project in self.projects.items():
            assert self.runner.run(self.records.project(project_id)) == project
        for article_id, article in self.articles.items():
            assert self.runner.run(self.records.article(article_id)) == article

    @invariant()
    def pages_show_each_record_once_by_id(self) -> None:
        assert self.runner.run(_pages(self.records.projects, "project_id")) == [
            project for _, project in sorted(self.projects.items())
        ]
        assert self.runner.run(_pages(self.records.articles, "article_id")) == [
            replace(article, body="") for _, article in sorted(self.articles.items())
        ]

    @invariant()
    def titles_name_the_article_compiled_last(self) -> None:
        by_time = sorted(self.articles.values(), key=lambda each: (each.compiled_at, each.article_id))
        expected = {fold_title(article.title): article.article_id for article in by_time}
        titles = ["fees", "late fees", "ss", "nothing"]
        assert self.runner.run(self.records.articles_titled(titles)) == expected


async def _pages(read, key):
    seen, after = [], None
    while page := await read(after, PAGE):
        seen += page
        after = getattr(page[-1], key)
    return seen


class TestEmbeddedRecords(RecordsAsDictionaries.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=10, stateful_step_count=20, deadline=None)


class RecordsAsDictionariesInFake(RecordsAsDictionaries):
    open_store: ClassVar = staticmethod(weaviate_server.open_on_fake)


class TestFakeWeaviateRecords(RecordsAsDictionariesInFake.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=4, stateful_step_count=15, deadline=None)


if weaviate_server.URL:

    class RecordsAsDictionariesInWeaviate(RecordsAsDictionaries):
        open_store: ClassVar = staticmethod(weaviate_server.open_weaviate)

    @pytest.mark.weaviate
    class TestWeaviateRecords(RecordsAsDictionariesInWeaviate.TestCase):  # type: ignore[name-defined,misc]
        settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
