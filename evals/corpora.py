"""Reads the examples and the evaluation data: files to ingest and questions about them.

The evaluation data is a folder with `cuad/dev`, `contractnli/dev` and `cuad_pdf/dev`, each in its own small
format; here they all become `Question`. Every corpus is one source, but the examples are two.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from evals.asking import Asked
from evals.metrics import Passage

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "corpus"
EXAMPLE_QUESTIONS = Path(__file__).parent / "questions.json"
RESEARCH_QUESTIONS = Path(__file__).parent / "snippets.json"
JUDGED_CLAIMS = Path(__file__).parent / "grounding.json"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest as the document `{source}/{path}`."""

    location: Path
    source: str
    path: str

    @property
    def document_id(self) -> str:
        """See `clausegate.corpus.v1.Document`."""
        return f"{self.source}/{self.path}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one contract and where lawyers found the answer."""

    question_id: str
    text: str
    """The question as asked over the whole corpus: it names the contract."""
    clause_text: str
    """The question as asked of the contract itself: without the words that name it."""
    document_id: str
    gold: tuple[Passage, ...]
    """Empty when the contract is silent; empty for PDFs, whose offsets nobody annotated."""
    answerable: bool
    pages: frozenset[int] = frozenset()
    """Pages of the answers, from 1; PDFs only."""
    gold_texts: tuple[str, ...] = ()
    """Words of the answers; PDFs only."""

    @property
    def scoped(self) -> Asked:
        """The question as asked of its own contract."""
        return Asked(self.clause_text, (self.document_id,))


@dataclass(frozen=True, slots=True)
class NaturalQuestion:
    """A question about one contract as people ask it, not as a lawyer's checklist puts it."""

    question_id: str
    text: str
    """The question as asked of the contract itself."""
    text_naming: str
    """The question as asked over the whole folder: it names the contract by a party, a brand or its kind."""
    kind: str
    """What it asks for: amount, date, party, permission, …"""
    document_id: str
    gold: tuple[Passage, ...]
    """Best first; empty when the contract is silent."""
    answerable: bool
    must: tuple[str, ...]
    """What a right quote holds, compared without case and with white space as one space."""

    @property
    def file(self) -> str:
        """The file of the contract."""
        return self.document_id.partition("/")[2]

    @property
    def scoped(self) -> Asked:
        """The question as asked of its own contract."""
        return Asked(self.text, (self.document_id,))

    @property
    def naming(self) -> Asked:
        """The question as asked over the whole folder."""
        return Asked(self.text_naming)


@dataclass(frozen=True, slots=True)
class ExpectedChunk:
    """A chunk that should be found, named by words that it holds: a change of the chunker leaves it valid."""

    document_id: str
    phrase: str
    """Verbatim, but every run of white space and table bars counts as one space."""

    def is_in(self, document_id: str, text: str) -> bool:
        """Whether this text of this document holds the phrase."""
        return document_id == self.document_id and unruled(self.phrase) in unruled(text)


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """One entry of `questions.json`."""

    question_id: str
    text: str
    expected_documents: tuple[str, ...]
    expected_chunks: tuple[ExpectedChunk, ...]
    expected_terms: tuple[str, ...]
    """What the answer or its quotes must say, compared without case."""
    should_refuse: bool


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """One entry of `grounding.json`: a sentence about the examples, and what is true of it."""

    text: str
    verdict: str
    """`supported`, `overstated`, `contradicted` or `not_found`."""


class Kind(StrEnum):
    """How a research question relates to the documents."""

    KEYWORD = "keyword"
    """It uses their words."""
    PARAPHRASE = "paraphrase"
    """It uses other words."""
    MULTI_SOURCE = "multi_source"
    """Documents of two sources answer it."""
    NEGATIVE = "negative"
    """None answers it."""


@dataclass(frozen=True, slots=True)
class ResearchQuestion:
    """One entry of `snippets.json`."""

    question_id: str
    kind: Kind
    text: str
    expected: tuple[ExpectedChunk, ...]
    """Words that the snippets should hold; none for negative questions."""


UNREAD = Path(__file__).with_name("unread.jsonl")
"""Natural questions of our own about 23 contracts, that the reader has not learned from either. They tell the
places of answers and no text."""
UNREAD_OF = 6
"""The reader has not learned from every sixth contract of the natural questions' training part, by the hash
of its name: what goes by its logits is fitted on these."""


def is_held_out(name: str, every: int) -> bool:
    """Whether the document of this name is one of every `every`."""
    return hashlib.sha256(name.encode()).digest()[0] % every == 0


def unruled(text: str) -> str:
    """The text with every run of white space and table bars as one space."""
    return re.sub(r"[\s|]+", " ", text).strip()


