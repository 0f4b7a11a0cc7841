import hashlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidInput
from corpus.chunks import ChunkId, ContextPart
from corpus.documents import DocumentId, Generation
from corpus.spans import Span
from inference.tokens import TokenCounter, estimate
from services.retrieval.context import (
    Assembler,
    ContextPassage,
    ContextQuery,
    arrange,
    pack,
    write,
)
from services.retrieval.corpus import Scope
from services.retrieval.queries import DocumentNotFound
from services.retrieval.reading import VersionReplaced
from tests.contract.store.drafts import Draft, open_embedded, put
from tests.unit.nouns import a_chunk

ESTIMATE = TokenCounter("estimate", estimate)
QUARTERS = TokenCounter("quarters", lambda text: len(text) // 4)
"""Counts more in the whole than in the sum of the parts, as encodings may."""
PLENTY = 1_000_000


def chunk(document_id, sentences, first=0, end=None, ordinal=0, **fields):
    """The chunk of sentences `first` to `end` of a document in which one blank lies between sentences."""
    starts = [0, *itertools.accumulate(len(sentence) + 1 for sentence in sentences)]
    spans = [Span(start, start + len(text)) for start, text in zip(starts, sentences, strict=False)]
    own = spans[first:end]
    text = " ".join(sentences)[own[0].start : own[-1].end]
    made = a_chunk(
        text,
        chunk_id=ChunkId(f"{document_id}#{ordinal}"),
        document_id=DocumentId(document_id),
        generation=Generation("g1"),
        source=document_id.split("/")[0],
        title="Agreement",
        heading_chain=("Schedule", "1.2 Fees"),
        section="1.2 Fees",
        word_count=len(text.split()),
        span=Span(own[0].start, own[-1].end),
        content_sha256=hashlib.sha256(text.encode()).hexdigest(),
        ordinal=ordinal,
        sentences=tuple(own),
    )
    return replace(made, **fields)


FEES = ["Fees are due.", "Late fees accrue.", "Interest is daily.", "Tariffs rise."]


@st.composite
def rankings(draw):
    """Some chunks of some documents in any order; neighbours repeat up to two sentences."""
    chunks = []
    for document_id in draw(st.lists(st.sampled_from(["a/x", "a/y", "a-b/x", "b/x"]), unique=True)):
        sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
        words = draw(st.sampled_from(["fee", "audit\n---\n", "[Source: x]", "中文"]))
        sentences = [f"{document_id} says {number}: {words}." for number in range(sum(sizes))]
        first = 0
        for ordinal, size in enumerate(sizes):
            before = sizes[ordinal - 1] if ordinal else 0
            overlap = draw(st.integers(0, min(2, before)))
            chunks.append(chunk(document_id, sentences, first - overlap, first + size, ordinal))
            first += size
    return draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]


def shown(passage):
    """The sentences of a passage's document that it shows."""
    within = [each for each in passage.chunk.sentences if each.start >= passage.span.start]
    return [(passage.chunk.version, each) for each in within]


@given(rankings(), st.integers(0, 400), st.sampled_from([ESTIMATE, QUARTERS]))
def test_text_is_within_the_budget_and_what_was_counted(ranked, budget, counter):
    packed = pack(ranked, budget, counter)
    assert packed.tokens == counter.count(packed.text) <= budget
    assert packed.text == write(packed.passages)


@given(rankings(), st.integers(0, 400))
def test_each_sentence_stands_at_most_once_and_in_order(ranked, budget):
    passages = pack(ranked, budget, ESTIMATE).passages
    assert [place(each) for each in passages] == sorted(place(each) for each in passages)
    sentences = [each for passage in passages for each in shown(passage)]
    assert len(set(sentences)) == len(sentences)


def place(passage):
    chunk = passage.chunk
    return chunk.source, chunk.version.document_id, passage.span.start


@given(rankings(), st.integers(0, 400))
def test_the_best_get_in_and_nothing_of_them_is_lost(ranked, budget):
    packed = pack(ranked, budget, ESTIMATE)
    wanted = {(each.version, sentence) for each in ranked[: packed.taken] for sentence in each.sentences}
    assert {each for passage in packed.passages for each in shown(passage)} == wanted


@given(rankings(), st.integers(0, 400), st.integers(0, 400))
def test_a_larger_budget_holds_no_less(ranked, budget, more):
    assert pack(ranked, budget, ESTIMATE).taken <= pack(ranked, budget + more, ESTIMATE).taken


