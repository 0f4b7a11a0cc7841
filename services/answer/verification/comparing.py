"""Compares a claim with a passage: what it says beyond it, and what it says otherwise.

The claim is put into the words of the passage, see `rewording`; what the lint then finds, and every word of
content that is still missing, is a difference. Nothing is forgiven but words that add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from corpus.spans import Span
from services.answer.sentences import CELL_SEPARATOR, is_row
from services.answer.verification.contradicting import SAME, Sides, said_instead
from services.answer.verification.lint import Finding, LintRule, lint
from services.answer.verification.lint.conditions import Condition, conditions_of
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.reading import Text
from services.answer.verification.lint.tokens import Kind, Token, tokens_of
from services.answer.verification.lint.vocabulary import (
    CURRENCIES,
    GENERIC,
    MODALS,
    NEGATIONS,
    OPPOSITES,
    TIMES,
    Force,
)
from services.answer.verification.lint.wording import is_content, stem_of, words_of
from services.answer.verification.narrowing import narrowed
from services.answer.verification.parties import other_party_of_row, other_subjects
from services.answer.verification.passages import Passage
from services.answer.verification.rewording import Reworded, in_plain_words, in_words_of
from services.answer.verification.same_meaning import ANYBODY, LIGHT, SHARES, UNIVERSAL, meaning_stem

SAME_THING = 0.8
"""Share of a claim's words that a passage needs to speak of the same thing; with less nothing contradicts."""
HELD_SHARE, MIN_HELD = 0.5, 2
"""Share and number of a claim's words on the side of a condition that holds under it only."""
TOLD_SHARE = 0.3
"""Share of the words of a condition by which a claim tells it."""
OTHER_WORDS_SHARE = 0.2
"""Words that a claim may have more or less than its clause to be the same sentence in another order."""
ROW_WORDS_LEFT_OUT = 1
"""Words of a row's first cell that a claim about its value may leave out."""
MAX_MARKED = 50
"""Words and findings that are told of one claim; to find the place of each takes the length of the claim."""
_LICENCES = frozenset(("licence", "license", "licences", "licenses"))
_CONDITION_ENDS = frozenset(",.;!?")
_PAIR = 2
_NO_CONTENT = frozenset(
    (*TIMES, *NEGATIONS, *MODALS, "percent", "cent", "duty", "duties", "obligation", "obligations")
)
"""What the lint compares; a clause may say it without the word."""
_FINITE = re.compile(r"(?:[^s]s|ed)$")
_COUNT_OF_ONCE = frozenset(("in", "per", "a", "each", "every", "for"))


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a claim says and its clause does not, see `clausegate.answer.v1.LintFinding`."""

    rule: LintRule
    text: str
    """The words of the claim; those of the clause where the claim leaves them out."""
    span: Span | None = None
    """Where they stand in the claim; None where it leaves them out."""
    clause_text: str = ""
    """What the clause says in their place; empty where it says nothing of it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside a passage."""

    passage: Passage
    share: float
    """How much of the claim's words the passage has, rare words counting more, 0 to 1."""
    differences: tuple[Difference, ...]

    @property
    def contradicted(self) -> bool:
        """Whether the passage speaks of the same thing and says otherwise."""
        return any(difference.clause_text for difference in self.differences)


def compare(claim: str, passage: Passage, weights: Mapping[str, float]) -> Comparison:
    """A claim beside a passage; `weights` say how much a stem counts, one that is not there as the mean."""
    said = in_words_of(claim, passage.text)
    missing = _missing(said.text, passage)
    share = _share(said.text, passage, missing, weights)
    words = [
        Difference(LintRule.UNSUPPORTED_WORDS, token.text, said.locate(token.text))
        for token in missing[:MAX_MARKED]
    ]
    told = dict[Span | str, Difference]()
    for difference in (*_differences(said, passage, share), *words):
        # What several rules find is told once, by the first of them.
        told.setdefault(difference.span or difference.text, difference)
    return Comparison(passage, share, tuple(told.values()))


@lru_cache(maxsize=4096)
def stems_in(text: str) -> frozenset[str]:
    """Stems of all words and numbers of a text."""
    return frozenset(meaning_stem(token.text) for token in tokens_of(text) if token.kind is not Kind.MARK)


