"""Definitions that come along with an answer: which terms, and where sources disagree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from corpus.chunks import Chunk
from corpus.definitions import Definition
from corpus.stems import stems_of
from inference.tokens import TokenCounter
from services.answer.corpus import ResolvedDefinition

MAX_DEFINITIONS = 8
MAX_CONFLICTS = 3
"""Definitions of one term shown beside the first."""

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
    return bool(term) and stems_of(definition.term) == stems_of(term)


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
        terms.setdefault(tuple(stems_of(found.definition.term)) or (found.definition.term,), found)
    return tuple(terms.values())[:MAX_DEFINITIONS]


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


def used_in(
    definitions: Iterable[ResolvedDefinition], texts: Iterable[str]
) -> tuple[ResolvedDefinition, ...]:
    """The definitions of terms that the texts use, and of terms that those definitions use in turn.

    `definitions` by depth. A term is used where its words follow one another, in any inflection.
    """
    used_stems = [stems_of(text) for text in texts]
    kept: dict[str, ResolvedDefinition] = {}
    for resolved in definitions:
        term = resolved.definition.term
        if resolved.used_by in kept or any(_follow(stems_of(term), stems) for stems in used_stems):
            kept[term] = resolved
    return tuple(kept.values())


def _follow(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether the words stand in the text, one right after the other."""
    starts = range(len(text) - len(words) + 1)
    return bool(words) and any(list(text[at : at + len(words)]) == list(words) for at in starts)
