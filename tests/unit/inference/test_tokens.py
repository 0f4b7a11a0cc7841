from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.fetch import DEFAULT_ENCODINGS_DIR, ENCODINGS, EncodingFile
from inference.tokens import EncodingBroken, TokenCounters, estimate, exact_counter
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits

O200K_BASE = ENCODINGS[0]
ENCODED = DEFAULT_ENCODINGS_DIR.expanduser()
BYTES = [bytes([value]) for value in range(256)]
MERGES = [b"th", b"the", b" the", b"fe", b"fee"]
TINY = tiktoken.Encoding(
    "tiny",
    pat_str=r" ?\w+|\s+|[^\s\w]+",
    mergeable_ranks={token: rank for rank, token in enumerate([*BYTES, *MERGES])},
    special_tokens={"<|endoftext|>": 1000},
)
EXAMPLES = sorted(
    path
    for folder in ("corpus", "drafts")
    for path in Path("examples", folder).rglob("*")
    if path.suffix in (".pdf", ".docx", ".html", ".md", ".txt")
)


def test_an_encoding_counts_exactly():
    counter = exact_counter(TINY)
    assert (counter.encoding, counter.count("the the fee")) == ("tiny", 4)


def test_words_that_look_like_control_tokens_are_counted_as_text():
    assert exact_counter(TINY).count("<|endoftext|>") == 13


@pytest.mark.parametrize(
    ("model", "encoding", "tokens"),
    [
        ("gpt-4.1", "o200k_base", 10),
        ("gpt-4.1-mini", "o200k_base", 10),
        ("gpt-oss-20b", "o200k_harmony", 10),
        ("gpt-4", "cl100k_base", 13),
        ("text-embedding-3-large", "cl100k_base", 13),
        ("qwen3:8b", "estimate", 6),
    ],
)
def test_each_model_is_counted_by_its_own_encoding(model, encoding, tokens):
    counter = TokenCounters(ENCODED).of(model)
    counted = counter.count("Unterlizenzierung für Nichtanzeigegebrauch")
    assert (counter.encoding, counted) == (encoding, tokens)


def test_another_file_under_the_name_of_the_encoding_is_refused_not_replaced(tmp_path):
    (tmp_path / O200K_BASE.name).write_bytes(b"AA== 0\n")
    with pytest.raises(EncodingBroken, match="o200k_base"):
        TokenCounters(tmp_path)
    assert (tmp_path / O200K_BASE.name).read_bytes() == b"AA== 0\n"


def test_a_file_that_changed_since_the_start_is_refused_not_replaced(tmp_path):
    file = EncodingFile("p50k_base", "file", hashlib.sha256(b"").hexdigest())
    (tmp_path / "file").write_bytes(b"")
    counter = TokenCounters(tmp_path, [file]).by("p50k_base")
    (tmp_path / "file").write_bytes(b"AA== 0\n")
    with pytest.raises(EncodingBroken, match="p50k_base"):
        counter.count("the fee")
    assert (tmp_path / "file").read_bytes() == b"AA== 0\n"


def test_without_the_file_tokens_are_estimated(tmp_path):
    assert TokenCounters(tmp_path).of("gpt-4.1").encoding == "estimate"


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("path", EXAMPLES, ids=str)
def test_the_estimate_is_within_fifteen_percent_of_the_truth(path, encoding):
    text = parse(path, format_of(path.name), ParsingLimits(), lambda done, total: None).text
    assert estimate(text) == pytest.approx(TokenCounters(ENCODED).by(encoding).count(text), rel=0.15)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("the fee", 2), ("Agreement", 1), ("GOVERNING LAW", 4), ("2,500", 3), ("a\n\nb", 3), ("é", 1)],
)
def test_the_estimate_follows_its_rule(text, tokens):
    assert estimate(text) == tokens


@settings(deadline=None)
@given(st.text(), st.text())
def test_the_estimate_of_a_longer_text_is_never_smaller(left, right):
    assert estimate(left + " . " + right) >= max(estimate(left), estimate(right))


@settings(deadline=None)
@given(st.text())
def test_the_estimate_never_exceeds_the_bytes(text):
    assert estimate(text) <= len(text.encode())
