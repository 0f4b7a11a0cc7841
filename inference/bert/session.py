"""Runs a graph on the processor. What computes is named here alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]


class Session:
    """A graph, ready to run. A run takes the thread that asks for it; many may go on at once."""

    def __init__(self, model: ModelProto, weights: Path) -> None:
        """Load a graph that was built over the file `weights`."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # onnxruntime would keep what its largest runs took, some 60 MB for each of two threads.
        options.enable_cpu_mem_arena = False
        place = str(weights.resolve().parent)
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", place)
        self._outputs = [output.name for output in model.graph.output]
        graph = model.SerializeToString()
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def run(self, **inputs: Integers) -> list[Floats]:
        """The graph's outputs, in its order."""
        outputs: list[Floats] = self._session.run(self._outputs, inputs)
        return outputs
