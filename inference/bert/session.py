"""Runs a graph on the processor with OpenVINO, in bfloat16 where the processor computes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray
from openvino import Core, InferRequest, Model

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]

PADDED_TO = 32
"""Rows have a multiple of so many tokens. OpenVINO prepares each length that it meets for the first time, and
keeps what it prepared: all lengths cost it half of its speed and 80 MiB, these few neither."""
PRECISION = "INFERENCE_PRECISION_HINT"
"""OpenVINO's own name of the setting for the numbers that it computes with."""


class Session:
    """A graph, ready to run, one row at a time: what is said of a text depends on no other text."""

    def __init__(self, model: Model, threads: int, precision: str, packed: Callable[[], None]) -> None:
        """`threads` runs go on at once, each on one thread; a further one waits.

        `precision` is `f32` or `bf16`; when it is empty bfloat16 is taken where OpenVINO would choose it. The
        graph is prepared on a thread of its own, and runs wait for it; when its weights are packed, and not
        looked at any more, `packed` is called there.
        """
        core = Core()
        own = core.get_property("CPU", PRECISION).to_string()
        self.precision = precision or (own if own == "bf16" else "f32")
        settings = {
            PRECISION: self.precision,
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
            "ENABLE_CPU_PINNING": False,
        }

        def prepare() -> SimpleQueue[InferRequest]:
            compiled = core.compile_model(model, "CPU", settings)
            free: SimpleQueue[InferRequest] = SimpleQueue()
            for _ in range(threads):
                free.put(compiled.create_infer_request())
            # The first run packs the weights.
            _run(free, [_padded([1], PADDED_TO)] * len(compiled.inputs))
            packed()
            return free

        preparing = ThreadPoolExecutor(1, "prepare-model")
        self._free = preparing.submit(prepare)
        preparing.shutdown(wait=False)

    def run(self, row: Sequence[int], *more: Sequence[int]) -> list[Floats]:
        """The graph's outputs for one row of tokens, padding included.

        `more` holds what further inputs say of each token, in the order in which the graph names them.
        """
        length = -(-len(row) // PADDED_TO) * PADDED_TO
        padded = [_padded(values, length) for values in (row, [1] * len(row), *more)]
        return _run(self._free.result(), padded)


def _run(free: SimpleQueue[InferRequest], inputs: Sequence[object]) -> list[Floats]:
    request = free.get()
    try:
        request.infer(dict(enumerate(inputs)), share_inputs=True)
        return [tensor.data.copy() for tensor in request.output_tensors]
    finally:
        free.put(request)


def _padded(values: Sequence[int], length: int) -> Integers:
    array = np.zeros((1, length), np.int64)
    array[0, : len(values)] = values
    return array
