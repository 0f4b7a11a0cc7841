import pytest

from corpus.chunks import ChunkId
from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope
from services.retrieval.store.port import Coverage, IndexCounts, SourceCounts
from tests.cards import WHOLE
from tests.contract.store.drafts import Draft, put, recently

ALL = Scope()


async def test_chunk_comes_back_as_it_was_put_but_for_its_time(store):
    draft = Draft(
        "cme/fees.pdf",
        ["Größe of 10 % fees:\n“due” \U0001f600 monthly", "second"],
        headings=("Schedule A", "1.2 Fees"),
        table_header="Product | Fee",
        pages=3,
        terms=["Fee"],
        lead_in="The “Größe” shall not:",
        doubtful=True,
    )
    await put(store, draft)
    stored = await store.embedded_chunks(draft.ids)
    assert await store.chunks(draft.ids) == {id_: each.chunk for id_, each in stored.items()}
    for put_in in draft.chunks:
        out = stored[put_in.chunk.chunk_id]
        assert recently(out.chunk.indexed_at)
        assert (out.chunk.text, out.chunk.pages) == (put_in.chunk.text, put_in.chunk.pages)
        assert out.chunk.__class__(**{**fields(out.chunk), "indexed_at": None}) == put_in.chunk
        assert out.windows == put_in.windows
        assert out.vectors.tolist() == put_in.vectors.tolist()


def fields(value):
    return {name: getattr(value, name) for name in value.__slots__}


async def test_unknown_chunk_ids_are_passed_over(store):
    draft = Draft("cme/a.txt", ["fees"])
    await put(store, draft)
    assert set(await store.chunks([*draft.ids, ChunkId("nobody's"), *draft.ids])) == set(draft.ids)


@pytest.mark.parametrize("more", ["\0", "\0x"], ids=["nul", "nul-and-more"])
async def test_a_name_with_a_nul_is_not_the_name_before_it(store, more):
    draft = Draft("cme/a.txt", ["fees"], terms=["Fee"])
    await put(store, draft)

    assert await store.document(DocumentId(f"cme/a.txt{more}")) is None
    assert await store.chunks([ChunkId(draft.ids[0] + more)]) == {}
    assert await store.documents(Scope(sources=(f"cme{more}",)), None, 9) == ()
    assert await store.documents(Scope(document_ids=(DocumentId(f"cme/a.txt{more}"),)), None, 9) == ()


async def test_chunks_of_a_document_come_in_its_order(store):
    draft = Draft("cme/a.txt", [f"clause {number}" for number in range(12)])
    await store.put_chunks(draft.version, draft.chunks[::-1])
    await store.commit(draft.document)
    listed = await store.chunks_of(draft.version.document_id, None, 11)
    assert [chunk.ordinal for chunk in listed] == list(range(11))
    assert await store.chunks_of(DocumentId("cme/never.txt"), None, 5) == ()


async def test_documents_are_listed_by_id_in_pages(store):
    ids = ["cme/a.txt", "cme/b.txt", "opra/a.txt", "opra/z/ä.txt"]
    for document_id in reversed(ids):
        await put(store, Draft(document_id, ["fees"]))
    first = await store.documents(ALL, None, 3)
    rest = await store.documents(ALL, first[-1].version.document_id, 3)
    assert [each.version.document_id for each in [*first, *rest]] == ids
    assert [each.source for each in await store.documents(Scope(sources=("opra",)), None, 9)] == ["opra"] * 2


async def test_document_comes_back_as_it_was_committed(store):
    draft = Draft(
        "cme/a.pdf",
        ["fees"],
        pages=9,
        unreadable_pages=(2, 7),
        hidden_characters=40,
        scanned_pages=(3, 8),
        reference_marks=11,
        running_lines=18,
        profile=WHOLE,
        title="Größe",
    )
    committed = await put(store, draft)
    assert fields(committed.document) | {"indexed_at": None} == fields(draft.document)
    assert await store.document(draft.version.document_id) == committed.document


async def test_sources_are_counted_by_name(store):
    await put(store, Draft("opra/a.txt", ["x", "y"]))
    await put(store, Draft("cme/a.txt", ["x"]))
    await put(store, Draft("cme/b.txt", ["x", "y", "z"]))
    assert await store.sources() == (SourceCounts("cme", 2, 4), SourceCounts("opra", 1, 2))


