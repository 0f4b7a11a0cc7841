"""Leaves out of an article's prose what turns a sentence of the documents round.

Prose has no quotes. What can be compared is a sentence whose words nearly all stand in one sentence of the
documents: that sentence may deny it, allow it under a condition only, or say it of other parties. Prose in
other words, or made of several sentences, is not compared: only its numbers and links are, see `compiling`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.contracts.article import ArticleReply
from services.answer.sentences import sentences_around
from services.answer.verification import splitting
from services.answer.verification.lint import LintRule, lint
from services.answer.verification.lint.tokens import tokens_of
from services.answer.verification.lint.vocabulary import AUXILIARIES
from services.answer.verification.lint.wording import actors_of, stem_of, words_of

TAKEN_SHARE = 0.75
"""Share of a sentence's content words that stand in a sentence of the documents when it is taken from it."""
MIN_WORDS = 2
"""A sentence of fewer content words may be about anything."""
COMPARED = 4
"""Sentences of the documents, those with most of the words, that a sentence is compared with."""
TURNED = frozenset(
    (
        LintRule.NEGATION,
        LintRule.CONDITION,
        LintRule.DENIED,
        LintRule.RELATION,
        LintRule.MODAL,
        LintRule.NAME,
        LintRule.NUMBER,
    )
)
_SAYING = AUXILIARIES | {"is", "are", "was", "were", "has", "have"}
_ENDS = (".", "!", "?")
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)])[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kept:
    """Texts without the sentences that turn the documents round."""

    summary: str
    concepts: tuple[str, ...]
    body: str
    left_out: int


class Prose:
    """The sentences of documents, to compare prose with."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._sentences = tuple(dict.fromkeys(whole for chunk in chunks for whole in _wholes(chunk)))
        self._holding: dict[str, list[int]] = defaultdict(list)
        for i, sentence in enumerate(self._sentences):
            for stem in _stems(sentence):
                self._holding[stem].append(i)

    def turns_round(self, sentence: str) -> bool:
        """Whether the words of a sentence stand in the documents, and no sentence there says the same."""
        stems = _stems(sentence)
        if len(stems) < MIN_WORDS or not (sentence.endswith(_ENDS) or _states(sentence)):
            return False
        shared = Counter(i for stem in stems for i in self._holding.get(stem, ()))
        near = [i for i, count in shared.most_common(COMPARED) if count >= TAKEN_SHARE * len(stems)]
        return bool(near) and all(self._is_turned(sentence, self._sentences[i]) for i in near)

    def kept(self, reply: ArticleReply) -> Kept:
        """Summary, concepts and body without what turns the documents round, and how much that is."""
        summary, from_summary = self._without(reply.summary)
        body, from_body = self._without(reply.article_body)
        concepts = tuple(concept for concept in reply.concepts if not self.turns_round(concept))
        left_out = from_summary + from_body + len(reply.concepts) - len(concepts)
        return Kept(summary, concepts, body, left_out)

    def _is_turned(self, sentence: str, whole: str) -> bool:
        return any(finding.rule in TURNED for finding in lint(sentence, [whole]))

    def _without(self, text: str) -> tuple[str, int]:
        """A text without those of its sentences, and their number; list items that are left empty go."""
        left_out = [sentence for sentence in splitting.sentences_of(text) if self.turns_round(sentence)]
        if not left_out:
            return text, 0
        for sentence in left_out:
            text = text.replace(sentence, "", 1)
        return _EMPTY_ITEM.sub("", f"{text}\n").strip(), len(left_out)


def broken_rules(reply: ArticleReply, prose: Prose) -> Iterator[str]:
    """What cannot be left out: the title, all of the summary, all of the body."""
    if prose.turns_round(reply.title):
        yield "title: the documents deny it, or say it under a condition or of another party only."
    kept = prose.kept(reply)
    for name, text in (("summary", kept.summary), ("article_body", kept.body)):
        if not any(character.isalnum() for character in text):
            yield f"{name}: the documents deny each sentence, or say it under a condition only."


def _wholes(chunk: Chunk) -> Iterator[str]:
    """The sentences of a chunk, each with what leads into its list."""
    start = chunk.span.start
    for span in chunk.sentences or (Span(start, chunk.span.end),):
        around = sentences_around(chunk, span)
        yield chunk.text[around.start - start : around.end - start]


def _states(text: str) -> bool:
    """Whether a text says that something is, is done or must be, as no term and few headings do."""
    tokens = tokens_of(text)
    return any(token.word in _SAYING for token in tokens) or any(actors_of(tokens))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(token.word) for token in words_of(tokens_of(text)))
