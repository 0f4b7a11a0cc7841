"""What the reader learns from: a question, passages, and the sentences of them that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokenizers import Tokenizer

from corpus.spans import Span
from inference.reading.model import Passage
from services.ingest import sentences
from services.retrieval.windows import cut_windows


@dataclass(frozen=True, slots=True)
class Window:
    """A passage and where it stands in its document."""

    start: int
    """Code points of the document before it."""
    passage: Passage

    @property
    def end(self) -> int:
        """Code points of the document up to its end."""
        return self.start + len(self.passage.text)


@dataclass(frozen=True, slots=True)
class Example:
    """A passage that answers a question with some of its sentences, or with none."""

    passage: Passage
    evidence: frozenset[int] = frozenset()
    """Indexes of the sentences that answer; empty when the passage does not."""
    omitted: frozenset[int] = frozenset()
    """Indexes of the sentences that the reader does not get to see."""

    @property
    def answers(self) -> bool:
        """Whether the passage answers the question."""
        return bool(self.evidence)

    def without_evidence(self) -> Example | None:
        """The rest of the passage, which does not answer; None when nothing is left or nothing was taken."""
        if not self.evidence or len(self.evidence) + len(self.omitted) >= len(self.passage.sentences):
            return None
        return replace(self, evidence=frozenset(), omitted=self.evidence | self.omitted)


@dataclass(frozen=True, slots=True)
class Group:
    """A question and the passages that compete to answer it."""

    question: str
    examples: tuple[Example, ...]
    source: str
    """The set that it is from, for weights and figures."""


def passage_of(text: str) -> Passage:
    """The whole text as a passage, its sentences found as ingest finds them."""
    return Passage(text, tuple(sentences.split(text, Span(0, len(text)))))


def windows_of(text: str, start: int, tokenizer: Tokenizer) -> list[Window]:
    """The windows of a part of a document that begins at `start`, cut as retrieval cuts those it embeds."""
    found = sentences.split(text, Span(0, len(text)))
    tokens = tuple(tokenizer.encode(text, add_special_tokens=False).offsets)
    cuts = cut_windows(text, tokens, [sentence.end for sentence in found])
    return [
        Window(start + cut.start, _part(text, Span(cut.start, cut.end), found))
        for cut in cuts
        if text[cut.start : cut.end].strip()
    ]


def _part(text: str, cut: Span, found: Sequence[Span]) -> Passage:
    inside = [
        Span(max(sentence.start, cut.start) - cut.start, min(sentence.end, cut.end) - cut.start)
        for sentence in found
        if sentence.start < cut.end and sentence.end > cut.start
    ]
    return Passage(text[cut.start : cut.end], tuple(inside))


def evidence_in(window: Window, gold: Sequence[Span]) -> frozenset[int]:
    """Indexes of the sentences that share half of the shorter with a gold span of the document."""
    return frozenset(
        index
        for index, sentence in enumerate(window.passage.sentences)
        if any(_meets(window.start + sentence.start, window.start + sentence.end, span) for span in gold)
    )


def touches(window: Window, gold: Sequence[Span]) -> bool:
    """Whether the window shares a code point with a gold span of the document."""
    return any(window.start < span.end and span.start < window.end for span in gold)


def _meets(start: int, end: int, gold: Span) -> bool:
    shared = min(end, gold.end) - max(start, gold.start)
    return shared > 0 and 2 * shared >= min(end - start, gold.end - gold.start)
