import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from training.weights import mean, quantised, restored

matrices = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-100, 100, width=32).map(float)
)


@given(matrices)
def test_a_restored_matrix_differs_by_half_a_step_of_its_row_at_most(matrix):
    again = restored(quantised({"dense.weight": matrix}))["dense.weight"]
    steps = np.abs(matrix).max(axis=1, keepdims=True) / 127
    assert (np.abs(again - matrix) <= 0.501 * steps + 1e-12).all()


def test_a_vector_stays_as_it_is():
    bias = np.array([0.5, -3.25], np.float32)
    assert restored(quantised({"dense.bias": bias}))["dense.bias"].tolist() == bias.tolist()


def test_matrices_take_one_byte_a_value_and_a_scale_a_row():
    made = quantised({"dense.weight": np.ones((2, 3), np.float32)})
    assert {name: (value.dtype.name, value.shape) for name, value in made.items()} == {
        "dense.weight": ("int8", (2, 3)),
        "dense.weight.scale": ("float32", (2,)),
    }


def test_a_mean_is_taken_name_by_name():
    first, second = ({"bias": np.array([value], np.float32)} for value in (1.0, 4.0))
    assert mean([first, second])["bias"].tolist() == [2.5]
