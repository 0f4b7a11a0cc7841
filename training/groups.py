"""Chooses the passages that compete to answer a question: right ones, and wrong ones that look right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rank_bm25 import BM25Okapi
from tokenizers import Tokenizer

from corpus.stems import stems_of
from services.retrieval.lexicon import question_stems
from training.examples import Example, Group, Window, evidence_in, touches, windows_of
from training.found import Asked, Found
from training.sets import Documents, Question


@dataclass(frozen=True, slots=True)
class Choice:
    """How many passages of each kind a question gets."""

    right: int = 2
    wrong: int = 3
    """Best ranked of those that touch no gold span."""
    every: int = 1
    """Only every so many of these, so that wordings of one question meet different ones."""


class RankedWindows:
    """The windows of a document, ranked by the words of a question."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self.windows = windows_of(text, 0, tokenizer)
        self._index = BM25Okapi([stems_of(window.passage.text) for window in self.windows], k1=1.2, b=0.75)

    def best_first(self, question: str) -> list[Window]:
        """All windows; ties keep the order of the document."""
        scores = self._index.get_scores(question_stems(question))
        return [self.windows[index] for index in np.argsort(-scores, kind="stable")]


def document_groups(
    documents: Documents, choice: Choice, tokenizer: Tokenizer
) -> Iterator[tuple[str, Group]]:
    """A group for each wording of each question, with the name of its document; documents in order."""
    asked: dict[str, list[Question]] = {}
    for question in documents.questions:
        asked.setdefault(question.document, []).append(question)
    for name, questions in asked.items():
        ranked = RankedWindows(documents.texts[name], tokenizer)
        for question in questions:
            for wording in question.wordings:
                examples = compete(question, ranked.best_first(wording), choice)
                yield name, Group(wording, examples, documents.source)


def found_groups(asked: Asked, found: Mapping[str, Found], choice: Choice) -> Iterator[Group]:
    """A group for each question, of the windows that search found in its document.

    Windows of other documents are left out: what they say may be right, but for the name in the question.
    Over the folder every second question is asked without the words that name its document.
    """
    for number, question in enumerate(asked.questions):
        own = found[question.question_id]
        windows = [
            window
            for chunk in own.chunks
            if chunk.document == question.document
            for window in chunk.read_windows()
        ]
        if windows:
            wording = own.clause_question if number % 2 else own.text
            yield Group(wording, compete(question, windows, choice, asked.wording), f"{asked.writer}-found")


def compete(
    question: Question, best_first: Sequence[Window], choice: Choice, skip: int = 0
) -> tuple[Example, ...]:
    """The best right windows, the first once more without its evidence, and the best wrong ones.

    Windows that touch the passage that is near come before the other wrong ones, of which `skip` are skipped.
    """
    right = [
        Example(window.passage, evidence)
        for window in best_first
        if (evidence := evidence_in(window, question.gold))
    ][: choice.right]
    near = [question.near] if question.near else []
    wrong = [window for window in best_first if not touches(window, question.gold)]
    nearest = [window for window in wrong if touches(window, near)]
    others = [window for window in wrong if not touches(window, near)][skip :: choice.every]
    emptied = [example for example in map(Example.without_evidence, right[:1]) if example]
    chosen = [Example(window.passage) for window in (nearest + others)[: choice.wrong]]
    return (*right, *emptied, *chosen)


def general_group(group: Group) -> Group:
    """The group with its first right passage once more, without the evidence."""
    emptied = next((rest for example in group.examples if (rest := example.without_evidence())), None)
    return Group(group.question, (*group.examples, emptied), group.source) if emptied else group
