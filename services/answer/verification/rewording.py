"""Puts a claim into the words of the clause that it is compared with, and remembers where each word stood.

The claim lint compares words: `has to tell` of a claim and `must notify` of a clause are the same to it only
once they are the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpus.spans import Span
from services.answer.verification.lint.wording import stem_of
from services.answer.verification.same_meaning import LONGEST, is_irregular, meaning_stem, other_words

_NUMBER = r"(?=[\d£$€¥]|USD|EUR|GBP|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b)"
_TIME = r"(?=(?:calendar\s)?(?:hour|day|week|month|quarter|year)\b)"
_PLAIN: tuple[tuple[str, str], ...] = (
    (
        r"(?:need not|(?:do|does)(?: not|n['’]t) (?:have|need) to|(?:is|are) not obliged to)",
        "is not required to",
    ),
    (r"(?:must|has|have|needs?|(?:is|are) (?:bound|obliged|required)) to(?= \w)", "must"),
    (r"(?:is|are) to(?= be\b)", "must"),
    (r"(?:(?:is|are) (?:free|able|allowed|permitted|entitled) to|gets? to)", "may"),
    (r"(?:is|are) (?:not allowed|not permitted|forbidden|barred|prohibited) (?:to|from)", "must not"),
    (r"(?:no less than|not under|a minimum of|not fewer than)", "at least"),
    (r"(?:no later than|at the latest (?:within|after))", "not later than"),
    (rf"(?:over|above|upwards of) {_NUMBER}", "more than "),
    (rf"(?:under|below) {_NUMBER}", "less than "),
    (rf"(?<!\bin )(?<!\bof )\ban? {_TIME}", "per "),
    (r"once a year", "once per year"),
    (r"(?:nobody|no one)", "no person"),
    (r"(?:rather than|instead of)", "and not"),
)
"""What people write and contracts do not, as patterns, and how contracts say it."""
_REPLACED = re.compile("|".join(rf"(?P<p{i}>\b{said})" for i, (said, _) in enumerate(_PLAIN)), re.IGNORECASE)
_THAN = re.compile(r"\s*than\b")
_GAP = re.compile(r"[\s'’-]*")
"""What may stand between the words of a phrase."""
_Stems = tuple[str, ...]
_WORD = re.compile(r"[^\W\d_]+(?:['’]s\b)?")


_SAID = re.compile(r"[^\W_]+|[£$€¥%]")
"""A word, or a sign that counts as one."""
_Moved = tuple[tuple[Span, Span], ...]
"""Every stretch of a text, in order, and the stretch of the one before that it stands for."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A claim in other words."""

    text: str
    steps: tuple[_Moved, ...]
    """How it came to be, the last step first."""

    def locate(self, words: str) -> Span | None:
        """Where in the claim words of `text` stand; None where they do not."""
        sought = [match[0].casefold() for match in _SAID.finditer(words)]
        said = list(_SAID.finditer(self.text))
        folded = [match[0].casefold() for match in said]
        for first in range(len(said) - len(sought) + 1):
            if sought and folded[first : first + len(sought)] == sought:
                return self.claimed(Span(said[first].start(), said[first + len(sought) - 1].end()))
        return None

    def claimed(self, place: Span) -> Span:
        """The stretch of the claim that a stretch of `text` stands for."""
        for moved in self.steps:
            held = [piece for piece in moved if piece[0].overlap(place)]
            start = _at(held[0], place.start, held[0][1].start)
            place = Span(start, _at(held[-1], place.end, held[-1][1].end))
        return place


def _at(piece: tuple[Span, Span], at: int, otherwise: int) -> int:
    """The same place one step before; a replaced phrase counts as a whole."""
    new, old = piece
    return old.start + at - new.start if new.end - new.start == old.end - old.start else otherwise


def in_plain_words(text: str) -> str:
    """The text with `must` for `has to` and the like."""
    return _REPLACED.sub(_plain, text)


