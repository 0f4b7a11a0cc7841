import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.batches import batches, collate, cut
from training.rows import Rows


def made_up(lengths: list[list[int]], sources: list[int]) -> Rows:
    """A group for each inner list, a row for each length; every question is the one token 7."""
    flat = [length for group in lengths for length in group]
    starts = np.cumsum([0, *flat]).astype(np.int32)
    count = len(flat)
    return Rows(
        question_tokens=np.array([7], np.int16),
        question_starts=np.array([0, 1], np.int32),
        passage_tokens=np.full(int(starts[-1]), 9, np.int16),
        passage_sentences=np.zeros(int(starts[-1]), np.int8),
        passage_starts=starts,
        question=np.zeros(count, np.int32),
        passage=np.arange(count, dtype=np.int32),
        evidence=np.ones(count, np.uint64),
        omitted=np.zeros(count, np.uint64),
        group_starts=np.cumsum([0, *map(len, lengths)]).astype(np.int32),
        group_source=np.array(sources, np.int16),
        sources=np.array(["natural", "squad"]),
    )


groups = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=5), min_size=1, max_size=20)


@given(groups, st.integers(40, 300))
def test_a_pass_holds_every_row_once_and_groups_stay_together(lengths, tokens):
    rows = made_up(lengths, [0] * len(lengths))
    random = np.random.default_rng(0)
    read = [
        sorted((batch.lengths[batch.groups == number] - 4).tolist())
        for batch in batches(rows, [1.0, 1.0], tokens, random)
        for number in set(batch.groups.tolist())
    ]
    assert sorted(read) == sorted(map(sorted, lengths))


@given(groups, st.integers(40, 300))
def test_a_batch_of_several_groups_passes_no_limit(lengths, tokens):
    rows = made_up(lengths, [0] * len(lengths))
    for batch in batches(rows, [1.0, 1.0], tokens, np.random.default_rng(0)):
        assert batch.ids.size <= tokens or len(set(batch.groups.tolist())) == 1


@pytest.mark.parametrize(("weight", "groups_taken"), [(0.0, 1), (1.0, 2), (3.0, 2)])
def test_a_weight_below_one_is_the_chance_that_a_group_is_taken(weight, groups_taken):
    rows = made_up([[5], [5]], [0, 1])
    taken = [batch.groups for batch in batches(rows, [1.0, weight], 100, np.random.default_rng(0))]
    assert sum(len(set(numbers.tolist())) for numbers in taken) == groups_taken


def test_a_weight_above_one_is_what_mistakes_count():
    batch = collate(made_up([[5], [5]], [0, 1]), [0, 1], [0.5, 3.0])
    assert batch.weights.tolist() == [1.0, 3.0]


def test_rows_are_padded_to_the_longest():
    batch = collate(made_up([[2, 4]], [0]), [0], [1.0, 1.0])
    assert batch.ids.tolist() == [[101, 7, 102, 9, 9, 102, 0, 0], [101, 7, 102, 9, 9, 9, 9, 102]]
    assert batch.places.tolist() == [[-1, -1, -1, 0, 0, -1, -1, -1], [-1, -1, -1, 0, 0, 0, 0, -1]]
    assert batch.lengths.tolist() == [6, 8]


def test_neighbours_are_cut_where_the_limit_would_be_passed():
    assert cut(np.array([10, 10, 20]), np.array([1, 2, 1]), 30) == [slice(0, 2), slice(2, 3)]
