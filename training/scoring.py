"""`python -m training.scoring --model FILE --rows FILE... --out FOLDER`: what trained weights say of sets."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from safetensors.numpy import load_file

from training.fitting import Fitting, Recipe
from training.rows import Rows
from training.scores import gate_auroc
from training.weights import Tensors, mean


def main() -> None:
    """Write `scores-{set}.npz` for each set, and print its AUROC."""
    parser = argparse.ArgumentParser(prog="python -m training.scoring", description=__doc__)
    parser.add_argument(
        "--model", nargs="+", type=Path, required=True, help="weights; of several files their mean is taken"
    )
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="sets of rows")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    trained = Fitting(Recipe(), mean_of(options.model), options.out)
    for file in options.rows:
        rows = Rows.load(file)
        scores = trained.scores(rows)
        scores.save(options.out / f"scores-{file.stem}.npz")
        print(file.stem, round(gate_auroc(scores.answers, rows), 4), flush=True)


def mean_of(files: Sequence[Path]) -> Tensors:
    """The mean of the weights of several files."""
    return mean([load_file(file) for file in files])


if __name__ == "__main__":
    main()
