"""Finds the sentence beside a clause that takes back what it says: `The limit does not apply where …`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corpus.chunks import Chunk
from services.answer.sentences import Sentence, is_row, sentences_of
from services.answer.verification.lint.bounds import bounds_of
from services.answer.verification.lint.tokens import tokens_of
from services.answer.verification.lint.vocabulary import GENERIC
from services.answer.verification.lint.wording import words_of
from services.answer.verification.parties import is_party
from services.answer.verification.passages import Passage
from services.answer.verification.same_meaning import meaning_stem

_BEFORE, _BEHIND = 1, 3
"""Sentences of the same clause before and behind what it says that may limit it."""
_NUMBER = r"(?:\W*(?:\d+(?:\.\d+)*\.?|\([a-z]{1,4}\))\s+)?"
_NEW_CLAUSE = re.compile(r"\W*\d+(?:\.\d+)+\.?\s|\W*\d+\.\s")
_TURNS = re.compile(
    rf"{_NUMBER}(?:However|But|Nevertheless|Nonetheless|Notwithstanding|Despite|Except|Save|Otherwise|Conversely"
    r"|By way of exception|Provided|Nothing in|In no event)\b"
)
"""How a sentence begins that limits the one before it."""
_ENDS_IT = re.compile(
    r"\b(?:(?:do|does|shall|will|must|may|can) not (?:apply|extend|cover|include|limit|permit|give|allow)"
    r"|(?:cease|ceases) to apply|(?:applies|apply|apply to|applies to|available) only"
    r"|only (?:applies|apply|extends)|(?:is|are) not (?:available|permitted|allowed))\b"
)
"""Says of what was said that it does not hold, or not always."""
_NARROWS = re.compile(
    r"\b(?:except|unless|subject to|provided that|only (?:if|where|when|for|to|in|with))\b",
    re.IGNORECASE,
)
"""Limits what it speaks of itself."""
_GOES_ON = re.compile(
    rf"{_NUMBER}(?:This|That|These|Those|Such|It|They"
    r"|The (?:above|foregoing|same|previous|right|duty|obligation|permission|licence"
    r"|license|exception|exemption|waiver|exclusion|rule|discount|period|entitlement|grant|consent))\b"
)
_LIMIT = re.compile(rf"{_NUMBER}(?:The|This|That|Such) (?:limit|limitation|maximum|cap|restriction)s?\b")
_UPPER = frozenset(("<", "<="))
_REFERENCE = (
    r"\b(?:[Cc]lauses?|[Ss]ections?|[Pp]aragraphs?|[Aa]rticles?)\s+(?:[\d.,()a-z]+\s+(?:and|or|to)\s+)*"
)
_CLAUSE_NUMBER = re.compile(r"\W*(\d+(?:\.\d+)+)\b")
_TOLD_SHARE = 0.5
"""Share of the words of a limiting sentence by which a claim tells it."""


def limiting(claim: str, passage: Passage, chunks: Iterable[Chunk]) -> Sentence | None:
    """The sentence that limits or takes back what a passage says, and that a claim leaves out."""
    beside = (sentence for sentence in _beside(passage) if _limits(sentence.text, claim))
    referring = (sentence for sentence in _referring(passage, chunks) if _says_it_ends(sentence.text))
    said = "\n".join(passage.readings)
    found = (sentence for sentence in (*beside, *referring) if not _is_told(sentence.text, claim, said))
    return next(found, None)


def _beside(passage: Passage) -> Iterator[Sentence]:
    """The sentences of the same clause next to a passage, those behind it first."""
    sentences = list(sentences_of(passage.chunk))
    places = [i for i, sentence in enumerate(sentences) if sentence.span.overlap(passage.span)]
    if not places:
        return
    section = passage.chunk.section_at(passage.span.start)
    for sentence in sentences[places[-1] + 1 : places[-1] + 1 + _BEHIND]:
        if _NEW_CLAUSE.match(sentence.text) or passage.chunk.section_at(sentence.span.start) != section:
            break
        yield sentence
    if not _NEW_CLAUSE.match(sentences[places[0]].text):
        yield from (
            sentence
            for sentence in sentences[max(0, places[0] - _BEFORE) : places[0]]
            if passage.chunk.section_at(sentence.span.start) == section and not is_row(sentence)
        )


def _referring(passage: Passage, chunks: Iterable[Chunk]) -> Iterator[Sentence]:
    """Sentences of the same document that speak of the passage's clause by its number."""
    number = _CLAUSE_NUMBER.match(passage.sentences[0].text)
    if not number:
        return
    reference = re.compile(rf"{_REFERENCE}{re.escape(number[1])}(?![\d(]|\.\d)")
    for chunk in chunks:
        if chunk.document_id == passage.chunk.document_id and number[1] in chunk.text:
            yield from (sentence for sentence in sentences_of(chunk) if reference.search(sentence.text))


def _limits(sentence: str, claim: str) -> bool:
    if _TURNS.match(sentence):
        return True
    if _LIMIT.match(sentence):
        return any(bound.relation in _UPPER for bound in bounds_of(tokens_of(claim)))
    shared = len(_words(sentence) & _words(claim))
    if _ENDS_IT.search(sentence):
        return shared > 0 or _GOES_ON.match(sentence) is not None
    limit = _NARROWS.search(sentence)
    if limit is None:
        return False
    return not _words(sentence[: limit.start()]).isdisjoint(_words(claim)) or bool(_GOES_ON.match(sentence))


def _says_it_ends(sentence: str) -> bool:
    """Whether a sentence that names a clause says that it does not hold."""
    return bool(_ENDS_IT.search(sentence) or _TURNS.match(sentence))


def _is_told(sentence: str, claim: str, said: str) -> bool:
    """Whether a claim has the words by which a sentence limits what was `said`."""
    own = _words(sentence) - _words(said)
    return len(own & _words(claim)) >= _TOLD_SHARE * len(own)


def _words(text: str) -> frozenset[str]:
    return frozenset(
        meaning_stem(token.text)
        for token in words_of(tokens_of(text))
        if token.word not in GENERIC and not is_party(token.word)
    )
