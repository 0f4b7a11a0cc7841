from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.tokens import (
    O200K_BASE,
    CachedEncoding,
    EncodingBroken,
    estimate,
    exact_counter,
    token_counter,
)

BYTES = [bytes([value]) for value in range(256)]
MERGES = [b"th", b"the", b" the", b"fe", b"fee"]
TINY = tiktoken.Encoding(
    "tiny",
    pat_str=r" ?\w+|\s+|[^\s\w]+",
    mergeable_ranks={token: rank for rank, token in enumerate([*BYTES, *MERGES])},
    special_tokens={"<|endoftext|>": 1000},
)


def test_an_encoding_counts_exactly():
    counter = exact_counter(TINY)
    assert (counter.encoding, counter.count("the the fee")) == ("tiny", 4)


def test_words_that_look_like_control_tokens_are_counted_as_text():
    assert exact_counter(TINY).count("<|endoftext|>") == 13


def test_another_file_under_the_name_of_the_encoding_is_refused_not_replaced(tmp_path):
    (tmp_path / O200K_BASE.file).write_bytes(b"AA== 0\n")
    with pytest.raises(EncodingBroken, match="o200k_base"):
        token_counter(tmp_path)
    assert (tmp_path / O200K_BASE.file).read_bytes() == b"AA== 0\n"


def test_the_right_file_is_left_to_tiktoken(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    with pytest.raises(ValueError, match="Unknown encoding unknown"):
        token_counter(tmp_path, CachedEncoding("unknown", "file", empty))


@pytest.mark.parametrize("named", [True, False])
def test_without_the_file_tokens_are_estimated(tmp_path, named):
    counter = token_counter(tmp_path if named else None)
    assert counter.encoding == "estimate"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("the fee", 2), ("Agreement", 3), ("GOVERNING LAW", 7), ("2,500", 4), ("a\n\nb", 4), ("é", 2)],
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
