"""Definitions that come along with an answer: which terms, and where sources disagree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.stems import stems_of
from inference.tokens import TokenCounter
from services.answer.corpus import ResolvedDefinition

MAX_DEFINITIONS = 8
"""Definitions that a model is shown, or that an answer can choose from."""
MAX_SHOWN = 5
"""Definitions that an answer brings along; the rest is counted."""
MAX_CONFLICTS = 3
"""Definitions of one term shown beside the first."""

_ORDINARY = frozenset(
    stems_of("include including day days week month year any all through until section exhibit")
)
"""Words that some documents define and that mean what they always mean."""
_OWN_NAMES = frozenset(stems_of("agreement contract amendment addendum"))
_WORD = re.compile(r"\w+")
_PLURAL = re.compile(r"(?:ies|es|s|y|e)\Z", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\A(?:(?!\bmeans?\b).){0,120}?\b(?:has|have|shall have|bears?|is|are|as)\s+(?:the\s+)?"
    r"(?:(?:respective\s+)?meanings?\s+(?:\w+\s+){0,4}?|defined\s+|set\s+(?:forth|out)\s+)"
    r"(?:in|by|under)\s+(?:\S+\s*){1,12}\Z",
    re.IGNORECASE | re.DOTALL,
)
"""`“Fees” has the meaning given to it in Section 10`, and nothing after it."""
_TERM = r"[\"'“‘]?(?P<term>[^\"“”?.!;:\n]{2,80}?)[\"'”’]?"
_ASKS_FOR_TERM = re.compile(
    r"(?:what (?:is|are|does|do)|what's|who is|how (?:is|are)|how (?:do|does)\b.{1,60}?\bdefine|define"
    r"|definition of|meaning of)"
    rf"\s+(?:meant by\s+|the (?:definition|meaning) of\s+|the term\s+|an?\s+|the\s+)*{_TERM}"
    rf"(?:\s+(?:mean|means|defined|defined as))?\s*[?.!]*\s*$",
    re.IGNORECASE,
)


def term_asked_for(question: str) -> str:
    """The term that a definitional question asks for (`What is a Non-Professional?`); empty for any other.

    Only definitions decide what comes of it: `What is the fee?` asks for `fee`, which is no defined term.
    """
    match = _ASKS_FOR_TERM.search(question.strip())
    return match.group("term").strip() if match else ""


def defines(definition: Definition, term: str) -> bool:
    """Whether a definition is of `term`, in any inflection."""
    return bool(term) and _stems(definition.term) == _stems(term)


def relevant(
    resolved: Iterable[ResolvedDefinition], sources: Iterable[str]
) -> tuple[ResolvedDefinition, ...]:
    """At most eight definitions, by depth, each term once: as a source in `sources` defines it, if one does.

    A term that the question uses comes with the definitions of all sources; those that an answer does not
    rest on are shown as conflicts of the one it rests on.
    """
    own = set(sources)
    ordered = sorted(resolved, key=lambda found: (found.depth, found.definition.source not in own))
    terms: dict[tuple[str, ...], ResolvedDefinition] = {}
    for found in ordered:
        terms.setdefault(_stems(found.definition.term) or (found.definition.term,), found)
    return tuple(terms.values())[:MAX_DEFINITIONS]


def explains(definition: Definition) -> bool:
    """Whether its words tell more than that the term is defined elsewhere."""
    return not _ELSEWHERE.search(definition.text)


def conflicts_of(resolved: ResolvedDefinition, documents: Iterable[str]) -> tuple[Definition, ...]:
    """Other definitions of a term that a reader must see: of other sources, or of a document in `documents`.

    Only of terms that the question or a statement uses itself. Ten contracts of one source define `Agreement`
    ten times without contradiction; what an answer does not rest on is left out.
    """
    if resolved.depth > 1:
        return ()
    near = set(documents)
    others = (
        other
        for other in resolved.conflicting
        if other.source != resolved.definition.source or other.document_id in near
    )
    return tuple(others)[:MAX_CONFLICTS]


def words_of(definition: Definition) -> str:
    """A definition as its document words it."""
    return definition.text


def fitting(
    definitions: Sequence[ResolvedDefinition],
    tokens: int,
    counter: TokenCounter,
    shown: Callable[[Definition], str] = words_of,
) -> tuple[tuple[ResolvedDefinition, ...], int]:
    """The definitions, in order, that fit into `tokens` as `shown`, and the tokens that they take."""
    used, kept = 0, list[ResolvedDefinition]()
    for resolved in definitions:
        cost = counter.count(shown(resolved.definition))
        if used + cost <= tokens:
            used += cost
            kept.append(resolved)
    return tuple(kept), used


def as_chunk(definition: Definition) -> Chunk:
    """A definition as something to show to a model and to quote from: its own words, in its chunk's name."""
    return Chunk(
        chunk_id=definition.chunk_id,
        alias="",
        document_id=definition.document_id,
        source=definition.source,
        title=definition.document_id,
        heading_chain=(),
        section=f"Definition of {definition.term}",
        text=definition.text,
        span=definition.span,
        pages=(),
        table_header="",
        generation=definition.generation,
        sentences=(definition.span,),
        word_count=len(definition.text.split()),
        content_sha256="",
        is_definitions=False,
        ordinal=0,
    )


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words that an answer quotes."""

    document_id: str
    source: str
    text: str
    passage: str
    """The chunk that holds them; titles of other documents that it names tie these to it."""


def in_use(
    resolved: Iterable[ResolvedDefinition], quoted: Sequence[Quoted], question: str
) -> tuple[ResolvedDefinition, ...]:
    """The definitions of terms that the quotes use as defined there, and of terms that those use in turn.

    `resolved` by depth. They come from documents that are quoted or tied to one that is, and so do the
    definitions that disagree with them. A term that the question asks for is defined wherever it is.
    """
    asked, readings = term_asked_for(question), [_read(quote) for quote in quoted]
    kept: dict[tuple[str, str], ResolvedDefinition] = {}
    for found in resolved:
        definition = found.definition
        near = [reading for reading in readings if _is_near(definition, reading)]
        in_turn = (definition.document_id, found.used_by) in kept
        if defines(definition, asked):
            kept[definition.document_id, definition.term] = found
        elif not _explains_nothing(definition) and (
            in_turn or any(_uses(definition, reading) for reading in near)
        ):
            others = (
                other for other in found.conflicting if any(_is_near(other, reading) for reading in readings)
            )
            kept[definition.document_id, definition.term] = replace(found, conflicting=tuple(others))
    return tuple(kept.values())


def shown(
    used: Sequence[ResolvedDefinition], known: Iterable[ResolvedDefinition]
) -> tuple[tuple[ResolvedDefinition, ...], int]:
    """At most five of `known` that are in use, each term once, and how many terms in use are left out."""
    wanted = {found.definition: found for found in used}
    kept = [wanted[found.definition] for found in known if found.definition in wanted][:MAX_SHOWN]
    terms, told = ({_stems(found.definition.term) for found in some} for some in (used, kept))
    return tuple(kept), len(terms - told)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A quote whose words are read once, however many definitions there are: hundreds in a folder."""

    quote: Quoted
    passage: str
    """The stems of its passage, see `_spelled`."""
    text: str
    """Its own words as they are written, see `_spelled`."""


