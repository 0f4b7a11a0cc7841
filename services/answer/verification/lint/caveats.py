"""What the lint cannot tell of a statement that it lets pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from services.answer.verification.lint import wording
from services.answer.verification.lint.conditions import conditions_of
from services.answer.verification.lint.governing import governed_in
from services.answer.verification.lint.polarity import negations_of
from services.answer.verification.lint.relations import replaced
from services.answer.verification.lint.tokens import Kind, Token, tokens_of
from services.answer.verification.lint.vocabulary import CURRENCIES, NUMBER_WORDS

_ROLE = re.compile(r"(?:or|er|ee|ant)s?$")
_PARTING = frozenset(("and", "but", "while", "whereas"))
"""What stands between clauses of one sentence."""
_PARTIES = 2
"""So many may have changed places."""


class Caveat(StrEnum):
    """What only a reader of the quote can tell, see `clausegate.answer.v1.GroundingCaveat`."""

    PARTIES = "parties"
    DENIAL = "denial"
    CONDITION = "condition"
    OTHER_WORD = "other_word"
    JOINED_QUOTES = "joined_quotes"


def caveats(statement: str, sentences: Sequence[str]) -> tuple[Caveat, ...]:
    """What cannot be told of a statement that rests on these whole sentences; nothing where it is them."""
    source = tokens_of("\n".join(sentences))
    told = [token.word for token in source if token.kind is not Kind.MARK]
    claim = tokens_of(statement)
    if [token.word for token in claim if token.kind is not Kind.MARK] == told:
        return ()
    return tuple(_found(statement, claim, source, sentences))


def replaced_words(statement: str, quotes: Sequence[str], question: str = "") -> tuple[str, ...]:
    """Words of `statement` that stand where the quotes have another: `destroy` for `return`, or for `erase`.

    Whether they mean the same no list of words can tell, so `lint` lets them pass.
    """
    source = [token for quote in quotes for token in tokens_of(quote)]
    known = {wording.stem_of(token.word) for token in (*source, *tokens_of(question))}
    return tuple(dict.fromkeys(replaced(tokens_of(statement), source, known)))


def unknown_beginnings(statement: str, quotes: Sequence[str], question: str) -> tuple[str, ...]:
    """Words that begin a sentence of `statement` and stand in no quote: they may be names, which begin with
    a capital elsewhere as well. A word that the question has without one is none."""
    source = (token for quote in quotes for token in tokens_of(quote))
    plain = (token for token in tokens_of(question) if token.text[:1].islower())
    known = {wording.stem_of(token.word) for token in (*source, *plain)}
    begun = (token for token in tokens_of(statement) if token.starts and wording.is_content(token))
    return tuple(token.text for token in begun if wording.stem_of(token.word) not in known)


def joined_halves(statement: str, quotes: Sequence[str]) -> tuple[str, ...]:
    """Names of one clause of the quotes of which `statement` says what only another clause says of another.

    `The Vendor pays USD 70` of `The Vendor pays USD 50 and the Licensee pays USD 70`.
    """
    said = {_stem(token) for token in tokens_of(statement)}
    clauses = [clause for quote in quotes for clause in _clauses(tokens_of(quote))]
    held = Counter(stem for clause in clauses for stem in {_stem(token) for token in clause})
    halves = []
    for clause in clauses:
        own = [token for token in clause if held[_stem(token)] == 1 and _tells(token)]
        names = {_stem(token): token.text for token in own if _is_name(token)}
        halves.append((names, {_stem(token) for token in own} - names.keys()))
    named = {i: names for i, (names, _) in enumerate(halves) if not said.isdisjoint(names)}
    taken = [i for i, (names, others) in enumerate(halves) if names and not said.isdisjoint(others)]
    if all(i in named for i in taken):
        return ()
    return tuple(text for names in named.values() for stem, text in names.items() if stem in said)


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for token in tokens:
        if token.word in _PARTING or token.text in ".;":
            yield clause
            clause = []
        else:
            clause.append(token)
    yield clause


def _is_name(token: Token) -> bool:
    return token.text[0].isupper() and token.word not in CURRENCIES


def _tells(token: Token) -> bool:
    return wording.is_content(token) or token.kind is Kind.NUMBER


def _stem(token: Token) -> str:
    return wording.stem_of(token.word)


def says_something(statement: str) -> bool:
    """Whether a statement has a number or a word that carries content."""
    tokens = [token for token in tokens_of(statement) if token.kind is not Kind.MARK]
    return any(
        token.kind is not Kind.WORD or token.word in NUMBER_WORDS or wording.is_content(token)
        for token in tokens
    )


def _found(
    statement: str, claim: Sequence[Token], source: Sequence[Token], sentences: Sequence[str]
) -> Iterator[Caveat]:
    if len(_parties(source)) >= _PARTIES and _parties(claim):
        yield Caveat.PARTIES
    if any(negations_of(source, frozenset())) or any(governed_in(source)):
        yield Caveat.DENIAL
    if any(conditions_of(source)):
        yield Caveat.CONDITION
    if replaced_words(statement, sentences):
        yield Caveat.OTHER_WORD
    if len(sentences) > 1:
        yield Caveat.JOINED_QUOTES


def _parties(tokens: Sequence[Token]) -> set[str]:
    """Who does something, and what else is named like a party: `Licensee`, `CME`."""
    acting = {actor.word for actor, _ in wording.actors_of(tokens)}
    named = {name.word for name in wording.names_of(tokens) if name.text.isupper() or _ROLE.search(name.word)}
    return {wording.stem_of(word) for word in acting | named}
