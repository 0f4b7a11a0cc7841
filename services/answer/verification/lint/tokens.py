"""Cuts text into words, numbers, codes, links and marks; linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from services.answer.legible import legible
from services.answer.verification.quotes import plain_spelling


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    """Digits with their separators, without a sign: `1,000.50`."""
    CODE = "code"
    """Letters and digits that are one name: `10b-5`, `4.2(a)`, `Q3`, `15th`, `½`."""
    DATE = "date"
    """A date in digits."""
    TIME = "time"
    """`17:00`, `5:30`."""
    CURRENCY = "currency"
    """A sign such as `$`, `US$` or `€`."""
    LINK = "link"
    """A link or an e-mail address."""
    MARK = "mark"
    """Any other character."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text."""

    kind: Kind
    text: str
    word: str
    """Case folded; of an abbreviation without its dots."""
    glued: bool
    """Whether no white space stands before it."""
    starts: bool
    """Whether a sentence begins with it."""


_L = r"[^\W\d_]"
_PIECES = re.compile(
    rf"""
    (?P<date>\d{{4}}-\d\d?-\d\d?(?![\w-]) | \d\d?/\d\d?/\d{{2,4}}(?![\w/]) | \d\d?\.\d\d?\.\d{{4}}(?!\w))
    | (?P<currency>
        (?:US|U\.S\.|CA|C|AU|A|NZ|HK|S)?\$ | [€£¥₹₩₽¢]
        | (?:USD|EUR|GBP|CAD|AUD|CHF|JPY|CNY|HKD|SGD|NZD|INR)(?=\d)
      )
    | (?P<time>\d\d?:\d\d(?::\d\d)?(?![\w:]))
    | (?P<code>
        (?=\d*{_L}+\d|\d+{_L}) [^\W_]+ (?:[-./][^\W_]*\d[^\W_]*|\((?:[A-Za-z]|[ivxlcIVXLC]{{1,5}}|\d\d?)\))*
        | \d+(?:\.\d+)*(?:\((?:[A-Za-z]|[ivxlcIVXLC]{{1,5}}|\d\d?)\))+
        | \d+-[A-Z](?!\w)
        | \d+/\d+(?![\w/])
      )
    | (?P<number>\d+(?:[.,'\u00a0\u202f]\d+)*)
    | (?P<word>{_L}(?:\.{_L})+(?!\w)\.? | {_L}+(?:'(?:s|t|re|ve|ll|d|m)(?!{_L}))?)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SCHEME = re.compile(r"://|^www\.|^mailto:|\w@\w", re.IGNORECASE)
_DOMAIN = re.compile(
    r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|gov|edu|info|biz|eu|uk|de|fr|ch|us|co|ai|app|dev)(?:[/?#].*)?", re.I
)
_AROUND = "()[]{}<>.,;:!?\"'*_`"
_ENDS = frozenset(".!?:;•·")
_OPENS = frozenset("\"'([{*-–—#>|")
_NON = re.compile(r"non(?=[^\W\d_]{6})(?!etheless)", re.IGNORECASE)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, in order, in plain spelling: no ligatures, soft hyphens and curly quotes.

    What nobody sees is not there: it would hide a link (`https:\\u2060//…`) or a word.
    """
    found: list[Token] = []
    starts = True
    for chunk in legible(plain_spelling(text)).split():
        for kind, piece, glued in _pieces(chunk):
            found.append(Token(kind, piece, _folded(piece), glued, starts and kind is not Kind.MARK))
            starts = kind is Kind.MARK and (piece in _ENDS or (starts and piece in _OPENS))
    return found


def _pieces(chunk: str) -> Iterator[tuple[Kind, str, bool]]:
    bare = chunk.strip(_AROUND)
    if _SCHEME.search(bare) or _DOMAIN.fullmatch(bare):
        yield Kind.LINK, bare, False
        return
    for match in _PIECES.finditer(chunk):
        kind = Kind(match.lastgroup or "mark")
        piece = match.group()
        if kind is Kind.WORD and piece.isnumeric():
            kind = Kind.CODE
        glued = match.start() > 0
        if kind is Kind.WORD and (prefix := _NON.match(piece)):
            # `nonexclusive` is `non-exclusive`.
            yield kind, prefix.group(), glued
            yield Kind.MARK, "-", True
            piece, glued = piece[prefix.end() :], True
        yield kind, piece, glued


def _folded(piece: str) -> str:
    return piece.casefold().replace(".", "") if piece[0].isalpha() else piece.casefold()
