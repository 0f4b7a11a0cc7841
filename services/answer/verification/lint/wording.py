"""Words: which carry content, and which are names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.answer.stems import stems_of
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import CURRENCIES, FUNCTION_WORDS, NUMBER_WORDS


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


def words_of(tokens: Sequence[Token]) -> Iterator[Token]:
    """Words that carry content."""
    return (token for token in tokens if is_content(token))


def excerpt(tokens: Sequence[Token]) -> str:
    """Tokens for a report."""
    return ", ".join(dict.fromkeys(written([token]) for token in tokens))
