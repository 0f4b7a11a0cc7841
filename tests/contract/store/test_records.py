import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from corpus.documents import DocumentId, Generation, Version
from corpus.stems import stems_of
from services.retrieval.corpus import Article, ArticleId, Project, ProjectId, Scope
from services.retrieval.store.port import IndexCounts
from tests.contract.store.drafts import Draft, put, vector_of

ALL = Scope()
MOMENT = datetime(2025, 6, 1, 12, tzinfo=UTC)
FEES = Draft("cme/fees.txt", ["Fees are due monthly."], terms=["Fee"])


def project(project_id, *sources, name="Für „alle“ \U0001f600", at=MOMENT):
    return Project(ProjectId(project_id), name, sources, at, at)


def article(article_id, title="Fees", at=MOMENT, body="# Fees\n\n“due” \U0001f600"):
    return Article(
        article_id=ArticleId(article_id),
        title=title,
        scope=Scope(("cme", "opra"), (DocumentId("cme/fees.txt"),)),
        basis=frozenset({Version(DocumentId("cme/fees.txt"), Generation("g1"))}),
        compiled_at=at,
        record=b"\x00\xffrecord",
        body=body,
    )


async def test_project_comes_back_as_it_was_created(store):
    made = project("pricing", "cme", "opra", at=MOMENT + timedelta(microseconds=7))
    assert await store.records.create_project(made)
    assert await store.records.project(made.project_id) == made
    assert await store.records.project(ProjectId("other")) is None


async def test_project_whose_id_is_taken_changes_nothing(store):
    await store.records.create_project(project("pricing", "cme"))
    assert not await store.records.create_project(project("pricing", "opra", name="Other"))
    assert await store.records.project(ProjectId("pricing")) == project("pricing", "cme")


async def test_of_several_that_create_one_project_one_alone_does(store):
    made = [project("pricing", source) for source in ("a", "b", "c", "d")]
    created = await asyncio.gather(*map(store.records.create_project, made))
    assert await store.records.project(ProjectId("pricing")) == made[created.index(True)]
    assert sum(created) == 1


async def test_updated_project_keeps_the_time_of_its_creation(store):
    later = MOMENT + timedelta(days=1)
    await store.records.create_project(project("pricing", "cme"))
    updated = await store.records.update_project(project("pricing", "ice", "opra", name="New", at=later))
    assert updated == replace(project("pricing", "ice", "opra", name="New", at=later), created_at=MOMENT)
    assert await store.records.project(ProjectId("pricing")) == updated


async def test_update_of_no_project_makes_none(store):
    assert await store.records.update_project(project("pricing", "cme")) is None
    assert await store.records.projects(None, 9) == ()


async def test_deleted_project_is_gone_and_may_be_created_again(store):
    await store.records.create_project(project("pricing", "cme"))
    assert await store.records.delete_project(ProjectId("pricing"))
    assert not await store.records.delete_project(ProjectId("pricing"))
    assert await store.records.project(ProjectId("pricing")) is None
    assert await store.records.create_project(project("pricing", "opra"))


async def test_projects_are_listed_by_id_in_code_point_order(store):
    ids = ["0", "a", "a-", "a-b", "a0", "b"]
    for project_id in reversed(ids):
        await store.records.create_project(project(project_id, "cme"))
    first = await store.records.projects(None, 4)
    rest = await store.records.projects(first[-1].project_id, 4)
    assert [each.project_id for each in [*first, *rest]] == ids
    assert (len(first), await store.records.projects(None, 0)) == (4, ())


async def test_article_comes_back_as_it_was_put(store):
    await store.records.put_article(article("fees"))
    assert await store.records.article(ArticleId("fees")) == article("fees")
    assert await store.records.article(ArticleId("other")) is None


async def test_article_takes_the_place_of_the_one_with_its_id(store):
    await store.records.put_article(article("fees"))
    newer = article("fees", title="Charges", body="new")
    await store.records.put_article(newer)
    assert await store.records.article(newer.article_id) == newer
    assert await store.records.articles_titled(["fees", "charges"]) == {"charges": "fees"}


async def test_articles_are_listed_by_id_without_their_bodies(store):
    for article_id in ("b", "a", "c"):
        await store.records.put_article(article(article_id))
    first = await store.records.articles(None, 2)
    rest = await store.records.articles(first[-1].article_id, 2)
    assert [*first, *rest] == [article(article_id, body="") for article_id in ("a", "b", "c")]


async def test_deleted_article_is_gone(store):
    await store.records.put_article(article("fees"))
    assert await store.records.delete_article(ArticleId("fees"))
    assert not await store.records.delete_article(ArticleId("fees"))
    assert await store.records.article(ArticleId("fees")) is None
    assert await store.records.articles_titled(["fees"]) == {}


async def test_titles_are_compared_folded_and_the_article_compiled_last_wins(store):
    for article_id, title, seconds in (
        ("late", "  Late\nFEES ", 0.5),
        ("early", "late fees", 0.0),
        ("first", "Straße", 0.0),
        ("second", "STRASSE", 0.0),
    ):
        moment = MOMENT + timedelta(seconds=seconds)
        await store.records.put_article(article(article_id, title, moment))
    assert await store.records.articles_titled(["late fees", "strasse", "nothing"]) == {
        "late fees": "late",
        "strasse": "second",
    }


@pytest.fixture
async def revision(store):
    """Of a store with one document, before the records are written that a test is about."""
    return (await put(store, FEES)).revision


async def test_records_change_no_revision_and_no_read_of_the_index_sees_them(store, revision):
    await store.records.create_project(project("tariffs", "tariffs", name="Tariffs"))
    await store.records.put_article(article("tariffs", title="Tariffs", body="Tariffs rise."))
    assert await store.revision() == revision
    assert await store.keyword_hits(stems_of("tariffs rise"), 9, ALL) == ()
    assert [hit.chunk_id for hit in await store.vector_hits(vector_of("Tariffs rise."), 9, ALL)] == FEES.ids
    assert await store.count_term(stems_of("tariffs"), ALL) == 0
    assert await store.definitions(["tariff"], ALL) == ()
    assert [each.source for each in await store.sources()] == ["cme"]
    assert await store.counts() == IndexCounts(1, 1, 1, 1)


async def test_records_outlive_the_documents_they_name(store, revision):
    await store.records.create_project(project("pricing", "cme"))
    await store.records.put_article(article("fees"))
    assert await store.remove(FEES.version.document_id) != revision
    assert await store.records.project(ProjectId("pricing")) == project("pricing", "cme")
    assert await store.records.article(ArticleId("fees")) == article("fees")
