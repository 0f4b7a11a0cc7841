from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.answer.tokens import O200K_BASE, RankFile, RankFileBroken, estimate, token_counter

BYTES = [bytes([value]) for value in range(256)]
MERGES = [b"th", b"the", b" the", b"fe", b"fee"]


def rank_file(folder, name="tiny"):
    lines = [base64.b64encode(token) + b" %d" % rank for rank, token in enumerate([*BYTES, *MERGES])]
    content = b"\n".join(lines) + b"\n"
    (folder / f"{name}.tiktoken").write_bytes(content)
    return RankFile(name, hashlib.sha256(content).hexdigest(), O200K_BASE.pattern)


def test_an_encoding_on_disk_counts_exactly(tmp_path):
    counter = token_counter(tmp_path, rank_file(tmp_path))
    assert (counter.encoding, counter.count("the the fee")) == ("tiny", 4)


def test_words_that_look_like_control_tokens_are_counted_as_text(tmp_path):
    assert token_counter(tmp_path, rank_file(tmp_path)).count("<|endoftext|>") == 13


def test_another_file_under_the_name_of_the_encoding_is_refused(tmp_path):
    ranks = rank_file(tmp_path)
    (tmp_path / "tiny.tiktoken").write_bytes(b"AA== 0\n")
    with pytest.raises(RankFileBroken, match=r"tiny\.tiktoken"):
        token_counter(tmp_path, ranks)


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