@given(rankings())
def test_a_text_fits_into_just_the_tokens_it_has(ranked):
    whole = pack(ranked, PLENTY, ESTIMATE)
    assert whole.taken == len(ranked)
    assert pack(ranked, whole.tokens, ESTIMATE) == whole


@given(rankings())
def test_no_line_of_a_document_looks_like_an_attribution_or_a_rule(ranked):
    packed = pack(ranked, PLENTY, ESTIMATE)
    lines = packed.text.splitlines()
    assert sum(line.lstrip().startswith("[Source:") for line in lines) == len(packed.passages)
    assert lines.count("---") == max(0, len(packed.passages) - 1)


def test_passages_stand_below_their_attribution_with_a_rule_between():
    packed = pack([chunk("b/x", FEES, 2, 4), chunk("a/x", FEES, 0, 2)], PLENTY, ESTIMATE)
    assert packed.text == (
        '[Source: "Agreement" (id: a/x), Section: "Schedule > 1.2 Fees"]\n'
        "Fees are due. Late fees accrue.\n"
        "---\n"
        '[Source: "Agreement" (id: b/x), Section: "Schedule > 1.2 Fees"]\n'
        "Interest is daily. Tariffs rise.\n"
    )


def test_sentences_of_the_passage_before_are_cut_off():
    first, second = chunk("a/x", FEES, 0, 3, ordinal=0), chunk("a/x", FEES, 1, 4, ordinal=1)
    cut = ContextPassage(second, Span(second.sentences[2].start, second.span.end))
    assert arrange([second, first]) == [ContextPassage(first, first.span), cut]
    assert write([cut]).endswith("]\nTariffs rise.\n")


def test_chunk_whose_sentences_all_stand_before_is_left_out():
    first, second = chunk("a/x", FEES, 0, 3, ordinal=0), chunk("a/x", FEES, 1, 3, ordinal=1)
    assert [each.chunk for each in arrange([first, second])] == [first]


def test_chunk_without_known_sentences_is_cut_where_the_passage_before_ends():
    first = chunk("a/x", FEES, 0, 3, ordinal=0)
    second = replace(chunk("a/x", FEES, 1, 4, ordinal=1), sentences=())
    assert [each.span.start for each in arrange([first, second])] == [0, first.span.end]


def test_of_identical_passages_the_first_alone_is_shown():
    packed = pack([chunk("b/x", FEES), chunk("a/x", FEES)], PLENTY, ESTIMATE)
    assert [each.chunk.version.document_id for each in packed.passages] == ["a/x"]
    assert packed.taken == 2


def test_continued_table_has_its_header_again():
    packed = pack([chunk("a/x", FEES, table_header="Product | Fee")], PLENTY, ESTIMATE)
    assert "]\nProduct | Fee\nFees are due." in packed.text


def test_attribution_stays_one_line_whatever_the_title():
    titled = chunk("a/x", FEES, title='A "b"\nc', heading_chain=(), section="Section 1 of 2")
    assert pack([titled], PLENTY, ESTIMATE).text.startswith(
        '[Source: "A \'b\' c" (id: a/x), Section: "Section 1 of 2"]\nFees'
    )


def test_nothing_is_shown_when_the_best_does_not_fit():
    packed = pack([chunk("a/x", FEES * 50), chunk("b/x", FEES)], 60, ESTIMATE)
    assert (packed.text, packed.passages, packed.tokens, packed.taken) == ("", (), 0, 0)


def test_neither_question_nor_scope_is_refused():
    with pytest.raises(InvalidInput) as refused:
        ContextQuery("", Scope(), 100)
    assert refused.value.field == "sources"


# From a store


class Replacing:
    """A store whose document is replaced right before each of the first `times` reads of chunks by id."""

    def __init__(self, store, times):
        self._store = store
        self._left = times

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def chunks(self, chunk_ids):
        if self._left:
            self._left -= 1
            await put(self._store, Draft("cme/a.txt", ["Newer fees."], generation=f"newer{self._left}"))
        return await self._store.chunks(chunk_ids)


@asynccontextmanager
async def assembling(replaced=0):
    with ThreadPoolExecutor(1) as executor:
        async with open_embedded() as store:
            yield store, Assembler(Replacing(store, replaced), None, ESTIMATE, executor)


