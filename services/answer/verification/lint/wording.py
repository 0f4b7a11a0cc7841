"""Words: which carry content, and which are names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from corpus.stems import stems_of
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import (
    AUXILIARIES,
    CURRENCIES,
    FUNCTION_WORDS,
    GENERIC,
    NUMBER_WORDS,
)

_FINITE = re.compile(r"[^s]s$")
_ACTOR_REACH = 12
"""Tokens before a verb that may name who does it."""
_AGENT_REACH = 16
"""Tokens behind `by` that may name who does it."""
_AFTER_AGENT = frozenset((*".!?;,", "to", "from", "for", "by", "if", "unless"))
"""End the name behind `by`."""
_DONE = re.compile(r"(?:ed|[aeo]wn|en|aid|old|ent|ept|ade|one)$")
_SENTENCE_ENDS = frozenset(".!?;")
_BE = frozenset(("is", "are", "was", "were", "be", "been"))


def is_content(token: Token) -> bool:
    """Whether a token is a word that a quote should hold."""
    word = token.word
    return (
        token.kind is Kind.WORD
        and len(word) > 1
        and word not in FUNCTION_WORDS
        and word not in NUMBER_WORDS
        and not word.endswith("n't")
    )


@lru_cache(maxsize=8192)
def stem_of(word: str) -> str:
    """The English stem; one-letter words are their own."""
    stems = stems_of(word.removesuffix("'s").removesuffix("'"))
    return stems[0] if stems else word


def links_of(tokens: Sequence[Token]) -> Iterator[Token]:
    """Links and e-mail addresses."""
    return (token for token in tokens if token.kind is Kind.LINK)


def names_of(tokens: Sequence[Token]) -> Iterator[Token]:
    """Words with a capital that no sentence start explains."""
    for i, token in enumerate(tokens):
        if not is_content(token) or token.text[0].islower() or token.word in CURRENCIES:
            continue
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        leads_name = following is not None and following.text[0].isupper() and is_content(following)
        if not token.starts or leads_name or not token.text[1:].islower():
            yield token


def actors_of(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Who does something, or must or may, and what, as far as the words right behind tell.

    A name at the start of a sentence looks like any other word; and `the customer may sell` shares all other
    words with `the vendor may sell`.
    """
    for i, actor in enumerate(tokens[:-2]):
        verb, behind = tokens[i + 1], tokens[i + 2]
        if not is_content(actor) or actor.word in GENERIC:
            continue
        if verb.word in AUXILIARIES:
            denied = behind.word == "not" and i + 3 < len(tokens)
            yield actor, tokens[i + 3] if denied else behind
        elif actor.text[0].isupper() and _is_finite(verb, behind):
            yield actor, verb
    for deed, by in _passives(tokens):
        # `By the Licensee`: articles stand between, other words make it a longer name.
        named = next((token for token in by if is_content(token) and token.word not in GENERIC), None)
        if named:
            yield named, deed


def acting_in(tokens: Sequence[Token]) -> Mapping[str, set[str]]:
    """The stems of all that may be meant to do a deed, by its stem: `pay` of `A and B shall pay`."""
    acting: dict[str, set[str]] = defaultdict(set)
    for i, verb in enumerate(tokens[:-1]):
        behind = tokens[i + 2 : i + 3] if tokens[i + 1].word == "not" else tokens[i + 1 : i + 2]
        deed = behind[0] if verb.word in AUXILIARIES and behind else verb
        if is_content(deed) and (deed is not verb or _is_finite(verb, tokens[i + 1])):
            before = _of_sentence(tokens, i)
            acting[stem_of(deed.word)] |= {stem_of(token.word) for token in before if is_content(token)}
    for deed, by in _passives(tokens):
        acting[stem_of(deed.word)] |= {stem_of(token.word) for token in by if is_content(token)}
    return acting


def _of_sentence(tokens: Sequence[Token], i: int) -> Sequence[Token]:
    """The tokens before token `i`, within reach and in its sentence."""
    start = max(0, i - _ACTOR_REACH)
    ends = (at + 1 for at in range(i - 1, start - 1, -1) if tokens[at].text in _SENTENCE_ENDS)
    return tokens[next(ends, start) : i]


def _passives(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each deed of `is granted by the Vendor` with the words behind its `by`."""
    for i, token in enumerate(tokens[:-1]):
        if token.word == "by" and i and is_content(tokens[i - 1]) and _DONE.search(tokens[i - 1].word):
            behind = tokens[i + 1 : i + 1 + _AGENT_REACH]
            end = next((at for at, token in enumerate(behind) if token.word in _AFTER_AGENT), len(behind))
            yield tokens[i - 1], behind[:end]


def _is_finite(verb: Token, behind: Token) -> bool:
    """Whether a word may be a verb like `pays`; plurals have a verb behind them."""
    noun = behind.word in _BE or behind.word in AUXILIARIES
    return not noun and is_content(verb) and _FINITE.search(verb.word) is not None


def words_of(tokens: Sequence[Token]) -> Iterator[Token]:
    """Words that carry content."""
    return (token for token in tokens if is_content(token))


def excerpt(tokens: Sequence[Token]) -> str:
    """Tokens for a report."""
    return ", ".join(dict.fromkeys(written([token]) for token in tokens))
