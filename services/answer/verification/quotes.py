"""Finds a quote in stored text, and says how literally it stands there.

Looser levels forgive how text was set (line breaks, ligatures, hyphenation, typographic quotes, case), never
what it says: digits, signs and words are compared as they are, and no match cuts a word or a number in two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.citations import MatchLevel
from corpus.invisible import WITHOUT_WIDTH
from corpus.spans import Span

_LETTER = r"[^\W\d_]"
_LINE_HYPHEN = rf"(?<={_LETTER})[-‐\u00ad][ \t]*\r?\n\s*(?={_LETTER})"
_SOFT_HYPHEN = rf"(?<={_LETTER})\u00ad+(?={_LETTER})"
"""Hyphens are dropped between letters only: beside a digit one may be a sign or a range."""
_NORMALISE = re.compile(r"(?P<blank>\s+)|(?P<other>.)", re.DOTALL)
_FOLD = re.compile(
    rf"(?P<dropped>{_LINE_HYPHEN}|{_SOFT_HYPHEN})|(?P<blank>\s+)|(?P<folded>.)",
    re.DOTALL,
)
_FOLD_KEEPING_HYPHENS = re.compile(
    rf"(?P<hyphen>{_LINE_HYPHEN})|(?P<dropped>{_SOFT_HYPHEN})|(?P<blank>\s+)|(?P<folded>.)",
    re.DOTALL,
)
_BLANKS = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_SPELLING = {
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑", "-"),
}
"""Other dashes and minus signs stay: between numbers they may mean a range or a sign."""
_PLAIN = re.compile(
    rf"(?P<dropped>{_LINE_HYPHEN}|{_SOFT_HYPHEN}|[{WITHOUT_WIDTH}])|(?P<respelled>.)", re.DOTALL
)
_SQUEEZING = str.maketrans(_SPELLING | dict.fromkeys([*"-‐‑\u00ad", *_BLANKS]))
_PAIRS = frozenset((("“", "”"), ("‘", "’"), ("«", "»"), ('"', '"'), ("'", "'")))
_WITHIN_NUMBER = ".,:/-−–'’·\u00a0\u202f"
_BEFORE_NUMBER = "-−–+±~<>≤≥"
_AFTER_NUMBER = "%‰°"


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Where a quote stands: `text[span.start:span.end]` are the stored words."""

    span: Span
    level: MatchLevel


def find_quote(text: str, quote: str, near: int = 0) -> QuoteMatch | None:
    """Find `quote` in `text` at the strictest level that holds it, there the occurrence closest to `near`.

    White space around the quote is ignored, and a pair of quotation marks around it where it does not stand
    with them; a full stop or an ellipsis of its own is not. None when it stands nowhere, or is empty.
    """
    return min(find_quotes(text, quote), key=lambda match: abs(match.span.start - near), default=None)


def find_quotes(text: str, quote: str) -> tuple[QuoteMatch, ...]:
    """Every occurrence at the strictest level that has one, see `find_quote`."""
    wanted = quote.strip()
    found = _find(text, wanted)
    if not found and (wanted[:1], wanted[-1:]) in _PAIRS and len(wanted) > 1:
        return _find(text, wanted[1:-1].strip())
    return found


def _find(text: str, wanted: str) -> tuple[QuoteMatch, ...]:
    if not wanted or _squeezed(wanted) not in _squeezed(text):
        return ()
    for level, pattern in _LEVELS:
        stored, sought = _respell(text, pattern), _respell(wanted, pattern)
        spans = [span for span in stored.occurrences(sought.text) if not _cuts_token(text, span)]
        if spans:
            return tuple(QuoteMatch(span, level) for span in spans)
    return ()


def plain_spelling(text: str) -> str:
    """The text without ligatures, curly quotes, soft hyphens and hyphens at line ends, in its own case."""
    return _PLAIN.sub(lambda match: _SPELLING.get(match.group(), match["respelled"] or ""), text)


def _squeezed(text: str) -> str:
    """The text without all that some level ignores: where even this does not stand, no level finds it.

    Ten times as fast as looking, and most chunks do not hold a quote.
    """
    return text.translate(_SQUEEZING).casefold()


_LEVELS = (
    (MatchLevel.EXACT, None),
    (MatchLevel.NORMALISED, _NORMALISE),
    (MatchLevel.FOLDED, _FOLD),
    # A hyphen at the end of a line may be the word's own: `non-\nexclusive`.
    (MatchLevel.FOLDED, _FOLD_KEEPING_HYPHENS),
)


def occurrences(text: str, sought: str) -> Iterator[int]:
    """Where `sought` stands in `text`, in order, also where one occurrence overlaps the next; in linear time.

    Occurrences that overlap by half or more repeat the same characters (Fine and Wilf, 1965), so that only
    those behind the last one are compared; searching for each anew is quadratic in `a a a a …`.
    """
    at = text.find(sought) if sought else -1
    while at >= 0:
        yield at
        following = text.find(sought, at + 1)
        period = following - at
        if 0 < period <= len(sought) // 2:
            repeated = sought[-period:]
            while text.startswith(repeated, at + len(sought)):
                at += period
                yield at
            following = text.find(sought, at + 1)
        at = following


@dataclass(frozen=True, slots=True)
class _Respelled:
    """A text in another spelling, and for each of its characters the stretch of the original behind it."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def occurrences(self, sought: str) -> Iterator[Span]:
        """Original stretches that read `sought`, in order, each made of whole original characters."""
        for at in occurrences(self.text, sought):
            last = at + len(sought) - 1
            if self._begins(at) and self._begins(last + 1):
                yield Span(self.starts[at], self.ends[last])

    def _begins(self, at: int) -> bool:
        """Whether an original character begins here; false within `ff` that was one ligature."""
        return at in (0, len(self.text)) or self.starts[at - 1] != self.starts[at]


def _respell(text: str, pattern: re.Pattern[str] | None) -> _Respelled:
    if pattern is None:
        return _Respelled(text, range(len(text)), range(1, len(text) + 1))
    pieces = [(_spelling(match), match.span()) for match in pattern.finditer(text)]
    return _Respelled(
        "".join(piece for piece, _ in pieces),
        [start for piece, (start, _) in pieces for _ in piece],
        [end for piece, (_, end) in pieces for _ in piece],
    )


def _spelling(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "dropped":
            return ""
        case "hyphen":
            return "-"
        case "blank":
            return " "
        case "folded":
            return _SPELLING.get(match.group()) or match.group().casefold()
        case _:
            return match.group()


def _cuts_token(text: str, span: Span) -> bool:
    return _inside_token(text, span.start) or _inside_token(text, span.end)


def _inside_token(text: str, at: int) -> bool:
    """Whether position `at` lies within a word or number, or between a number and its sign or unit sign."""
    if at <= 0 or at >= len(text):
        return False
    left, right = text[at - 1], text[at]
    if left.isalnum() and right.isalnum():
        return True
    if right.isnumeric():
        marks = left in _BEFORE_NUMBER or unicodedata.category(left) == "Sc"
        return marks or (left in _WITHIN_NUMBER and text[at - 2 : at - 1].isnumeric())
    if left.isnumeric():
        return right in _AFTER_NUMBER or (right in _WITHIN_NUMBER and text[at + 1 : at + 2].isnumeric())
    return False
