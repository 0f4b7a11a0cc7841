"""`python -m evals.calibrate --data FOLDER`: fit the probability of an answer, and write its limits.

Asks the training part of the natural questions, and some of our own, within their contracts and over all of
them, with the gate off, and fits a logistic model of the signs that the product tells to whether the first
quote is right. The limit is chosen on what models of nine tenths of the contracts say of the other tenth, and
holds for either kind of question. The file that it writes is read by the answer service when it starts; a
model of other signs in it stays. With a reader only the contracts are asked that it has not learned from.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausegate import Client
from evals.asking import Asked, read_reply
from evals.concurrency import in_order
from evals.corpora import ROOT, UNREAD, UNREAD_OF, NaturalQuestion, is_held_out, natural_questions
from evals.metrics import auroc, hit, mean, reliability
from evals.plan import corpus_files
from evals.stack import fill, running_stack
from services.answer.evidence.probability import NEAREST, has_read, set_of

FILE = ROOT / "services/answer/evidence/calibration.json"
RIGHT_SHARE = 0.76
"""Of what is answered so much has to be right; the goal is .75 on other questions."""
FALSE_REFUSALS = 0.06
"""Of answerable questions no more may be refused; the goal is .08 on other questions."""
FEW = 20
"""Fewer questions than this prove no share."""
FOLDS = 10
RIDGE = 5.0
"""Penalty of large weights, on signs of unit variance."""
STEPS = 30
"""Newton steps; seven are enough."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A question as it was answered."""

    contract: str
    ours: bool
    """Whether the question is one of our own, and not of the evaluation data."""
    answerable: bool
    right: bool
    """Whether the first quote is."""
    any_right: bool
    signs: dict[str, float]


@dataclass(frozen=True, slots=True)
class Model:
    """A logistic model of raw signs."""

    bias: float
    weights: Numbers

    def probabilities(self, signs: Numbers) -> Numbers:
        """One for each row of `signs`."""
        result: Numbers = 1.0 / (1.0 + np.exp(-(self.bias + signs @ self.weights)))
        return result


def fit(signs: Numbers, right: Numbers) -> Model:
    """The logistic model of greatest likelihood under the penalty, by Newton's method."""
    centre, spread = signs.mean(0), signs.std(0) + 1e-9
    rows = np.column_stack([np.ones(len(signs)), (signs - centre) / spread])
    penalty = RIDGE * np.diag([0.0, *np.ones(signs.shape[1])])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        probable = 1.0 / (1.0 + np.exp(-rows @ weights))
        slope = rows.T @ (right - probable) - penalty @ weights
        bend = (rows * (probable * (1 - probable))[:, None]).T @ rows + penalty
        weights += np.linalg.solve(bend, slope)
    raw = weights[1:] / spread
    return Model(float(weights[0] - raw @ centre), raw)


def cross_validated(signs: Numbers, right: Numbers, contracts: Sequence[str]) -> Numbers:
    """What models of the other contracts say of each row."""
    folds = {contract: number % FOLDS for number, contract in enumerate(sorted(set(contracts)))}
    fold = np.array([folds[contract] for contract in contracts])
    probable = np.zeros(len(right))
    for number in range(FOLDS):
        held_out = fold == number
        model = fit(signs[~held_out], right[~held_out])
        probable[held_out] = model.probabilities(signs[held_out])
    return probable


def lowest_right(probable: Numbers, right: Numbers, share: float) -> float:
    """The lowest limit above which at least `share` is right. Raises `ValueError` if there is none."""
    order = np.argsort(-probable, kind="stable")
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= share)
    if not len(enough) or enough[-1] + 1 < FEW:
        raise ValueError(
            f"no limit leaves {FEW} questions of which {share:.0%} are right; nothing is written"
        )
    return float(probable[order[enough[-1]]])


def highest_refusing(evidence: Numbers, share: float) -> float:
    """The highest limit below which no more than `share` of this evidence lies."""
    return float(np.sort(evidence)[int(share * len(evidence))])


