"""What the product's own search finds for questions, kept in files: what the reader meets when it is used.

`python -m training.found --data FOLDER --cache FOLDER --out FOLDER` indexes what is new and asks; the first
run over 198 contracts takes as long as `make eval` does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clausegate import Client
from corpus.spans import Span
from evals.concurrency import in_order
from evals.corpora import UNREAD_OF, SourceFile, folder_files, is_held_out
from evals.stack import fill, running_stack
from inference.reading.model import Passage
from services.answer.clients.wire import found_of
from services.answer.evidence.grading import GradedCandidate, grade_locally
from training import sets
from training.examples import Window
from training.sets import Question

READ_CHUNKS = 5
"""Chunks whose windows the reader reads."""
CONCURRENCY = 2
NOTHING_FOUND = -1.0
"""Stands for the gate of a question for which search found nothing; below every real one."""
SCOPED, FOLDER = 0, 1
"""Which wording of a question is asked: inside its document, or over the folder."""


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that search returned; `start` is a code point of the document, spans are of `text`."""

    document: str
    start: int
    text: str
    score: float
    """What the product ranks by without the reader; higher is better."""
    sentences: tuple[Span, ...]
    windows: tuple[Span, ...]

    def read_windows(self) -> list[Window]:
        """The windows with their sentences, as the reader meets them."""
        return [
            Window(
                self.start + window.start,
                Passage(
                    self.text[window.start : window.end],
                    tuple(
                        Span(cut.start - window.start, cut.end - window.start)
                        for sentence in self.sentences
                        if sentence.overlap(window)
                        for cut in (sentence.cut(window),)
                    ),
                ),
            )
            for window in self.windows
        ]


@dataclass(frozen=True, slots=True)
class Found:
    """A question as it was asked, and its best chunks in the product's order."""

    question_id: str
    text: str
    clause_question: str
    """The question without the words that named its documents."""
    gate: float
    """What the product's gate compares without the reader."""
    chunks: tuple[FoundChunk, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A set of questions and how they are asked."""

    name: str
    source: str
    """Source of the index that holds the documents."""
    questions: tuple[Question, ...]
    wording: int = SCOPED

    @property
    def writer(self) -> str:
        """Whose questions they are: the first word of the name."""
        return self.name.partition("-")[0]


def main() -> None:
    """Ask all sets and write one file each."""
    parser = argparse.ArgumentParser(prog="python -m training.found", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of evaluation data")
    parser.add_argument("--cache", type=Path, required=True, help="where the indexes are kept")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="comma-separated names of sets; all when empty")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, options.only.split(",")))
    asyncio.run(_ask_all(options.data, options.cache.absolute(), options.out, only))


def asked_sets(data: Path) -> list[Asked]:
    """Natural questions to learn from, those that choose settings, and all that figures are taken on."""
    dev, train = sets.natural(data, "dev"), sets.natural(data, "train")
    chosen = tuple(q for q in train.questions if is_held_out(q.document, UNREAD_OF))
    learned = tuple(q for q in train.questions if q not in chosen)
    ours = sets.ours(data).questions
    clauses = sets.cuad(data, only=set(dev.texts))
    return [
        Asked("natural-train-scoped", "cuad", learned),
        Asked("natural-train-folder", "cuad", learned, FOLDER),
        Asked("ours-scoped", "cuad", ours),
        Asked("ours-folder", "cuad", ours, FOLDER),
        Asked("natural-validation-scoped", "cuad", chosen),
        Asked("natural-validation-folder", "cuad", chosen, FOLDER),
        Asked("natural-dev-scoped", "cuad", dev.questions),
        Asked("natural-dev-folder", "cuad", dev.questions, FOLDER),
        Asked("cuad-scoped", "cuad", clauses.questions),
        Asked("contractnli-scoped", "contractnli", sets.contractnli(data, held_out=True).questions),
    ]


def write(file: Path, found: Sequence[Found]) -> None:
    """One JSON object a line."""
    lines = [json.dumps(asdict(question)) + "\n" for question in found]
    file.write_text("".join(lines), encoding="utf-8")


def by_question(file: Path) -> dict[str, Found]:
    """What `write` wrote, by the ids of the questions."""
    with file.open(encoding="utf-8") as lines:
        found = [_found(json.loads(line)) for line in lines]
    return {asked.question_id: asked for asked in found}


def _found(row: dict[str, Any]) -> Found:
    return Found(**{**row, "chunks": tuple(map(_chunk, row["chunks"]))})


def _chunk(row: dict[str, Any]) -> FoundChunk:
    spans = {name: tuple(Span(**span) for span in row[name]) for name in ("sentences", "windows")}
    return FoundChunk(**{**row, **spans})


async def _ask_all(data: Path, cache: Path, out: Path, only: set[str]) -> None:
    wanted = [asked for asked in asked_sets(data) if not only or asked.name in only]
    for source in dict.fromkeys(asked.source for asked in wanted):
        folder = cache / source
        folder.mkdir(parents=True, exist_ok=True)
        async with running_stack(folder) as client:
            await fill(client, _files(data, source), CONCURRENCY)
            for asked in wanted:
                if asked.source == source:
                    write(out / f"{asked.name}.jsonl", await _ask(client, asked))


def _files(data: Path, source: str) -> list[SourceFile]:
    return folder_files(data / source / "dev" / "corpus", source)


async def _ask(client: Client, asked: Asked) -> list[Found]:
    async def search(question: Question) -> Found:
        text = question.wordings[asked.wording]
        scope = [f"{asked.source}/{question.document}"] if asked.wording == SCOPED else []
        found = found_of(await client.search(text, document_ids=scope, background=True))
        ranked = grade_locally(found)
        gate = max((graded.score for graded in ranked), default=NOTHING_FOUND)
        chunks = tuple(map(_found_chunk, ranked[:READ_CHUNKS]))
        return Found(question.question_id, text, found.clause_question, gate, chunks)

    return await in_order(asked.questions, search, CONCURRENCY, asked.name)


def _found_chunk(graded: GradedCandidate) -> FoundChunk:
    chunk = graded.candidate.chunk
    start = chunk.span.start
    windows = [window.span for window in graded.candidate.windows]
    sentences, cuts = (
        tuple(Span(span.start - start, span.end - start) for span in spans)
        for spans in (chunk.sentences, windows)
    )
    return FoundChunk(
        chunk.document_id.partition("/")[2], start, chunk.text, graded.rank_score, sentences, cuts
    )


if __name__ == "__main__":
    main()
