"""A made-up contract of four windows and what search may find in it."""

from corpus.spans import Span
from inference.reading.model import Passage
from training.examples import Window
from training.found import Found, FoundChunk
from training.sets import Question

TEXTS = ("Fees are due. ", "Fees double. ", "Law is that of Bern. ", "Notices go by post. ")
STARTS = (0, 14, 27, 48)
WINDOWS = tuple(
    Window(start, Passage(text, (Span(0, len(text) - 1),))) for start, text in zip(STARTS, TEXTS, strict=True)
)


def question(*gold: Span, near: Span | None = None) -> Question:
    return Question("q", ("when?", "when, at Acme?"), "acme.txt", gold, near)


def chunk(number: int, score: float = 0.0, document: str = "acme.txt") -> FoundChunk:
    text = TEXTS[number]
    sentence = Span(0, len(text) - 1)
    return FoundChunk(document, STARTS[number], text, score, (sentence,), (sentence,))


def found(*chunks: FoundChunk, gate: float = 0.5) -> Found:
    return Found("q", "when, at Acme?", "when?", gate, chunks)
