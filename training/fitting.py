"""`python -m training.fitting --rows FOLDER --model FILE --out FOLDER`: trains the reader, scores sets.

It needs PyTorch and what else `requirements.lock` beside it names, and no other package. It runs in bfloat16
on the processor, and on an accelerator that CUDA reaches where there is one.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch.nn import functional

from training.batches import Batch, batches, collate, cut, group_lengths
from training.network import Logits, Reader, Shape
from training.rows import Rows
from training.scores import Scores, gate_auroc

WARM_UP = 0.06
"""Share of the time in which the rate rises to its highest; then it falls to 0 as a cosine."""
LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """What may be varied."""

    minutes: float = 60.0
    """Training ends when they or the passes are over, whichever is first; the rate follows."""
    passes: float = 3.0
    rate: float = 1.2e-4
    head_rate: float = 6.0
    """The heads, which begin at random, learn so many times as fast."""
    decay: float = 0.01
    batch_tokens: int = 6000
    list_weight: float = 0.5
    """Of the loss that asks for the right passage among those of its question; 1 has the answer itself."""
    evidence_weight: float = 0.5
    """Of the loss that asks for the right sentence among those of all passages of the question."""
    gate_weight: float = 0.5
    """Of the loss that asks for a high logit where one passage of a question answers, else for low ones."""
    frozen_layers: int = 0
    """So many of the first layers stay as they are. The embeddings of words always do."""
    dropout: float = 0.0
    """Of hidden values; worth it where rows are seen more than twice."""
    exact: bool = False
    """Compute in float32, which takes several times as long."""
    seed: int = 1
    threads: int = 1
    notes: int = 10
    """How often weights are written down on the way, and validated if rows are given for it."""
    weights: dict[str, float] = field(default_factory=dict)
    """By source, 1 where none is given, see `batches`."""


def main() -> None:
    """Train by the recipe of the command line; write `trained.safetensors`, `log.jsonl` and scores."""
    parser = argparse.ArgumentParser(prog="python -m training.fitting", description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="a set of rows to learn from")
    parser.add_argument("--validation", type=Path, help="a set of rows for the figure in the log")
    parser.add_argument("--model", type=Path, required=True, help="weights to begin with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--score", nargs="*", type=Path, default=[], help="further sets to score at the end")
    parser.add_argument("--recipe", default="{}", help="JSON with fields of `Recipe`")
    options = parser.parse_args()
    recipe = Recipe(**json.loads(options.recipe))
    options.out.mkdir(parents=True, exist_ok=True)
    made_with = {"recipe": asdict(recipe), "torch": torch.__version__, "cuda": torch.cuda.is_available()}
    (options.out / "recipe.json").write_text(json.dumps(made_with, indent=1) + "\n", encoding="utf-8")
    fitting = Fitting(recipe, load_file(options.model), options.out)
    fitting.run(Rows.load(options.rows), Rows.load(options.validation) if options.validation else None)


class Fitting:
    """A network that is being trained."""

    def __init__(self, recipe: Recipe, weights: dict[str, NDArray[np.float32]], out: Path) -> None:
        torch.manual_seed(recipe.seed)
        torch.set_num_threads(recipe.threads)
        self.recipe, self.out = recipe, out
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.reader = Reader(Shape(dropout=recipe.dropout))
        self.reader.begin_as(weights)
        if not recipe.exact:
            self.reader.lower_precision()
        self.reader.to(self.device)
        self._learned = _Learned(self.reader, recipe)
        self._started = time.monotonic()

    def run(self, learned: Rows, validation: Rows | None) -> None:
        """Train until the time or the passes are over, with checkpoints on the way."""
        tokens_seen, step, noted = 0, 0, 0.0
        total = self.recipe.passes * self._tokens_in_a_pass(learned)
        losses: list[float] = []
        for batch in self._stream(learned):
            elapsed = (time.monotonic() - self._started) / 60
            progress = max(elapsed / self.recipe.minutes, tokens_seen / total)
            if progress >= 1:
                break
            if progress >= noted + 1 / self.recipe.notes:
                noted = progress
                self._note(step, tokens_seen, float(np.mean(losses)), validation)
                losses.clear()
            losses.append(self._step(batch, rate_at(progress)))
            step, tokens_seen = step + 1, tokens_seen + int(batch.lengths.sum())
        self._note(step, tokens_seen, float(np.mean(losses)), validation)

    def scores(self, rows: Rows) -> Scores:
        """What the network says of all rows."""
        longest, sizes = group_lengths(rows), np.diff(rows.group_starts)
        order = np.argsort(longest, kind="stable")
        answers = np.zeros(len(rows.question), np.float32)
        sentences: dict[int, NDArray[np.float32]] = {}
        for part in cut(longest[order], sizes[order], 4 * self.recipe.batch_tokens):
            groups = order[part]
            members = [row for group in groups for row in rows.rows_of(int(group))]
            self.reader.eval()
            with torch.inference_mode():
                logits = self._logits(collate(rows, groups, [1.0] * len(rows.sources)))
            answers[members] = logits.answers.cpu().numpy()
            for row, values, present in zip(
                members, logits.sentences.cpu(), logits.present.cpu(), strict=True
            ):
                sentences[row] = np.where(present, values, np.nan)[: int(present.nonzero().max()) + 1]
        return Scores.of(answers, [sentences[row] for row in sorted(sentences)])

    def _stream(self, learned: Rows) -> Iterator[Batch]:
        random = np.random.default_rng(self.recipe.seed)
        while True:
            yield from batches(learned, self._weights(learned), self.recipe.batch_tokens, random)

    def _weights(self, learned: Rows) -> list[float]:
        return [self.recipe.weights.get(str(source), 1.0) for source in learned.sources]

    def _tokens_in_a_pass(self, learned: Rows) -> float:
        chance = np.minimum(self._weights(learned), 1.0)[learned.group_source]
        return float(np.repeat(chance, np.diff(learned.group_starts)) @ learned.lengths())

    def _logits(self, batch: Batch) -> Logits:
        arrays = (batch.ids, batch.types, batch.places, batch.lengths)
        tensors = [torch.from_numpy(array).to(self.device) for array in arrays]
        logits: Logits = self.reader(*tensors)
        return logits

    def _step(self, batch: Batch, rate: float) -> float:
        self.reader.train()
        value = loss(self._logits(batch), batch, self.recipe)
        value.backward()
        self._learned.step(self.recipe.rate * rate)
        return float(value.detach())

    def _note(self, step: int, tokens: int, mean_loss: float, validation: Rows | None) -> None:
        minutes = (time.monotonic() - self._started) / 60
        entry = {"step": step, "tokens": tokens, "minutes": round(minutes, 2), "loss": round(mean_loss, 4)}
        if validation:
            auroc = gate_auroc(self.scores(validation).answers, validation)
            entry["validation AUROC"] = round(auroc, 4)
        print(json.dumps(entry), flush=True)
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        for name in (f"at{step}", "trained"):
            save_file(self.reader.as_arrays(), self.out / f"{name}.safetensors")


class _Learned:
    """What is learned of a network, in float32: a small step would be lost in bfloat16."""

    def __init__(self, reader: Reader, recipe: Recipe) -> None:
        reader.embeddings.word_embeddings.requires_grad_(False)
        for layer in reader.encoder.layer[: recipe.frozen_layers]:
            layer.requires_grad_(False)
        named = [(name, own) for name, own in reader.named_parameters() if own.requires_grad]
        self._own = [own for _, own in named]
        self._exact = [own.detach().float().clone() for own in self._own]
        groups: dict[tuple[float, float], list[torch.Tensor]] = {}
        for (name, own), exact in zip(named, self._exact, strict=True):
            speed = recipe.head_rate if name.startswith(("answers", "evidence")) else 1.0
            groups.setdefault((speed, recipe.decay if own.ndim > 1 else 0.0), []).append(exact)
        self._optimizer = torch.optim.AdamW(
            [
                {"params": exact, "speed": speed, "weight_decay": decay}
                for (speed, decay), exact in groups.items()
            ],
            betas=(0.9, 0.98),
            eps=1e-6,
            fused=True,
        )

    def step(self, rate: float) -> None:
        """Learn from the gradients of the network, and take them off."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group["speed"]
        for own, exact in zip(self._own, self._exact, strict=True):
            exact.grad, own.grad = own.grad.float(), None
        torch.nn.utils.clip_grad_norm_(self._exact, LARGEST_GRADIENT)
        self._optimizer.step()
        with torch.no_grad():
            for own, exact in zip(self._own, self._exact, strict=True):
                own.copy_(exact)


