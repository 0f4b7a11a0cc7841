import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.store.embedded.codes import CodeTable, decode, encode


def vectors(count, dimension, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dimension", [1, 64, 96, 384])
def test_code_is_the_sign_of_each_component(dimension):
    rows = vectors(5, dimension)
    codes = encode(rows)
    bits = np.unpackbits(codes.view(np.uint8), axis=1)
    assert np.array_equal(bits[:, :dimension], rows > 0)
    assert not bits[:, dimension:].any()
    assert np.array_equal(decode(codes.tobytes(), dimension), codes)


def test_nearest_windows_are_mostly_those_of_the_highest_cosine():
    centres = vectors(20, 384, seed=2)
    rows = centres[np.arange(4000) % 20] + 0.05 * np.random.default_rng(1).normal(size=(4000, 384)).astype(
        np.float32
    )
    table = CodeTable.empty(384).plus(1, np.arange(4000), encode(rows))
    found = set(table.nearest(centres[3], 100, None).tolist())
    best = set(np.argsort(-rows @ centres[3])[:10].tolist())
    assert len(best & found) >= 9


STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 9)), max_size=40)


@given(STEPS)
def test_table_holds_the_windows_of_the_versions_put_and_not_dropped(steps):
    table = CodeTable.empty(64)
    older = []
    held = {}
    for number, (added, version, size) in enumerate(steps):
        if added and version not in held:
            chunks = np.arange(size) + 100 * number
            table = table.plus(version, chunks, encode(vectors(size, 64, seed=number)))
            held[version] = set(chunks.tolist())
        elif not added:
            table = table.minus([version])
            held.pop(version, None)
        older.append((table, set().union(*held.values())))
    for each, expected in older:
        assert set(each.nearest(vectors(1, 64)[0], 1000, None).tolist()) == expected
    for version, chunks in held.items():
        assert set(table.nearest(vectors(1, 64)[0], 1000, [version, 99]).tolist()) == chunks


@given(st.integers(1, 30), st.integers(0, 2))
def test_dropped_windows_never_crowd_out_others(count, dropped):
    rows = vectors(90, 64)
    table = CodeTable.empty(64)
    for version in range(3):
        place = slice(30 * version, 30 * version + 30)
        table = table.plus(version, np.arange(90)[place], encode(rows[place]))
    table = table.minus([dropped])
    found = table.nearest(rows[30 * dropped], count, None)
    assert len(found) == count
    assert not {number // 30 for number in found.tolist()} & {dropped}
