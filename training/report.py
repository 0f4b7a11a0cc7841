"""`python -m training.report --data FOLDER --found FOLDER --scores FOLDER`: the figures as tables."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.metrics import auroc, refused_at
from training import found
from training.figures import (
    ReadQuestion,
    TodaysWeight,
    best_weight,
    finding_figures,
    gate_figures,
    read_questions,
    today_figures,
)
from training.rows import Rows
from training.scores import Scores

CHOSEN_ON = ("natural-validation-scoped", "natural-validation-folder")
"""Where the weight of today's score is chosen."""


def main() -> None:
    """Print a table for each set that was found and scored."""
    parser = argparse.ArgumentParser(prog="python -m training.report", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of evaluation data")
    parser.add_argument("--found", type=Path, required=True, help="what `training.found` wrote")
    parser.add_argument("--scores", type=Path, required=True, help="folder of `scores-{set}.npz`")
    parser.add_argument("--rows", type=Path, required=True, help="what `training.prepare` wrote")
    options = parser.parse_args()
    read = {
        asked.name: read_questions(
            asked.questions,
            found.by_question(options.found / f"{asked.name}.jsonl"),
            Scores.load(options.scores / f"scores-{asked.name}.npz"),
        )
        for asked in found.asked_sets(options.data)
        if (options.scores / f"scores-{asked.name}.npz").is_file()
    }
    weight = best_weight([question for name in CHOSEN_ON for question in read.get(name, ())])
    for name, questions in read.items():
        print(table(name, ways(questions, weight)), end="\n\n")
    squad = options.scores / "scores-squad.npz"
    if squad.is_file():
        scored = {"reader": squad_figures(Scores.load(squad), Rows.load(options.rows / "squad.npz"))}
        print(table("squad-held-out", scored))


def ways(questions: Sequence[ReadQuestion], weight: TodaysWeight) -> dict[str, Mapping[str, float]]:
    """The figures of the product's own scores, of the reader's, and of both together."""
    return {
        "today": today_figures(questions),
        "reader": {**gate_figures(questions, 0), **finding_figures(questions, 0)},
        f"reader + today ({weight.gate:g} for the gate, {weight.rank:g} for the rank)": {
            **gate_figures(questions, weight.gate),
            **finding_figures(questions, weight.rank),
        },
    }


def squad_figures(scores: Scores, rows: Rows) -> dict[str, float]:
    """How well answered questions are told from near misses on articles nobody learned from."""
    answered = scores.answers[rows.evidence != 0].tolist()
    silent = scores.answers[rows.evidence == 0].tolist()
    return {"AUROC": auroc(answered, silent), "refused at 5 %": refused_at(answered, silent, 0.05)}


def table(name: str, figures: Mapping[str, Mapping[str, float]]) -> str:
    """One row for each way, one column for each figure."""
    columns = list(dict.fromkeys(column for row in figures.values() for column in row))
    lines = [f"| {name} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for way, row in figures.items():
        cells = [f"{row[column]:.3f}" if column in row else "" for column in columns]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