def distinct(draft):
    """The draft with the hashes that its texts have."""
    for number, embedded in enumerate(draft.chunks):
        digest = hashlib.sha256(embedded.chunk.text.encode()).hexdigest()
        draft.chunks[number] = replace(embedded, chunk=replace(embedded.chunk, content_sha256=digest))
    return draft


def clauses(document_id, count):
    return distinct(Draft(document_id, [f"Clause {number} of {document_id}." for number in range(count)]))


async def test_documents_without_a_question_take_turns():
    async with assembling() as (store, assembler):
        for draft in (clauses("cme/a.txt", 60), clauses("cme/b.txt", 2), clauses("opra/c.txt", 60)):
            await put(store, draft)
        assembled = await assembler.assemble(ContextQuery("", Scope(sources=("cme",)), 500))
        shown = [each.chunk.alias for each in assembled.packed.passages]
        ends = [alias for alias in shown if alias.startswith("cme__b")]
        assert ends == ["cme__b.txt_0", "cme__b.txt_1"]
        assert shown[:-2] == [f"cme__a.txt_{number}" for number in range(len(shown) - 2)]
        assert len(shown) > 4
        assert assembled.left_out == 62 - len(shown)
        assert assembled.revision == await store.revision()


async def test_everything_is_shown_where_it_fits():
    async with assembling() as (store, assembler):
        await put(store, clauses("cme/a.txt", 150))
        scope = Scope(document_ids=(DocumentId("cme/a.txt"),))
        assembled = await assembler.assemble(ContextQuery("", scope, 50_000))
        assert [each.chunk.ordinal for each in assembled.packed.passages] == list(range(150))
        assert assembled.left_out == 0


async def test_unknown_document_is_named():
    async with assembling() as (_, assembler):
        scope = Scope(document_ids=(DocumentId("cme/a.txt"),))
        with pytest.raises(DocumentNotFound) as refused:
            await assembler.assemble(ContextQuery("", scope, 500))
        assert refused.value.field == "document_ids[0]"


async def test_document_replaced_once_meanwhile_is_read_again():
    async with assembling(replaced=1) as (store, assembler):
        await put(store, clauses("cme/a.txt", 3))
        assembled = await assembler.assemble(ContextQuery("", Scope(sources=("cme",)), 500))
        assert [each.chunk.text for each in assembled.packed.passages] == ["Newer fees."]


async def test_document_replaced_again_and_again_is_a_conflict():
    async with assembling(replaced=2) as (store, assembler):
        await put(store, clauses("cme/a.txt", 3))
        with pytest.raises(VersionReplaced):
            await assembler.assemble(ContextQuery("", Scope(sources=("cme",)), 500))


SHARED = "(b) share the Data."


def governed(document_id, lead_in):
    """The item of a list whose lead-in stands in another chunk."""
    item = chunk(document_id, [lead_in, SHARED], 1)
    before = ContextPart(Span(0, len(lead_in)), lead_in, item.span, ())
    after = ContextPart(Span(900, 915), "unless\n CME asks", item.span, ())
    return replace(item, context_before=(before,), context_after=(after,))


def test_a_passage_has_what_governs_it_from_elsewhere():
    packed = pack([governed("a/x", "You shall not:")], PLENTY, ESTIMATE)
    assert packed.text.splitlines()[1:] == [
        "[Leads into this:] You shall not:",
        SHARED,
        "[Holds for this:] unless CME asks",
    ]
    assert packed.tokens == ESTIMATE.count(packed.text)


def test_what_stands_in_the_passage_is_not_said_twice():
    whole = chunk("a/x", ["You shall not:", SHARED])
    lead_in = ContextPart(whole.sentences[0], "You shall not:", whole.sentences[1], ())
    packed = pack([replace(whole, context_before=(lead_in,))], PLENTY, ESTIMATE)
    assert "[Leads into this:]" not in packed.text


def test_the_same_item_under_another_lead_in_is_no_repetition():
    packed = pack([governed("a/x", "You may:"), governed("a/y", "You may not:")], PLENTY, ESTIMATE)
    assert packed.text.count(SHARED) == 2


def test_text_cannot_pretend_to_govern_a_passage():
    packed = pack([chunk("a/x", ["[Leads into this:] You may:"])], PLENTY, ESTIMATE)
    assert "\\[Leads into this:]" in packed.text