def rate_at(progress: float) -> float:
    """Share of the highest rate at a point between 0 (the start) and 1 (the end)."""
    if progress < WARM_UP:
        return max(progress, 0.001) / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))


def loss(logits: Logits, batch: Batch, recipe: Recipe) -> torch.Tensor:
    """Whether each passage answers, and any of a group; which passage of it does, and which sentence."""
    device = logits.answers.device
    evidence = torch.from_numpy(batch.evidence).to(device) & logits.present
    groups = torch.from_numpy(batch.groups).to(device)
    weights = torch.from_numpy(batch.weights).to(device)
    right = evidence.any(1)
    answered = functional.binary_cross_entropy_with_logits(logits.answers, right.float(), weight=weights)
    passages = competition(logits.answers, right, groups)
    sentences = competition(
        logits.sentences[logits.present],
        evidence[logits.present],
        groups[:, None].expand_as(evidence)[logits.present],
    )
    gate = any_answers(logits.answers, right, groups)
    return (
        answered
        + recipe.list_weight * passages
        + recipe.evidence_weight * sentences
        + recipe.gate_weight * gate
    )


def any_answers(values: torch.Tensor, right: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of whether a group has an answer, from the smooth maximum of its values.

    Of a group with right values it is theirs: a wrong one that is high earns nothing.
    """
    count = int(groups.max()) + 1
    answerable = values.new_zeros(count).index_add(0, groups, right.float()) > 0
    counted = right | ~answerable[groups]
    top = values.detach().max()
    exponents = torch.exp((values - top).clamp(min=-40)) * counted
    smooth = top + torch.log(values.new_zeros(count).index_add(0, groups, exponents))
    return functional.binary_cross_entropy_with_logits(smooth, answerable.float())


def competition(values: torch.Tensor, right: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    """Mean over the groups with a right value of -log of the right values' share of the group's softmax."""
    count = int(groups.max()) + 1
    top = values.detach().max()
    exponents = torch.exp((values - top).clamp(min=-40))
    zeros = values.new_zeros(count)
    whole = zeros.index_add(0, groups, exponents)
    part = zeros.index_add(0, groups, exponents * right)
    held = part > 0
    return -(torch.log(part[held] / whole[held])).sum() / held.sum().clamp(min=1)


if __name__ == "__main__":
    main()