def in_words_of(claim: str, clause: str) -> Reworded:
    """The claim with every word and phrase that the clause says otherwise in the clause's own words."""
    plain, first = _replaced(claim, [(match.span(), _plain(match)) for match in _REPLACED.finditer(claim)])
    text, second = _replaced(plain, list(_other_words(plain, _phrases(clause))))
    return Reworded(text, (second, first))


def _plain(match: re.Match[str]) -> str:
    return _PLAIN[int((match.lastgroup or "p0")[1:])][1]


def _replaced(text: str, changes: Sequence[tuple[tuple[int, int], str]]) -> tuple[str, _Moved]:
    """The text with stretches replaced, and what stands where."""
    pieces, at = list[tuple[str, Span]](), 0
    for (start, end), words in changes:
        pieces += [(text[at:start], Span(at, start)), (words, Span(start, end))]
        at = end
    pieces.append((text[at:], Span(at, len(text))))
    moved, new = list[tuple[Span, Span]](), 0
    for words, old in pieces:
        if words:
            moved.append((Span(new, new + len(words)), old))
            new += len(words)
    return "".join(words for words, _ in pieces), tuple(moved)


def _other_words(claim: str, said: Mapping[_Stems, str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Stretches of the claim and the words of the clause for them, the longest first."""
    behind = 0
    for runs in _runs(claim):
        here = [run for run in runs if run.start >= behind]
        for run in here:
            if _THAN.match(claim, run.end):
                # `Later` of `no later than` is part of a bound.
                continue
            written, same = claim[run.start : run.end], said.get(run.stems, "")
            instead = same or _otherwise(run.stems, said) or _denied(written, said)
            if instead:
                behind = run.end
                if not same or _stems_of(same) != _stems_of(written):
                    yield (run.start, run.end), _inflected(instead, written)
                break


def _otherwise(stems: _Stems, said: Mapping[_Stems, str]) -> str:
    """What a clause says for a word or phrase; empty where it says nothing like it."""
    return next((said[other] for other in other_words(stems) if other in said), "")


def _stems_of(words: str) -> Sequence[str]:
    """The stems that the lint compares."""
    return [stem_of(word.casefold()) for word in words.split()]


def _inflected(instead: str, word: str) -> str:
    """Another word in the form of the one that it stands for, so that `is paid by` stays a passive."""
    if not (word.endswith("ed") or is_irregular(word)) or not instead.isalpha() or instead.endswith("ed"):
        return instead
    passive = f"{instead.removesuffix('s').removesuffix('e')}ed"
    return passive if stem_of(passive.casefold()) == stem_of(instead.casefold()) else instead


def _denied(word: str, said: Mapping[_Stems, str]) -> str:
    """`Not declared` of a clause for `undeclared`; empty for most."""
    return said.get(("not", meaning_stem(word[2:])), "") if word.casefold().startswith("un") else ""


@dataclass(frozen=True, slots=True)
class _Run:
    """Words next to each other in a text."""

    stems: _Stems
    start: int
    end: int


def _runs(text: str) -> Iterator[Sequence[_Run]]:
    """For every word of a text the runs that begin with it, the longest first; none goes over a stop."""
    words = list(_WORD.finditer(text))
    stems = [meaning_stem(word.group()) for word in words]
    for i, word in enumerate(words):
        runs = list[_Run]()
        for j in range(i, min(i + LONGEST, len(words))):
            if j > i and not _GAP.fullmatch(text, words[j - 1].end(), words[j].start()):
                break
            runs.append(_Run(tuple(stems[i : j + 1]), word.start(), words[j].end()))
        yield runs[::-1]


@lru_cache(maxsize=2048)
def _phrases(text: str) -> Mapping[_Stems, str]:
    """Runs of words of a text, and how it writes them."""
    return {run.stems: text[run.start : run.end] for runs in _runs(text) for run in runs}