async def test_definitions_are_found_by_folded_term_within_the_scope(store):
    await put(store, Draft("opra/a.txt", ["x"], terms=["Fee", "Non-Professional Subscribers"]))
    await put(store, Draft("cme/a.txt", ["x"], terms=["“Fees”", "Device"]))
    found = await store.definitions(["fee", "nothing"], ALL)
    assert [(each.source, each.term) for each in found] == [("cme", "“Fees”"), ("opra", "Fee")]
    assert [each.source for each in await store.definitions(["fee"], Scope(sources=("opra",)))] == ["opra"]
    assert await store.definitions([], ALL) == ()
    assert set(await store.defined_terms(ALL)) == {"fee", "non professional subscriber", "device"}
    assert await store.defined_terms(Scope(document_ids=(DocumentId("cme/a.txt"),))) == ("device", "fee")


async def test_definition_comes_back_as_it_was_put(store):
    draft = Draft("cme/a.txt", ["x"], terms=["Fee"])
    await put(store, draft)
    assert list(await store.definitions(["fee"], ALL)) == draft.definitions


@pytest.mark.parametrize(
    ("term", "count"),
    [("fees", 3), ("monthly fees", 2), ("fees schedule", 1), ("products", 1), ("tariff", 0)],
)
async def test_term_is_counted_in_the_chunks_that_hold_all_its_stems(store, term, count):
    await put(store, Draft("cme/a.txt", ["monthly fee", "a fee due monthly", "monthly report"]))
    await put(store, Draft("cme/b.txt", ["the fee"], headings=("Schedule",), table_header="Product"))
    assert await store.count_term(stems_of(term), ALL) == count


async def test_terms_of_replaced_and_removed_documents_do_not_count(store):
    await put(store, Draft("cme/a.txt", ["fee", "fee"]))
    await put(store, Draft("cme/a.txt", ["fee"], generation="g2"))
    await put(store, Draft("cme/b.txt", ["fee"]))
    await store.remove(DocumentId("cme/b.txt"))
    assert await store.count_term(["fee"], ALL) == 1
    assert await store.count_term(["fee"], Scope(sources=("opra",))) == 0
    assert await store.count_term([], ALL) == 0


async def test_coverage_sums_the_documents_of_the_scope(store):
    await put(store, Draft("cme/a.pdf", ["x"], pages=9, unreadable_pages=(2, 7)))
    await put(store, Draft("opra/b.pdf", ["x"], pages=4, unreadable_pages=(1,)))
    assert await store.coverage(ALL) == Coverage(documents=2, pages=13, unreadable_pages=3)
    assert await store.coverage(Scope(sources=("cme",))) == Coverage(1, 9, 2)
    assert await store.coverage(Scope(sources=("nobody",))) == Coverage(0, 0, 0)


async def test_chunks_of_a_document_are_read_on_from_an_ordinal(store):
    draft = Draft("cme/a.txt", [f"clause {number}" for number in range(5)])
    await put(store, draft)
    document_id = draft.version.document_id
    assert [chunk.ordinal for chunk in await store.chunks_of(document_id, 2, 9)] == [3, 4]
    assert [chunk.ordinal for chunk in await store.chunks_of(document_id, 0, 2)] == [1, 2]
    assert await store.chunks_of(document_id, 4, 9) == ()
    assert await store.chunks_of(document_id, None, 0) == ()


async def test_chunks_of_a_document_are_all_of_its_live_generation(store):
    older, newer = (Draft("cme/a.txt", ["fee"] * 4, generation=name) for name in ("g1", "g2"))
    await put(store, older)
    await store.put_chunks(newer.version, newer.chunks)
    document_id = older.version.document_id
    assert {chunk.version for chunk in await store.chunks_of(document_id, 0, 9)} == {older.version}
    await store.commit(newer.document)
    assert {chunk.version for chunk in await store.chunks_of(document_id, 0, 9)} == {newer.version}


async def test_live_versions_are_those_of_the_scope(store):
    drafts = [Draft(f"{source}/{number}.txt", ["fees"]) for source in ("cme", "opra") for number in range(3)]
    for draft in drafts:
        await put(store, draft)
    versions = [draft.version for draft in drafts]
    one = Scope(document_ids=(versions[4].document_id, DocumentId("cme/never.txt")))
    assert sorted(await store.live_versions(ALL), key=str) == versions
    assert sorted(await store.live_versions(Scope(sources=("opra",))), key=str) == versions[3:]
    assert list(await store.live_versions(one)) == versions[4:5]
    assert list(await store.live_versions(Scope(sources=("nobody",)))) == []


