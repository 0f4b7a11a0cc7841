"""Reads the sets of questions that the reader learns from; `README.md` names them and their licences."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.spans import Span
from evals.corpora import is_held_out
from training.examples import Example, Group, passage_of

OURS = Path(__file__).with_name("questions.jsonl")
"""Questions with the places of their answers; silent ones with that of the passage that is near."""
HELD_OUT_OF = 5
"""Every fifth document of ContractNLI, by the hash of its name, is kept for figures."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one document and where the answer stands in it."""

    question_id: str
    wordings: tuple[str, ...]
    """The question as asked inside the document, then as asked over a folder where that differs."""
    document: str
    gold: tuple[Span, ...]
    """Code points of the document; empty when it is silent."""
    near: Span | None
    """The passage of a silent document that a careless reader takes for the answer."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Texts of one set, and the questions asked about them."""

    source: str
    texts: Mapping[str, str]
    questions: tuple[Question, ...]


def natural(data: Path, part: str) -> Documents:
    """The natural questions of `train` or `dev`."""
    return _asked("natural", data, data / "natural" / f"{part}.jsonl")


def ours(data: Path, file: Path = OURS) -> Documents:
    """Our own questions about further contracts of CUAD, written for the reader to learn from."""
    return _asked("ours", data, file)


def cuad(data: Path, without: Collection[str] = (), only: Collection[str] | None = None) -> Documents:
    """CUAD's clause questions about contracts that are not in `without` and, if given, are in `only`."""
    folder = data / "cuad/dev"
    preambles = {row["file"]: f"Consider the {row['title']}; " for row in _rows(folder / "docs.jsonl")}
    rows = [
        (row, file)
        for row in _rows(folder / "queries.jsonl")
        for file in row["scope"]
        if file not in without and (only is None or file in only)
    ]
    questions = [_annotated(row, row["question"].removeprefix(preambles[file])) for row, file in rows]
    return Documents("cuad", _texts(folder / "corpus", {file for _, file in rows}), tuple(questions))


def contractnli(data: Path, *, held_out: bool) -> Documents:
    """ContractNLI's questions about the agreements that are held out, or about the others."""
    folder = data / "contractnli/dev"
    rows = [
        row
        for row in _rows(folder / "queries.jsonl")
        if is_held_out(row["scope"][0], HELD_OUT_OF) == held_out
    ]
    questions = [_annotated(row, row["raw_question"]) for row in rows]
    return Documents(
        "contractnli", _texts(folder / "corpus", {row["scope"][0] for row in rows}), tuple(questions)
    )


def contractnli_hypotheses(data: Path) -> Documents:
    """Statements about further agreements of ContractNLI, asked as they are; none is in the other parts."""
    texts, questions = {}, []
    for number, row in enumerate(_zipped(data / "reading/contractnli-train-documents.jsonl.gz")):
        name = f"agreement-{number}"
        texts[name] = row["text"]
        questions += [
            Question(
                f"{name}-{index}",
                (asked["hypothesis"],),
                name,
                tuple(Span(start, end) for start, end in asked["evidence"]),
                None,
            )
            for index, asked in enumerate(row["questions"])
        ]
    return Documents("contractnli", texts, tuple(questions))


def general(file: Path) -> Iterator[Group]:
    """Questions about encyclopaedia articles and tales: the passages of one question compete."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _zipped(file):
        rows[row["question"]].append(row)
    for question, same in rows.items():
        yield Group(
            question, tuple(_general_example(row) for row in same), same[0]["source"].partition("-")[0]
        )


def squad_held_out(data: Path) -> Iterator[Group]:
    """SQuAD 2.0 on articles that no row is from."""
    for row in _zipped(data / "reading/squad2-heldout-articles.jsonl.gz"):
        spans = (
            [[row["answer_start"], row["answer_start"] + len(row["answer_text"])]] if row["answers"] else []
        )
        yield Group(row["question"], (_general_example({**row, "evidence": spans}),), "squad-held-out")


def find_loosely(text: str, quote: str) -> Span | None:
    """Where a quote stands whose white space may differ from the text's; None when it is empty or nowhere."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return Span(found.start(), found.end()) if found else None


def _general_example(row: dict[str, Any]) -> Example:
    passage = passage_of(row["context"])
    evidence = frozenset(
        index
        for index, sentence in enumerate(passage.sentences)
        if any(sentence.start < end and start < sentence.end for start, end in row["evidence"])
    )
    return Example(passage, evidence if row["answers"] else frozenset())


def _asked(source: str, data: Path, file: Path) -> Documents:
    """Questions about contracts of CUAD, asked inside a contract and over all of them."""
    rows = list(_rows(file))
    texts = _texts(data / "cuad/dev/corpus", {row["file"] for row in rows})
    questions = [
        Question(
            row["id"],
            (row["q"], row["q_named"]),
            row["file"],
            tuple(Span(answer["start"], answer["end"]) for answer in row["answers"]),
            _near(texts[row["file"]], row["near"]),
        )
        for row in rows
    ]
    return Documents(source, texts, tuple(questions))


def _near(text: str, near: str | dict[str, int] | None) -> Span | None:
    """The evaluation data writes the passage down, our own questions tell where it stands."""
    return Span(**near) if isinstance(near, dict) else find_loosely(text, near or "")


def _annotated(row: dict[str, Any], wording: str) -> Question:
    gold = tuple(Span(answer["start"], answer["end"]) for answer in row["answers"])
    return Question(row["id"], (wording,), row["scope"][0], gold, None)


def _texts(folder: Path, names: Collection[str]) -> dict[str, str]:
    """Line ends stay as they are: offsets count them."""
    return {name: (folder / name).read_bytes().decode("utf-8") for name in sorted(names)}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _zipped(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