def _content_of(text: str) -> list[Token]:
    return [token for token in words_of(tokens_of(text)) if token.word not in _NO_CONTENT]


def _missing(claim: str, passage: Passage) -> list[Token]:
    """Words of content that the passage lacks; where it has their opposite, the lint says so."""
    known = stems_in(passage.text)
    return [
        token
        for token in _content_of(claim)
        if not known & {meaning_stem(token.text), stem_of(token.word)}
        and meaning_stem(token.text) not in LIGHT
        and token.word not in CURRENCIES
        and not any(stem_of(opposite) in known for opposite in OPPOSITES.get(token.word, ()))
    ]


def _share(claim: str, passage: Passage, missing: Sequence[Token], weights: Mapping[str, float]) -> float:
    mean = sum(weights.values()) / len(weights) if weights else 1.0

    def weight(tokens: Sequence[Token]) -> float:
        return sum(weights.get(meaning_stem(token.text), mean) for token in tokens)

    numbers = {token.word for token in tokens_of(claim) if token.kind in (Kind.NUMBER, Kind.CODE)}
    held = mean * len(numbers & stems_in(passage.text))
    known = stems_in(passage.text)
    content = [
        token
        for token in _content_of(claim)
        if meaning_stem(token.text) not in LIGHT or meaning_stem(token.text) in known
    ]
    everything = weight(content) + held
    return 1 - weight(missing) / everything if everything else 0.0


def _differences(said: Reworded, passage: Passage, share: float) -> Iterator[Difference]:
    claim, clause = Text(), Text()
    claim.add(said.text)
    readings = [in_plain_words(reading) for reading in passage.readings]
    for reading in readings:
        clause.add(reading)
    around = passage.chunk.text if passage.sentences and is_row(passage.sentences[0]) else passage.around
    sides = Sides(claim, clause, tokens_of(around))
    for finding in lint(said.text, readings, passage.around)[:MAX_MARKED]:
        instead = said_instead(finding, sides)
        if instead is SAME or finding.rule in (LintRule.UNSUPPORTED_WORDS, LintRule.CONDITION):
            continue
        yield Difference(
            finding.rule, finding.text, said.locate(finding.text), instead if share >= SAME_THING else ""
        )
    for condition in conditions_of(clause.tokens):
        if _leaves_out(condition, sides):
            yield Difference(LintRule.CONDITION, condition.text)
    yield from _of_other_parties(said, passage, sides, readings)
    yield from (Difference(left.rule, left.text) for left in narrowed(claim.tokens, clause.tokens))
    for words in (*_generalised(claim.tokens, clause.tokens), *_made_fact(sides), *_names_exchanged(sides)):
        yield Difference(words.rule, words.text, said.locate(words.text))


def _of_other_parties(
    said: Reworded, passage: Passage, sides: Sides, readings: Sequence[str]
) -> Iterator[Difference]:
    """Parties that a claim has act and its clause does not, and what a claim leaves out of a row's name."""
    names = frozenset(passage.chunk.source.casefold().split())
    if passage.sentences and is_row(passage.sentences[0]):
        yield from _unlabelled(said.text, passage.sentences[0].text)
        other = other_party_of_row(sides.claim.tokens, readings[0], names)
        if other:
            yield Difference(LintRule.NAME, other[0], said.locate(other[0]), other[1])
    else:
        for finding in other_subjects(sides.claim.tokens, sides.clause.tokens, names):
            yield Difference(finding.rule, finding.text, said.locate(finding.text))


def _unlabelled(claim: str, row: str) -> Iterator[Difference]:
    """What a row is about, where a claim leaves most of it out: `received after the 20th day`."""
    label = row.split(CELL_SEPARATOR)[0]
    told = stems_in(claim)
    codes = (token for token in tokens_of(label) if token.kind is Kind.CODE)
    lacking = [token for token in (*_content_of(label), *codes) if meaning_stem(token.text) not in told]
    if len(lacking) > ROW_WORDS_LEFT_OUT:
        yield Difference(LintRule.CONDITION, label)


