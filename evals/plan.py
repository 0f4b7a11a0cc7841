"""What can be measured, by name: a corpus to ingest, its questions, and the experiment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals import boxes, experiments
from evals.asking import Asker
from evals.corpora import (
    EXAMPLES,
    NaturalQuestion,
    Question,
    SourceFile,
    contractnli_questions,
    cuad_questions,
    example_questions,
    folder_files,
    judged_claims,
    natural_questions,
    pdf_questions,
    tree_files,
)
from evals.experiments import Figures


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table of the report."""

    title: str
    corpus: str
    """Names the files of `corpus_files`; experiments on the same corpus share an index."""
    questions: Callable[[Path], Sequence[Any]]
    """Reads the questions below the folder of evaluation data."""
    measure: Callable[[Asker, Any], Awaitable[Figures]]
    """Takes those questions."""
    answers: bool = False
    """Whether answers are measured, and so whoever gives them."""


SMALL = {f"cuad_{size}": size for size in (1, 5, 20, 50)}
"""Contracts of small corpora; those that natural questions ask about come first."""


def corpus_files(corpus: str, data: Path) -> list[SourceFile]:
    """The files of a corpus; `data` is the folder of evaluation data, which the examples do not need."""
    if corpus == "examples":
        return tree_files(EXAMPLES)
    if corpus in SMALL:
        asked = {question.document_id for question in _natural(data)}
        files = sorted(corpus_files("cuad", data), key=lambda file: file.document_id not in asked)
        return files[: SMALL[corpus]]
    return folder_files(corpus_folder(corpus, data), corpus)


def corpus_folder(corpus: str, data: Path) -> Path:
    """Where the files of a corpus lie below the folder of evaluation data."""
    folders = {
        "cuad": "cuad/dev/corpus",
        "contractnli": "contractnli/dev/corpus",
        "cuad_pdf": "cuad_pdf/dev/pdf",
    }
    return data / folders[corpus]


def _cuad(name: str) -> Callable[[Path], list[Question]]:
    return lambda data: cuad_questions(data / "cuad/dev" / name, data / "cuad/dev/docs.jsonl")


def _contractnli(name: str) -> Callable[[Path], list[Question]]:
    return lambda data: contractnli_questions(data / "contractnli/dev" / name)


def _answerable(read: Callable[[Path], list[Question]]) -> Callable[[Path], list[Question]]:
    return lambda data: [question for question in read(data) if question.answerable]


def _pdf(data: Path) -> list[Question]:
    return pdf_questions(data / "cuad_pdf/dev/page_gold.jsonl", data / "cuad/dev/docs.jsonl")


def _natural(data: Path) -> list[NaturalQuestion]:
    return natural_questions(data / "natural/dev.jsonl")


def _natural_within(corpus: str) -> Callable[[Path], list[NaturalQuestion]]:
    def read(data: Path) -> list[NaturalQuestion]:
        there = {file.document_id for file in corpus_files(corpus, data)}
        return [question for question in _natural(data) if question.document_id in there]

    return read


PLAN = {
    "examples": Experiment(
        "Examples, all questions",
        "examples",
        lambda _: example_questions(),
        experiments.examples,
        answers=True,
    ),
    "grounding": Experiment(
        "Examples, sentences checked by CheckGrounding",
        "examples",
        lambda _: judged_claims(),
        experiments.grounding,
    ),
    "cuad-scoped": Experiment(
        "CUAD, clause within its contract",
        "cuad",
        _answerable(_cuad("queries.jsonl")),
        experiments.scoped_ranking,
    ),
    "cuad-whole": Experiment(
        "CUAD, whole corpus", "cuad", _answerable(_cuad("mini600.jsonl")), experiments.whole_ranking
    ),
    "cuad-gate": Experiment(
        "CUAD, gate, balanced", "cuad", _cuad("mini600.jsonl"), experiments.gate, answers=True
    ),
    "cuad-answers": Experiment(
        "CUAD, quoted sentences",
        "cuad",
        _answerable(_cuad("queries.jsonl")),
        experiments.answers,
        answers=True,
    ),
    "natural-scoped": Experiment(
        "Natural questions, within their contract", "cuad", _natural, experiments.natural_scoped, answers=True
    ),
    "natural-folder": Experiment(
        "Natural questions, over all contracts", "cuad", _natural, experiments.natural_folder, answers=True
    ),
    **{
        f"natural-{size}": Experiment(
            f"Natural questions, over {size} of the contracts",
            corpus,
            _natural_within(corpus),
            experiments.natural_folder,
            answers=True,
        )
        for corpus, size in SMALL.items()
    },
    "contractnli-scoped": Experiment(
        "ContractNLI, clause within its agreement",
        "contractnli",
        _answerable(_contractnli("queries.jsonl")),
        experiments.scoped_ranking,
    ),
    "contractnli-gate": Experiment(
        "ContractNLI, gate, balanced", "contractnli", _contractnli("mini.jsonl"), experiments.gate
    ),
    "contractnli-answers": Experiment(
        "ContractNLI, quoted sentences",
        "contractnli",
        _answerable(_contractnli("queries.jsonl")),
        experiments.answers,
        answers=True,
    ),
    "pdf-pages": Experiment(
        "CUAD as PDF, pages of citations", "cuad_pdf", _answerable(_pdf), experiments.pages, answers=True
    ),
    "boxes": Experiment(
        "CUAD as PDF, words under the boxes of citations", "cuad_pdf", _pdf, boxes.measure, answers=True
    ),
}
"""In the order of the report."""