def _read(quote: Quoted) -> _Reading:
    return _Reading(quote, _spelled(stems_of(quote.passage)), _spelled(_as_written(quote.text)))


def _spelled(words: Iterable[str]) -> str:
    """Words so that those which follow one another stand in one piece."""
    return f" {' '.join(words)} "


def _is_near(definition: Definition, reading: _Reading) -> bool:
    """Whether a definition stands in the quoted document, or in one of its source that the passage names."""
    if definition.document_id == reading.quote.document_id:
        return True
    if definition.source != reading.quote.source:
        return False
    title = _stems(definition.title)
    return len(title) > 1 and _spelled(title) in reading.passage


@lru_cache(maxsize=8192)
def _stems(name: str) -> tuple[str, ...]:
    """The stems of a term or title; the same few hundred are asked for again and again."""
    return tuple(stems_of(name))


def _uses(definition: Definition, reading: _Reading) -> bool:
    """Whether a quote writes a term as it is defined: with its capitals, in the singular or the plural."""
    term, in_capitals = _as_written(definition.term), _as_written(definition.term.upper())
    return (bool(term) and _spelled(term) in reading.text) or (
        reading.quote.text.isupper() and bool(in_capitals) and _spelled(in_capitals) in reading.text
    )


def _as_written(text: str) -> list[str]:
    """The words of a text in the singular, with their capitals."""
    return [_PLURAL.sub("", word) for word in _WORD.findall(text)]


def _explains_nothing(definition: Definition) -> bool:
    """Whether a definition is of a word that is no term to a reader, or of its own document's name."""
    term = _stems(definition.term)
    if not any(map(str.isupper, definition.term)) or _ORDINARY.issuperset(term):
        return True
    title = _stems(re.sub(r"[\W_]+", " ", definition.title))
    return term[-1] in _OWN_NAMES and (len(term) == 1 or term[0] == "this" or _follow(term, title))


def _follow(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether the words stand in the text, one right after the other."""
    return bool(words) and _spelled(words) in _spelled(text)