def tree_files(root: Path) -> list[SourceFile]:
    """The files of a tree `{root}/{source}/**`, by name."""
    found = sorted(path for path in root.rglob("*") if path.is_file())
    parts = [(path, path.relative_to(root)) for path in found]
    return [SourceFile(path, below.parts[0], Path(*below.parts[1:]).as_posix()) for path, below in parts]


def folder_files(folder: Path, source: str) -> list[SourceFile]:
    """The files of one flat folder as one source, by name."""
    return [SourceFile(path, source, path.name) for path in sorted(folder.iterdir())]


def example_questions(file: Path = EXAMPLE_QUESTIONS) -> list[ExampleQuestion]:
    """The questions about the examples, in the order of the file."""
    return [_example(entry) for entry in json.loads(file.read_text(encoding="utf-8"))["questions"]]


def judged_claims(file: Path = JUDGED_CLAIMS) -> list[JudgedClaim]:
    """The sentences about the examples with their verdicts, in the order of the file."""
    return [
        JudgedClaim(entry["text"], entry["verdict"]) for entry in json.loads(file.read_text(encoding="utf-8"))
    ]


def research_questions(file: Path = RESEARCH_QUESTIONS) -> list[ResearchQuestion]:
    """The research questions about the examples, in the order of the file."""
    return [_research(entry) for entry in json.loads(file.read_text(encoding="utf-8"))["questions"]]


def cuad_questions(file: Path, titles: Path) -> list[Question]:
    """Questions of CUAD; `titles` is `docs.jsonl`, whose titles the questions begin with."""
    preambles = {row["file"]: f"Consider the {row['title']}; " for row in _rows(titles)}
    return [_cuad(row, preambles[row["scope"][0]]) for row in _rows(file)]


def contractnli_questions(file: Path) -> list[Question]:
    """Questions of ContractNLI."""
    return [_annotated(row, "contractnli", row["raw_question"]) for row in _rows(file)]


def natural_questions(file: Path) -> list[NaturalQuestion]:
    """Natural questions about contracts of CUAD, in the order of the file."""
    return [_natural(row) for row in _rows(file)]


def pdf_questions(file: Path, titles: Path) -> list[Question]:
    """Questions of CUAD about contracts as PDF; `titles` is `docs.jsonl` of CUAD."""
    preambles = [f"Consider the {row['title']}; " for row in _rows(titles)]
    return [_pdf(row, preambles) for row in _rows(file)]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _example(entry: dict[str, Any]) -> ExampleQuestion:
    return ExampleQuestion(
        question_id=entry["id"],
        text=entry["question"],
        expected_documents=tuple(entry["expected_documents"]),
        expected_chunks=tuple(ExpectedChunk(c["document"], c["phrase"]) for c in entry["expected_chunks"]),
        expected_terms=tuple(entry["expected_terms"]),
        should_refuse=entry["should_refuse"],
    )


def _research(entry: dict[str, Any]) -> ResearchQuestion:
    expected = tuple(ExpectedChunk(chunk["document"], chunk["phrase"]) for chunk in entry["expected"])
    return ResearchQuestion(entry["id"], Kind(entry["kind"]), entry["question"], expected)


def _cuad(row: dict[str, Any], preamble: str) -> Question:
    if not row["question"].startswith(preamble):
        raise ValueError(f"{row['id']}: the question does not name its contract")
    return _annotated(row, "cuad", row["question"].removeprefix(preamble))


def _annotated(row: dict[str, Any], source: str, clause_text: str) -> Question:
    answers = [Passage(f"{source}/{a['file']}", a["start"], a["end"]) for a in row["answers"]]
    return Question(
        question_id=row["id"],
        text=row["question"],
        clause_text=clause_text,
        document_id=f"{source}/{row['scope'][0]}",
        gold=tuple(answers),
        answerable=row["answerable"],
    )


def _natural(row: dict[str, Any]) -> NaturalQuestion:
    document_id = f"cuad/{row['file']}"
    return NaturalQuestion(
        question_id=row["id"],
        text=row["q"],
        text_naming=row["q_named"],
        kind=row["type"],
        document_id=document_id,
        gold=tuple(Passage(document_id, answer["start"], answer["end"]) for answer in row["answers"]),
        answerable=row["answerable"],
        must=tuple(row["must"]),
    )


def _pdf(row: dict[str, Any], preambles: list[str]) -> Question:
    text: str = row["question"]
    preamble = max((p for p in preambles if text.startswith(p)), key=len)
    return Question(
        question_id=row["id"],
        text=text,
        clause_text=text.removeprefix(preamble),
        document_id=f"cuad_pdf/{row['pdf']}",
        gold=(),
        answerable=row["answerable"],
        pages=frozenset(page for answer in row["answers"] for page in answer["pages"]),
        gold_texts=tuple(answer["text"] for answer in row["answers"]),
    )
