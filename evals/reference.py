"""What the figures are compared with.

The references were measured on the same development data by a prototype of the local recipe (BM25, vectors,
legal lexicon, chunks of 300 words); the floors are BM25 alone. The label says which vectors: W of windows, as
the product has, S of sentences, WS both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A row to compare with; it may lack some figures."""

    label: str
    figures: Mapping[str, float]


def _ranking(hits: str, recall_precision: str) -> dict[str, float]:
    """Figures from `@1 @3 @5 @10` and `R@5 P@5 R@10 P@10`; a dash is a figure that was not measured."""
    names = ["hit@1", "hit@3", "hit@5", "hit@10", "R@5", "P@5", "R@10", "P@10"]
    values = [*hits.split(), *recall_precision.split()]
    return {name: float(value) for name, value in zip(names, values, strict=True) if value != "-"}


RESEARCH_TARGET = Mark(
    "target",
    {
        "parse": 1.0,
        "schema": 0.95,
        "raw verbatim": 0.80,
        "raw attribution": 0.95,
        "verbatim": 1.0,
        "attribution": 0.95,
        "negatives": 0.90,
        "p50 ms": 5_000,
        "p95 ms": 10_000,
    },
)

MARKS: dict[str, tuple[Mark, ...]] = {
    "examples": (
        Mark(
            "target",
            {"chunk recall": 0.90, "refusal accuracy": 1.0, "false refusals": 0.05, "$ per 1,000": 20},
        ),
    ),
    "grounding": (Mark("target", {"agreement": 0.85, "false passed": 0.0, "beyond passed": 0.0}),),
    "cuad-scoped": (
        Mark("W + lexicon", _ranking(".661 .828 .883 .938", ".830 .064 .905 .037")),
        Mark("BM25", _ranking(".52 .73 .81 .90", "- - .86 .034")),
    ),
    "cuad-whole": (
        Mark(
            "two stages, S + lexicon",
            {**_ranking(".553 .723 .793 .890", "- - .84 -"), "document first": 0.980},
        ),
        Mark("BM25", {**_ranking(".04 .22 .33 .45", "- - .41 .013"), "document first": 0.98}),
    ),
    "cuad-gate": (
        Mark("WS + lexicon - .5 m", {"AUROC": 0.820, "refused at 5 %": 0.36}),
        Mark("BM25", {"AUROC": 0.75, "refused at 5 %": 0.27}),
    ),
    "cuad-answers": (
        Mark("S + lexicon, up to 3", {"hit": 0.671, "F1": 0.45, "precision": 0.46, "recall": 0.52}),
    ),
    "contractnli-scoped": (
        Mark("WS + lexicon", _ranking(".783 .943 .977 .995", ".96 - .99 .053")),
        Mark("BM25", _ranking(".58 .82 .93 .99", "- - .97 .049")),
    ),
    "contractnli-gate": (
        Mark(
            "WS + lexicon - .5 m",
            {"false refusals": 0.028, "refused": 0.20, "AUROC": 0.791, "refused at 5 %": 0.31},
        ),
        Mark("BM25", {"AUROC": 0.670, "refused at 5 %": 0.18}),
    ),
    "contractnli-answers": (
        Mark("S + lexicon, up to 3", {"hit": 0.783, "F1": 0.42, "precision": 0.36, "recall": 0.64}),
    ),
}
