import asyncio
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation
from corpus.spans import Span
from inference.embedding.local import LocalEmbedding
from inference.fetch import DEFAULT_MODEL_DIR, MODEL_FOLDER
from services.retrieval.windows import (
    MAX_OVERLAP_TOKENS,
    MAX_WINDOW_TOKENS,
    cut_windows,
    embed_chunks,
    window_vectors,
)
from tests.unit.nouns import a_chunk

TEXTS = st.lists(
    st.sampled_from(["fee", "shall", "term.", "Section 4.2:", "\n\n", "(a)", "x" * 130, "licensee;", "§"]),
    max_size=900,
).map(" ".join)


def words(text):
    return tuple(match.span() for match in re.finditer(r"\w+|[^\w\s]", text))


def sentence(number, length):
    return " ".join([f"S{number}", *["word"] * (length - 2), "end."])


def ends(text):
    return [match.end() for match in re.finditer(r"[.;:](?=\s)|\n\n", text)]


def texts(text):
    return [text[window.start : window.end] for window in cut_windows(text, words(text), ends(text))]


def test_short_text_is_one_window():
    assert texts("  The fee is due monthly. It is not refundable. ") == [
        "The fee is due monthly. It is not refundable."
    ]


def test_window_ends_with_the_last_sentence_that_fits():
    first, second, third = (sentence(number, 90) for number in range(3))
    assert texts(f"{first} {second} {third}") == [f"{first} {second}", third]


def test_short_last_sentence_is_repeated_in_the_next_window():
    long, short, next_ = sentence(0, 150), sentence(1, 40), sentence(2, 120)
    assert texts(f"{long} {short} {next_}") == [f"{long} {short}", f"{short} {next_}"]


def test_heading_like_sentence_stays_with_what_follows():
    before, heading, after = sentence(0, 190), "4.2 Fees.", sentence(1, 60)
    assert texts(f"{before} {heading} {after}") == [before, f"{heading} {after}"]


def test_sentence_beyond_the_limit_is_cut_between_words():
    text = " ".join(["word"] * 450)
    assert [len(part.split()) for part in texts(text)] == [200, 200, 50]


def test_text_without_tokens_is_one_window():
    assert cut_windows("\u200b", (), ()) == [Span(0, 1)]


@given(TEXTS)
def test_windows_cover_all_tokens_and_none_is_too_long(text):
    tokens = words(text)
    windows = cut_windows(text, tokens, ends(text))
    held = [[t for t in tokens if window.start <= t[0] and t[1] <= window.end] for window in windows]
    assert {token for part in held for token in part} == set(tokens)
    assert all(len(part) <= MAX_WINDOW_TOKENS for part in held)
    assert all(len(set(a) & set(b)) <= MAX_OVERLAP_TOKENS for a, b in pairwise(held))
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(windows))


@pytest.fixture(scope="module")
def model():
    model = LocalEmbedding(DEFAULT_MODEL_DIR.expanduser() / MODEL_FOLDER)
    yield model
    asyncio.run(model.close())


@pytest.mark.parametrize(
    "text",
    [
        "The Licensee shall pay all fees. " * 200,
        "antidisestablishmentarianism-" * 300,
        "qzx" * 33 + " " + ("jkwq" * 24 + " ") * 40,
        "契約" * 700,
        "A.B.C." * 500,
        "9" * 5000,
        "| 12.50 | " * 400,
    ],
)
async def test_no_window_exceeds_what_the_model_reads(model, text):
    (tokens,) = await model.token_spans([text])
    windows = [text[window.start : window.end] for window in cut_windows(text, tokens, ends(text))]
    assert max(map(len, await model.token_spans(windows))) <= model.max_tokens - 2


async def test_windows_of_embedded_chunks_are_spans_of_the_document(model):
    text = "Either party may assign this Agreement. " * 60
    embedded, other = await embed_chunks(
        model, [chunk(text, start=1_000), chunk("Fees are due.", start=0)], {}
    )
    assert len(embedded.windows) == len(embedded.vectors) > 1
    assert (embedded.windows[0].start, embedded.windows[-1].end) == (1_000, 1_000 + len(text.rstrip()))
    assert other.windows == (Span(0, 13),)
    assert other.vectors[0] @ await model.embed_query("Fees are due.") == pytest.approx(1, abs=1e-5)


async def test_a_window_whose_vector_is_known_is_not_embedded_again(model):
    known = {"Fees are due.": np.full(model.dimension, 0.5, np.float32)}
    old, new = await embed_chunks(
        model, [chunk("Fees are due.", start=0), chunk("Fees are paid.", start=20)], known
    )
    assert np.array_equal(old.vectors[0], known["Fees are due."])
    assert new.vectors[0] @ await model.embed_query("Fees are paid.") == pytest.approx(1, abs=1e-5)
    assert window_vectors([old, new]).keys() == {"Fees are due.", "Fees are paid."}


def chunk(text, start):
    return a_chunk(
        text,
        chunk_id=ChunkId(f"chunk-{start}"),
        alias=f"cme__a.txt_{start}",
        document_id=DocumentId("cme/a.txt"),
        generation=Generation("1"),
        source="cme",
        title="A",
        section="Section 1 of 1",
        word_count=len(text.split()),
        span=Span(start, start + len(text)),
        content_sha256="0" * 64,
        sentences=tuple(Span(start + end - 39, start + end) for end in ends(text)),
    )
