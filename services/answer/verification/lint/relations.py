"""Finds what stands otherwise to each other than in the quotes: `before` for `after`, `from` and `to` turned
round, `gross` for `net`, and a word put in another's place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.numerals import numeral_at, trimmed
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import AUXILIARIES, MONTHS, OPPOSITES, RELATIONS
from services.answer.verification.lint.wording import is_content, stem_of

_REACH = 4
"""Tokens between a preposition and its word."""
_ENDS = frozenset(".!?;,:()")
_SKIPPED = frozenset(("a", "an", "the", "such", "any", "its", "their", "said", "applicable", "relevant"))
_DATED = {"from": ("time", "after"), "by": ("time", "before")}
"""Before a number or a month these say when."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A word that relates, what it says in its group, and the word or number that it stands before."""

    group: str
    says: str
    of: str
    behind: str
    """The stem of the content word before it; empty where there is none."""
    text: str


def relations_of(tokens: Sequence[Token]) -> Iterator[Relation]:
    """Every relation, in order."""
    for i, token in enumerate(tokens):
        word, at = token.word, i + 1
        if word == "prior" and at < len(tokens) and tokens[at].word == "to":
            word, at = "before", at + 1
        if word not in RELATIONS or (word == "to" and i and tokens[i - 1].word == "prior"):
            continue
        of, dated = _of(tokens, at)
        if of:
            group, says = _DATED.get(word, RELATIONS[word]) if dated else RELATIONS[word]
            yield Relation(group, says, of, _behind(tokens, i), written(tokens[i : at + 2]))


def exchanged(claim: Sequence[Token], source: Sequence[Token]) -> Iterator[str]:
    """Relations that a claim has otherwise than the quotes.

    Times and shares count by what they are of. Ways count where the word before is the same, or where two
    have changed places: `from the Vendor to the Licensee`.
    """
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    beside: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for relation in relations_of(source):
        known[relation.group, relation.of].add(relation.says)
        beside[relation.group, relation.behind, relation.of].add(relation.says)
    turned = []
    for relation in relations_of(claim):
        stated = known.get((relation.group, relation.of), set())
        if not stated or relation.says in stated:
            continue
        if relation.group != "way" or (
            relation.behind and beside.get((relation.group, relation.behind, relation.of))
        ):
            yield relation.text
        else:
            turned.append(relation)
    if len({relation.of for relation in turned}) > 1:
        yield from (relation.text for relation in turned)


def opposed(claim: Sequence[Token], source: Sequence[Token]) -> Iterator[str]:
    """Words of a claim that the quotes do not have, while they have their opposite."""
    stated = {token.word for token in source}
    for token in claim:
        if token.word not in stated and not stated.isdisjoint(OPPOSITES.get(token.word, ())):
            yield token.text


def replaced(claim: Sequence[Token], source: Sequence[Token], known: Collection[str]) -> Iterator[str]:
    """Content words whose stem is not `known`, in the place of another one between the same words."""
    own = {stem_of(token.word) for token in claim if token.kind is Kind.WORD}
    held: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for word, place in _places(source):
        held[place].add(stem_of(word.word))
    for word, place in _places(claim):
        if stem_of(word.word) not in known and held.get(place, set()) - own:
            yield word.text


def _places(tokens: Sequence[Token]) -> Iterator[tuple[Token, tuple[str, ...]]]:
    """Each content word with the words around it, articles left out: one on each side, two where those are
    such as `is` and `on`, which tell no place."""
    told = [token for token in tokens if token.word not in _SKIPPED]
    for i, word in enumerate(told):
        for reach in (1, 2):
            around = [*told[max(0, i - reach) : i], *told[i + 1 : i + 1 + reach]]
            if len(around) == 2 * reach and is_content(word) and any(map(_tells, around)):
                yield word, tuple(map(_key, around))


def _key(token: Token) -> str:
    return stem_of(token.word) if token.kind is Kind.WORD else token.word


def _tells(token: Token) -> bool:
    """Whether a neighbour tells the place: a content word, a number or a modal."""
    return is_content(token) or token.word in AUXILIARIES or token.kind in (Kind.NUMBER, Kind.CODE)


def _of(tokens: Sequence[Token], i: int) -> tuple[str, bool]:
    """The word or number behind a relation, and whether it says a time."""
    for at in range(i, min(len(tokens), i + _REACH)):
        token = tokens[at]
        if token.text in _ENDS:
            break
        numeral = numeral_at(tokens, at)
        if numeral and token.word != "one":
            return trimmed(numeral.value), True
        if token.kind is Kind.DATE:
            return token.word, True
        if is_content(token):
            return stem_of(token.word), token.word in MONTHS
    return "", False


def _behind(tokens: Sequence[Token], i: int) -> str:
    before = (token for token in reversed(tokens[max(0, i - _REACH) : i]) if is_content(token))
    word = next(before, None)
    return stem_of(word.word) if word else ""