async def test_live_versions_are_no_others(store):
    older, newer = (Draft("cme/a.txt", ["fees"], generation=name) for name in ("g1", "g2"))
    removed, staged = Draft("cme/removed.txt", ["fees"]), Draft("cme/staged.txt", ["fees"])
    assert list(await store.live_versions(ALL)) == []
    await put(store, older)
    await put(store, removed)
    await store.remove(removed.version.document_id)
    await store.put_chunks(staged.version, staged.chunks)
    await store.put_chunks(newer.version, newer.chunks)
    assert list(await store.live_versions(ALL)) == [older.version]
    await store.commit(newer.document)
    assert list(await store.live_versions(ALL)) == [newer.version]


async def test_first_chunks_of_documents_are_what_each_begins_with(store):
    drafts = [Draft(f"cme/{number}.txt", [f"clause {each}" for each in range(number)]) for number in range(5)]
    for draft in drafts:
        await store.put_chunks(draft.version, draft.chunks[::-1])
        await store.commit(draft.document)
    ids = [draft.version.document_id for draft in drafts]
    first = await store.first_chunks([*ids[::-1], DocumentId("cme/never.txt"), ids[1]], 3)
    one_by_one = {each: await store.chunks_of(each, None, 3) for each in ids}
    assert first == {each: chunks for each, chunks in one_by_one.items() if chunks}
    assert await store.first_chunks(ids, 0) == {}
    assert await store.first_chunks([], 3) == {}


async def test_first_chunks_of_a_document_are_of_its_live_generation(store):
    older, newer = (Draft("cme/a.txt", ["fee"] * 4, generation=name) for name in ("g1", "g2"))
    staged = Draft("cme/b.txt", ["fee"])
    document_ids = [older.version.document_id, staged.version.document_id]
    await store.put_chunks(staged.version, staged.chunks)
    await put(store, older)
    await store.put_chunks(newer.version, newer.chunks)
    first = await store.first_chunks(document_ids, 2)
    assert {each: [chunk.version for chunk in chunks] for each, chunks in first.items()} == {
        document_ids[0]: [older.version] * 2
    }
    await store.commit(newer.document)
    first = await store.first_chunks(document_ids, 9)
    assert {each: [chunk.version for chunk in chunks] for each, chunks in first.items()} == {
        document_ids[0]: [newer.version] * 4
    }


async def test_mean_of_stems_is_that_of_the_texts_in_scope(store):
    await put(store, Draft("cme/a.txt", ["fee", "a monthly fee report"], headings=("Schedule of much",)))
    await put(store, Draft("opra/b.txt", ["fee fee"]))
    assert await store.mean_stems(ALL) == pytest.approx((1 + 3 + 2) / 3)
    assert await store.mean_stems(Scope(sources=("opra",))) == pytest.approx(2)
    assert await store.mean_stems(Scope(sources=("nobody",))) == pytest.approx(1)


async def test_counts_are_those_of_the_scope(store):
    await put(store, Draft("cme/a.txt", ["fee\nlicence", "audit"], terms=["Fee"]))
    await put(store, Draft("opra/b.txt", ["fee"]))
    assert await store.counts(Scope(sources=("cme",))) == IndexCounts(1, 2, 1, 3)
    assert await store.counts(Scope(sources=("nobody",))) == IndexCounts(0, 0, 0, 0)


async def test_revision_of_a_scope_changes_with_its_documents_and_no_others(store):
    scope = Scope(sources=("cme",))
    seen = [await store.revision(scope)]
    await put(store, Draft("opra/b.txt", ["fee"]))
    assert await store.revision(scope) == seen[0]
    for write in (
        put(store, Draft("cme/a.txt", ["fee"])),
        put(store, Draft("cme/a.txt", ["audit"], generation="g2")),
        put(store, Draft("cme/a.txt", ["audit"], generation="g2")),
        store.remove(DocumentId("cme/a.txt")),
    ):
        await write
        assert await store.revision(scope) != seen[-1]
        seen.append(await store.revision(scope))
    assert await store.revision(Scope(sources=("opra",))) != seen[0]
