"""A restricted store is told from one that holds nothing else by no read, whatever lies beside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.errors import PermissionDenied
from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import ArticleId, ProjectId, Scope
from services.retrieval.store.port import Legs, Store
from services.retrieval.store.restricted import RestrictedStore
from tests.contract.store.beside_others import MOMENT, OTHERS, put_records_of_others, restricted
from tests.contract.store.drafts import Draft, open_embedded, put, vector_of
from tests.contract.store.test_records import article, project

ALL = Scope()
WORDS = ["fee", "licence", "audit", "notice", "10b-5", "falcon"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
SOURCES = ("cme", "opra", "dtcc", "ice")
ADDRESSES = st.tuples(st.sampled_from(SOURCES), st.sampled_from(["a.txt", "b.txt"])).map("/".join)
CONTENTS = st.tuples(
    st.lists(TEXTS, min_size=1, max_size=4), st.lists(st.sampled_from(WORDS), max_size=2, unique=True)
)
DOCUMENTS = st.dictionaries(ADDRESSES, CONTENTS, max_size=7)
HELD = st.sets(st.sampled_from(SOURCES), min_size=1, max_size=3)
SCOPES = [
    ALL,
    Scope(("cme",)),
    Scope(("dtcc", "opra")),
    Scope(("nobody",)),
    Scope(document_ids=(DocumentId("cme/a.txt"), DocumentId("dtcc/a.txt"))),
    Scope(("ice",), (DocumentId("ice/b.txt"),)),
]
FEW = settings(deadline=None, max_examples=6)


@given(documents=DOCUMENTS, held=HELD, question=TEXTS)
@FEW
def test_every_read_answers_as_of_a_store_that_holds_nothing_else(documents, held, question):
    drafts = [Draft(name, texts, terms=terms) for name, (texts, terms) in documents.items()]

    async def compare() -> None:
        async with _filled(drafts) as whole, _filled([each for each in drafts if each.source in held]) as own:
            mine = RestrictedStore(whole, held)
            for scope in SCOPES:
                assert await _reads(mine, scope, drafts) == await _reads(own, scope, drafts)
                ours, theirs = [await _legs(each, scope, question) for each in (mine, own)]
                assert ours == pytest.approx(theirs, rel=1e-3)

    asyncio.run(compare())


@given(documents=DOCUMENTS, question=TEXTS)
@FEW
def test_nothing_that_others_hold_changes_a_score_or_the_revision(documents, question):
    drafts = [
        Draft(name, texts, terms=terms, headings=("Fee", texts[0]))
        for name, (texts, terms) in documents.items()
    ]

    async def compare() -> None:
        async with _filled([each for each in drafts if each.source == "cme"]) as store:
            mine = RestrictedStore(store, {"cme"})
            before = [await _legs(mine, ALL, question), await mine.revision()]
            await asyncio.gather(*(put(store, each) for each in drafts if each.source != "cme"))
            for seen in (mine, RestrictedStore(store, {"cme"})):
                assert [await _legs(seen, ALL, question), await seen.revision()] == before

    asyncio.run(compare())


@asynccontextmanager
async def _filled(drafts: Sequence[Draft]) -> AsyncIterator[Store]:
    async with open_embedded() as store:
        await asyncio.gather(*(put(store, draft) for draft in drafts))
        yield store


async def _reads(store: Store, scope: Scope, drafts: Sequence[Draft]) -> list[object]:
    """All that is told, but for scores and times."""
    chunk_ids = [chunk_id for draft in drafts for chunk_id in draft.ids]
    names = [draft.version.document_id for draft in drafts]
    first = await store.first_chunks(names, 2)
    return [
        set(await store.chunks(chunk_ids)),
        set(await store.embedded_chunks(chunk_ids)),
        [[each.text for each in await store.chunks_of(name, None, 9)] for name in names],
        {name: [each.text for each in chunks] for name, chunks in first.items()},
        [await store.document(name) is not None for name in names],
        await store.covers(scope),
        [each.version for each in await store.documents(scope, None, 3)],
        [each.version for each in await store.documents(scope, DocumentId("cme/b.txt"), 9)],
        sorted(map(str, await store.live_versions(scope))),
        await store.sources(),
        await store.definitions(WORDS, scope),
        set(await store.defined_terms(scope)),
        [await store.count_term([stem], scope) for word in WORDS for stem in stems_of(word)],
        await store.coverage(scope),
        await store.counts(),
        await store.counts(scope),
        await store.mean_stems(scope),
    ]


async def _legs(store: Store, scope: Scope, question: str) -> dict[str, float]:
    """Every hit of either leg, with its score."""
    wanted, vector = stems_of(question), vector_of(question)
    found = await store.search(Legs(vector, 9, [wanted], 50), scope)
    keyword, vectors = await store.keyword_hits(wanted, 50, scope), await store.vector_hits(vector, 9, scope)
    assert ([*found.keywords], found.vector) == ([keyword], vectors)
    assert {each.chunk_id for each in found.passages} == {hit.chunk_id for hit in (*vectors, *keyword)}
    named = [("vector", vectors), ("keyword", keyword)]
    return {f"{name} {hit.chunk_id}": hit.score for name, hits in named for hit in hits}


@pytest.fixture
async def store():
    """What lies in the sources of the suite, of a store that holds more."""
    async with restricted(open_embedded()) as opened:
        yield opened


MINE = Draft("cme/fees.txt", ["fee"], terms=["Fee"])
FOREIGN = OTHERS[0]


async def _refused(write) -> tuple[str, str | None]:
    with pytest.raises(PermissionDenied) as refused:
        await write
    return refused.value.message, refused.value.field


@pytest.mark.parametrize("document_id", [FOREIGN.document_id, "dtcc/never.txt"])
async def test_writes_elsewhere_are_refused_alike_whether_or_not_there_is_anything(store, document_id):
    draft = Draft(document_id, ["fee"], terms=["Fee"])
    writes = [
        store.staged(draft.version),
        store.put_chunks(draft.version, draft.chunks),
        store.put_definitions(draft.version, draft.definitions),
        store.commit(draft.document),
        store.remove(draft.version.document_id),
    ]
    said = {await _refused(write) for write in writes}
    assert said == {("This credential does not hold the source dtcc.", "document_id")}


async def test_a_write_that_names_another_source_than_its_document_is_refused(store):
    foreign = [replace(each, chunk=replace(each.chunk, source="dtcc")) for each in MINE.chunks]
    writes = [
        store.put_chunks(MINE.version, foreign),
        store.put_definitions(MINE.version, [replace(each, source="dtcc") for each in MINE.definitions]),
        store.commit(replace(MINE.document, source="dtcc")),
    ]
    for write in writes:
        assert await _refused(write)


async def test_a_revision_tells_of_the_own_documents_alone():
    async with open_embedded() as whole:
        mine = RestrictedStore(whole, {"cme"})
        empty = await mine.revision()
        await put(whole, FOREIGN)
        assert await mine.revision() == empty
        shown = (await put(mine, MINE)).revision
        assert shown == await mine.revision() != empty
        await whole.remove(FOREIGN.version.document_id)
        assert await mine.revision() == shown
        assert await mine.remove(MINE.version.document_id) == await mine.revision() == empty


async def test_a_project_that_names_another_source_too_is_hidden_as_a_whole(store):
    hidden = ProjectId("others-1")
    assert await store.records.project(hidden) is None
    assert await store.records.projects(None, 9) == ()
    assert await store.records.update_project(project(hidden, "cme")) is None
    assert not await store.records.delete_project(hidden)
    assert not await store.records.create_project(project(hidden, "cme"))
    refused = await _refused(store.records.create_project(project("mine", "cme", "dtcc")))
    assert refused == ("This credential does not hold the source dtcc.", "sources")


async def test_an_article_of_another_source_too_is_hidden_and_stays(store):
    hidden = ArticleId("others-1")
    assert await store.records.article(hidden) is None
    assert await store.records.articles(None, 9) == ()
    assert not await store.records.delete_article(hidden)
    assert await store.records.articles_titled(["fees"]) == {}
    refused = await _refused(store.records.put_article(article(hidden)))
    assert refused == ("This credential cannot use this id.", "article.article_id")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (replace(article("mine"), scope=Scope(("cme", "dtcc"))), "article.sources"),
        (replace(article("mine"), scope=Scope((), (DocumentId("dtcc/a.pdf"),))), "article.document_ids"),
        (replace(article("mine"), basis=frozenset({FOREIGN.version})), "article.basis"),
    ],
    ids=["sources", "documents", "basis"],
)
async def test_an_article_that_touches_another_source_cannot_be_written(store, changed, field):
    refused = await _refused(store.records.put_article(changed))
    assert refused == ("This credential does not hold the source dtcc.", field)


async def test_a_title_is_that_of_the_own_article_though_another_took_it_later(store):
    await store.records.put_article(article("mine", title="Fees", at=MOMENT.replace(year=2020)))
    assert await store.records.articles_titled(["fees"]) == {"fees": "mine"}


async def test_lists_pass_over_any_number_of_hidden_records():
    async with open_embedded() as whole:
        await asyncio.gather(*(put_records_of_others(whole, number) for number in range(120)))
        mine = RestrictedStore(whole, {"cme", "opra"})
        for name in ("a-first", "others-55-mine", "z-last"):
            await mine.records.create_project(project(name, "cme"))
            await mine.records.put_article(article(name))
        first = await mine.records.projects(None, 2)
        rest = await mine.records.projects(first[-1].project_id, 2)
        assert [each.project_id for each in (*first, *rest)] == ["a-first", "others-55-mine", "z-last"]
        listed = await mine.records.articles(ArticleId("a-first"), 5)
        assert [each.article_id for each in listed] == ["others-55-mine", "z-last"]
