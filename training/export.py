"""`python -m training.export --trained FILE... --rows FILE --out FOLDER`: the weights as they are shipped.

It scores a set of rows with the trained weights and with the shipped ones, and ends in an error when the
shipped ones lose more than `LARGEST_LOSS` of AUROC.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from training.fitting import Fitting, Recipe
from training.rows import Rows
from training.scores import gate_auroc
from training.scoring import mean_of
from training.weights import Tensors, quantised, restored

LARGEST_LOSS = 0.003
"""Of the gate's AUROC by the 8-bit weights."""


def main() -> None:
    """Write weights, vocabulary, and `reader.json`, which names their SHA-256 and how well both agree."""
    parser = argparse.ArgumentParser(prog="python -m training.export", description=__doc__)
    parser.add_argument(
        "--trained", nargs="+", type=Path, required=True, help="weights; of several files their mean is taken"
    )
    parser.add_argument("--rows", type=Path, required=True, help="a set of rows to compare on")
    parser.add_argument("--groups", type=int, default=200, help="groups of it to compare on (default 200)")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the embedding model")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    trained = mean_of(options.trained)
    shipped = options.out / "reader.safetensors"
    save_file(quantised(trained), shipped)
    vocabulary = Path(shutil.copyfile(options.tokenizer, options.out / "tokenizer.json"))
    report = {
        "sha256": _sha256(shipped),
        "vocabulary sha256": _sha256(vocabulary),
        "bytes": shipped.stat().st_size,
        **agreement(trained, restored(load_file(shipped)), Rows.load(options.rows).first(options.groups)),
    }
    written = json.dumps(report, indent=1)
    (options.out / "reader.json").write_text(written + "\n", encoding="utf-8")
    print(written)
    if report["AUROC as trained"] - report["AUROC as shipped"] > LARGEST_LOSS:
        sys.exit(f"error: the shipped weights lose more than {LARGEST_LOSS} of AUROC")


def agreement(trained: Tensors, shipped: Tensors, rows: Rows) -> dict[str, float]:
    """What both say of the passages, in float32."""
    before, after = (
        Fitting(Recipe(exact=True), weights, Path()).scores(rows).answers for weights in (trained, shipped)
    )
    return {
        "AUROC as trained": round(gate_auroc(before, rows), 4),
        "AUROC as shipped": round(gate_auroc(after, rows), 4),
        "correlation of logits": round(float(np.corrcoef(before, after)[0, 1]), 5),
        "largest difference": round(float(np.abs(before - after).max()), 4),
    }


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