def calibration(rows: Sequence[Row]) -> dict[str, Any]:
    """What the answer service reads, with the figures of the fit."""
    names = sorted({name for row in rows for name in row.signs} - {NEAREST})
    signs = np.array([[row.signs.get(name, 0.0) for name in names] for row in rows])
    evidence = np.array([row.signs.get(NEAREST, -1.0) for row in rows])
    right, any_right = (np.array([float(r) for r in _each(rows, n)]) for n in ("right", "any_right"))
    answerable = np.array(_each(rows, "answerable"))
    model = fit(signs, right)
    probable = cross_validated(signs, right, [row.contract for row in rows])
    ours = np.array(_each(rows, "ours"))
    parts = [part for part in (ours, ~ours) if part.any()]
    # Limits hold for either kind of question.
    needed = min(highest_refusing(evidence[answerable & part], FALSE_REFUSALS) for part in parts)
    answered_from = max(lowest_right(probable[part], right[part], RIGHT_SHARE) for part in parts)
    # Rounded so that no question is refused or answered that was not when they were chosen.
    needed, answered_from = math.floor(needed * 1000) / 1000, math.ceil(answered_from * 1000) / 1000
    refused = evidence < needed
    answered = (probable >= answered_from) & ~refused
    return {
        "bias": _rounded(model.bias),
        "weights": {name: _rounded(weight) for name, weight in zip(names, model.weights, strict=True)},
        "evidence_needed": needed,
        "answered_from": answered_from,
        "fit": {
            "questions": len(rows),
            "first right": _rounded(right.mean()),
            "AUROC": _rounded(auroc(list(probable[right > 0]), list(probable[right == 0]))),
            "false refusals": _rounded(refused[answerable].mean()),
            "refused of silent": _rounded(refused[~answerable].mean()),
            "answered of answerable": _rounded(answered[answerable].mean()),
            "answered of silent": _rounded(answered[~answerable].mean()),
            "first right of answered": _rounded(mean(right[answered])),
            "any right of answered": _rounded(mean(any_right[answered])),
            "reliability": [
                {
                    "predicted": _rounded(b.predicted),
                    "observed": _rounded(b.observed),
                    "questions": b.questions,
                }
                for b in reliability(list(probable), list(right > 0))
            ],
        },
    }


def _each(rows: Sequence[Row], name: str) -> list[bool]:
    return [getattr(row, name) for row in rows]


def _rounded(figure: float) -> float:
    return round(float(figure), 4)


async def ask(client: Client, questions: Sequence[NaturalQuestion], concurrency: int) -> list[Row]:
    """Every question asked within its contract, and over all contracts."""
    asked = [(question, put) for question in questions for put in (question.scoped, question.naming)]

    async def row(item: tuple[NaturalQuestion, Asked]) -> Row:
        question, put = item
        response = await client.query(put.text, document_ids=put.document_ids, gate=False, debug=True)
        reply = read_reply(response)
        return Row(
            contract=question.document_id,
            ours=question.question_id.startswith(UNREAD.stem),
            answerable=question.answerable,
            right=question.answerable and hit(reply.first_passages, question.gold),
            any_right=question.answerable and hit(reply.passages, question.gold),
            signs={sign.name: sign.value for sign in response.debug.explanation.signs},
        )

    return await in_order(asked, row, concurrency, "queries")


async def asked_rows(options: argparse.Namespace) -> list[Row]:
    """Every training question as the product answers it."""
    folder = options.cache.absolute() / "cuad"
    folder.mkdir(parents=True, exist_ok=True)
    async with running_stack(folder) as client:
        await fill(client, corpus_files("cuad", options.data), options.concurrency)
        questions = natural_questions(options.data / "natural/train.jsonl")
        own = natural_questions(UNREAD)
        first = await ask(client, questions[:1], options.concurrency)
        if has_read(first[0].signs):
            questions = [question for question in questions if is_held_out(question.file, UNREAD_OF)]
        return await ask(client, [*questions, *own], options.concurrency)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(prog="python -m evals.calibrate", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of evaluation data")
    parser.add_argument("--cache", type=Path, default=Path(".cache/evals"), help="where the indexes are kept")
    parser.add_argument("--concurrency", type=int, default=4, help="questions at a time (default 4)")
    parser.add_argument("--out", type=Path, default=FILE, help="the file to write")
    options = parser.parse_args()
    rows = asyncio.run(asked_rows(options))
    try:
        fitted = {set_of(rows[0].signs): calibration(rows)}
    except ValueError as error:
        raise SystemExit(str(error)) from error
    kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    options.out.write_text(json.dumps({**kept, **fitted}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(fitted, indent=2))


if __name__ == "__main__":
    main()
