"""Recognises the entries of a document that define a term: `"Term" means …`, `Term: any …`.

Every pattern is anchored and bounded, so that the whole takes time linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.spans import Span
from services.ingest.documents import Block
from services.ingest.vocabulary import CAPTION_SMALL_WORDS, DETERMINERS, NOT_ENTRIES, NOT_TERMS, VERBS


@dataclass(frozen=True, slots=True)
class Entry:
    """A term and the words that define it."""

    term: str
    """The term as written, without quotes; one line, white space collapsed."""
    span: Span
    """From the first word of the entry, behind its number, to the end of its last sentence."""


_QUOTED = re.compile(
    r"""(?<![\w"“])(?:"([^"“”\n]{1,100})"|“([^"“”\n]{1,100})”|['‘]([^'‘’"“”\n]{2,60})['’])"""
)
_S = r"\s{1,20}"
_MEANS = (
    rf"(?:means?\b|(?:shall|will|is|are){_S}"
    rf"(?:mean|have{_S}the{_S}(?:following{_S}|same{_S})?meanings?|be{_S}defined|defined)\b"
    rf"|(?:has|have|having){_S}the{_S}(?:same{_S}|following{_S}|respective{_S})?meanings?\b)"
)
_SAYS_SO = rf"(?:(?:shall{_S})?(?:includes?|refers?{_S}to|denotes?)\b|[:–—]|-\s)"
_ASIDE = (
    r"(?:\s{0,4}\([^()\n]{1,120}\))?"
    r"(?:[\s,]{1,6}(?:(?:or|and|and/or)\s{1,4})?(?:the\s{1,4})?[\"“][^\"“”\n]{1,100}[\"”]){0,5}"
    r"(?:,[^,.;:\n\"“”]{1,80},)?\s{0,20}"
)
_DEFINES = re.compile(_ASIDE + _MEANS, re.IGNORECASE)
_DESCRIBES = re.compile(_ASIDE + _SAYS_SO, re.IGNORECASE)
_BARE_MEANS = re.compile(_MEANS, re.IGNORECASE)
_NUMBER = r"\(?[A-Za-z0-9]{1,4}[.)]|\[[A-Za-z0-9]{1,4}\]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|[•●▪*–—-]"
_LABEL = re.compile(rf"(?:(?:{_NUMBER}){_S}){{0,2}}(?:the{_S}terms?{_S})?", re.IGNORECASE)
_LABELLED = re.compile(r"([^:\n–—]{2,80}?)\s?(?::(?=\s|$)|\s[–—-]\s)")
_NEXT_CLAUSE = re.compile(r"(?:ARTICLE|Article|SECTION|Section)\s|\d{1,3}(?:\.\d{1,3}){0,4}\.?\s+[^\Wa-z\d_]")
_SUB_ITEM = re.compile(r"\(?[a-z0-9]{1,5}[.)]\s|[a-z•●▪*–-]")
_SPACE = re.compile(r"\s*")
_FINAL = frozenset('.!?)]"”’')
_BLANK_LINE = re.compile(r"[ \t]*\n[ \t]*\n")

_LEAD = 120
"""Characters that may precede a quoted term in its entry: `As used in this Agreement, the term …`."""
_MAX_TERM_WORDS = 8
_MAX_LABEL_WORDS = 6
_FEW_WORDS = 3
_MAX_TERM = 100
_GLOSSARY = 4_000
"""Characters within which a short line that says `definitions` vouches for `Label: …` entries."""


def find(text: str, blocks: Sequence[Block], sentences: Sequence[Span]) -> tuple[Entry, ...]:
    """Return the defining entries of `text` in reading order; two terms of one entry share its span.

    `sentences` are all sentences of the document in order, `blocks` the blocks they are part of.
    """
    search = _Search(text, blocks, sentences)
    return tuple(search.entries())


@dataclass(frozen=True, slots=True)
class _Opening:
    """How an entry begins."""

    label: int
    """Where its number or bullet stands."""
    through: int
    """The end of the words that say that it defines, which the entry holds at least."""
    terms: list[str]
    nested: bool = False
    """Whether it stands within another entry, which goes on behind it."""


class _Search:
    def __init__(self, text: str, blocks: Sequence[Block], sentences: Sequence[Span]) -> None:
        self._text = text
        self._sentences = sentences
        self._starts = [sentence.start for sentence in sentences]
        self._block_starts = [block.span.start for block in blocks]

    def entries(self) -> Iterator[Entry]:
        openings = sorted({**self._bare(), **self._quoted()}.items())
        borders = [opening.label for _, opening in openings if not opening.nested]
        for start, opening in openings:
            following = bisect_right(borders, start)
            border = borders[following] if following < len(borders) else len(self._text)
            span = Span(start, self._end(start, opening, border))
            for term in opening.terms:
                yield Entry(term, span)

    def _quoted(self) -> dict[int, _Opening]:
        """Terms in quotes by the start of their entry."""
        found: dict[int, _Opening] = {}
        through = 0
        for quote in _QUOTED.finditer(self._text):
            index = bisect_right(self._starts, quote.start()) - 1
            if index < 0 or quote.start() < through or quote.end() > self._sentences[index].end:
                continue
            label, start = self._opening_of(quote.start(), self._starts[index])
            nested = start in found or quote.start() - start > _LEAD
            defines = _DEFINES.match(self._text, quote.end())
            if defines is None and start == quote.start():
                defines = _DESCRIBES.match(self._text, quote.end())
            if defines is None:
                continue
            terms = [
                _term_of(match)
                for match in (quote, *_QUOTED.finditer(self._text, quote.end(), defines.end()))
            ]
            if all(terms):
                through = defines.end()
                found[quote.start() if nested else start] = _Opening(label, through, terms, nested)
        return found

    def _opening_of(self, quote: int, sentence: int) -> tuple[int, int]:
        """Where the entry of the term quoted at `quote` starts, with and without its number or bullet.

        That is its line when the term opens it, else its sentence.
        """
        line = max(sentence, self._text.rfind("\n", max(sentence, quote - _LEAD), quote) + 1)
        space = _SPACE.match(self._text, line, quote)
        line = space.end() if space else line
        return (
            (line, quote) if self._behind_label(line) == quote else (sentence, self._behind_label(sentence))
        )

    def _behind_label(self, start: int) -> int:
        label = _LABEL.match(self._text, start, start + _LEAD)
        return label.end() if label else start

    def _bare(self) -> dict[int, _Opening]:
        """Terms without quotes by the start of their entry."""
        found: dict[int, _Opening] = {}
        glossary = -_GLOSSARY
        for sentence in self._sentences:
            opening = self._text[sentence.start : min(sentence.end, sentence.start + _MAX_TERM)]
            if sentence.end - sentence.start <= _MAX_TERM and "definition" in opening.lower():
                glossary = sentence.start
            start = self._behind_label(sentence.start)
            line = self._text[start : min(sentence.end, start + 2 * _MAX_TERM)].split("\n", 1)[0]
            term = _bare_term(line)
            if term is None and self._opens_line(sentence.start):
                vouched = sentence.start - glossary < _GLOSSARY
                term = _labelled_term(
                    line, self._text[start + len(line) : start + len(line) + _MAX_TERM], vouched
                )
            if term:
                found[start] = _Opening(sentence.start, start, [term])
        return found

    def _opens_line(self, position: int) -> bool:
        before = self._text[max(0, position - 40) : position].rstrip(" \t")
        return not before or before[-1] == "\n"

    def _end(self, start: int, opening: _Opening, border: int) -> int:
        """Where the entry at `start` ends; `border` is where the next begins."""
        index = bisect_right(self._starts, max(start, opening.through - 1)) - 1
        listed = self._block_of(border) == self._block_of(start)
        if opening.nested or (self._in_running_text(index, start) and not listed):
            return min(self._sentences[index].end, border)
        while index + 1 < len(self._sentences) and self._goes_on(index, border):
            index += 1
        end = self._sentences[index].end
        return end if end <= border else start + len(self._text[start:border].rstrip())

    def _in_running_text(self, index: int, start: int) -> bool:
        """Whether the entry begins in the middle of a paragraph that is no list of entries."""
        first = index == 0 or self._block_of(self._starts[index - 1]) != self._block_of(start)
        return not first and start == self._starts[index]

    def _goes_on(self, index: int, border: int) -> bool:
        """Whether the next sentence is still part of the entry."""
        here, after = self._sentences[index], self._sentences[index + 1]
        if after.start >= border or _NEXT_CLAUSE.match(self._text, after.start):
            return False
        if self._block_of(here.start) == self._block_of(after.start):
            return True
        unfinished = self._text[here.end - 1] not in _FINAL
        return unfinished and _SUB_ITEM.match(self._text, after.start) is not None

    def _block_of(self, position: int) -> int:
        return bisect_right(self._block_starts, position) if position < len(self._text) else -1


def _term_of(quote: re.Match[str]) -> str:
    term = " ".join(next(group for group in quote.groups() if group).split()).strip(" ,.;:")
    return term if any(map(str.isalnum, term)) and VERBS.isdisjoint(term.split()) else ""


def _bare_term(line: str) -> str | None:
    """The term of `Term means …`, `Rule 1A shall mean …`."""
    words = line.split(None, _MAX_TERM_WORDS + 1)
    first = 0
    for count in range(1, min(len(words), _MAX_TERM_WORDS + 1)):
        if words[count].lower() in ("means", "mean", "shall", "will", "has", "have"):
            defines = _BARE_MEANS.match(" ".join(words[count:])) is not None
            return _checked(words[first:count]) if defines and first < count else None
        if words[count - 1].endswith((".", ":")):
            first = count  # a caption: `Inventions. Inventions means …`
        if not _is_term_word(words[count]):
            return None
    return None


def _labelled_term(line: str, below: str, vouched: bool) -> str | None:
    """The term of `Term: any party …`, `Term – definition`: in a glossary, or before one noun phrase."""
    label = _LABELLED.match(line)
    if label is None:
        return None
    words = label[1].split()
    if len(words) > _MAX_LABEL_WORDS or words[0].lower().strip(".") in NOT_ENTRIES or label[1][-1] in ".,;)":
        return None
    if "," in label[1] or words[0].isdigit() or not words[-1][0].isalnum() or words[-1].islower():
        return None
    if not line[label.end() :].strip() and _BLANK_LINE.match(below):
        return None
    body = (line[label.end() :] + " " + below).split(None, 12)
    described = len(body) > _FEW_WORDS and (
        _is_noun_phrase(body) or (vouched and line[label.end() :].strip())
    )
    return _checked(words) if described else None


def _is_noun_phrase(body: list[str]) -> bool:
    if body[0].lower().strip(",") not in DETERMINERS:
        return False
    for word in body[1:12]:
        if word.lower() in ("that", "which", "who", "whose", "whom", "where"):
            return True
        if word.lower() in VERBS:
            return False
    return True


def _checked(words: list[str]) -> str | None:
    if words[0].lower() in NOT_TERMS or not all(map(_is_term_word, words)):
        return None
    term = " ".join(words).strip("\"“”'‘’ ,")
    return term if any(map(str.isalpha, term)) else None


def _is_term_word(word: str) -> bool:
    bare = word.lstrip("(\"“‘'")
    return bare[:1].isupper() or bare[:1].isdigit() or bare in CAPTION_SMALL_WORDS