def _leaves_out(condition: Condition, sides: Sides) -> bool:
    """Whether a claim is about what holds under a condition, and says nothing of it."""
    behind = condition.text.split()[1:2]
    if condition.mark == "once" and not _COUNT_OF_ONCE.isdisjoint(behind):
        return False
    own = [stem for stem in dict.fromkeys(_stems_of(condition, sides)) if stem not in condition.main]
    told = bool(own) and sum(stem in sides.stems for stem in own) >= TOLD_SHARE * len(own)
    marked = _count(sides.claim, condition.mark) >= _count(sides.clause, condition.mark)
    held = sum(stem in condition.main for stem in sides.stems)
    return not (told or marked) and held >= max(MIN_HELD, HELD_SHARE * len(sides.stems))


def _count(text: Text, word: str) -> int:
    return sum(token.word == word for token in text.tokens)


def _stems_of(condition: Condition, sides: Sides) -> Iterator[str]:
    """Stems of all that a condition says, to the next comma."""
    tokens = sides.clause.tokens
    yield from condition.own
    for i, token in enumerate(tokens):
        if token.word == condition.mark and written(tokens[i : i + 4]) == condition.text:
            said = takewhile(lambda token: token.text not in _CONDITION_ENDS, tokens[i + 1 :])
            own = (token.word for token in said if is_content(token))
            yield from (stem_of(word) for word in own if word not in GENERIC)


def _generalised(claim: Sequence[Token], clause: Sequence[Token]) -> Iterator[Finding]:
    """Words by which a claim says that something holds always, or of all, where the clause does not."""
    for phrase in UNIVERSAL:
        if _says(claim, phrase) and not _says(clause, phrase):
            yield Finding(LintRule.CONDITION, " ".join(phrase))
    if all(token.word not in SHARES for token in clause):
        yield from (
            Finding(LintRule.UNSUPPORTED_WORDS, token.text) for token in claim if token.word in ANYBODY
        )


def _made_fact(sides: Sides) -> Iterator[Finding]:
    """Deeds that the clause only permits and the claim tells as done: `keeps` for `may keep`."""
    allowed = {modal.text.casefold() for modal in sides.clause.modals if modal.force is Force.PERMISSION}
    if allowed <= _LICENCES:
        # `A Firm that wishes to license Data requires a licence` allows nothing by itself.
        yield from (
            Finding(LintRule.MODAL, modal.text)
            for modal in sides.claim.modals
            if modal.asked and modal.force is Force.PERMISSION
        )
    if sides.claim.modals:
        return
    permitted = {
        modal.head
        for modal in sides.clause.modals
        if modal.force is Force.PERMISSION and modal.text in ("may", "can")
    }
    for token in sides.claim.tokens:
        if stem_of(token.word) in permitted and is_content(token) and _FINITE.search(token.word):
            yield Finding(LintRule.MODAL, token.text)


def _names_exchanged(sides: Sides) -> Iterator[Finding]:
    """Two names in each other's place, where a claim has nearly all words of its clause and few others."""
    ours, theirs = _firsts(sides.claim.tokens), _firsts(sides.clause.tokens)
    if len(ours.keys() ^ theirs.keys()) > OTHER_WORDS_SHARE * len(theirs):
        return
    names = {stem for stem, token in theirs.items() if token.text[0].isupper() and stem in ours}
    in_claim, in_clause = ([stem for stem in words if stem in names] for words in (ours, theirs))
    moved = [own for own, other in zip(in_claim, in_clause, strict=True) if own != other]
    if len(moved) == _PAIR:
        yield from (Finding(LintRule.RELATION, ours[own].text) for own in moved)


def _firsts(tokens: Sequence[Token]) -> Mapping[str, Token]:
    """The first token of each stem of content, in order."""
    found = dict[str, Token]()
    for token in filter(is_content, tokens):
        found.setdefault(stem_of(token.word), token)
    return found


def _says(tokens: Sequence[Token], phrase: Sequence[str]) -> bool:
    words = [token.word for token in tokens]
    return any(words[i : i + len(phrase)] == list(phrase) for i in range(len(words)))
