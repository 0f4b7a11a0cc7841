"""Says which documents a question names, each on its own, and which of its names no document bears."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from corpus.documents import DocumentId
from corpus.spans import Span
from services.retrieval.corpus import EVERYWHERE, Scope
from services.retrieval.names.asking import without_names
from services.retrieval.names.index import RARE_SHARE, Mention, NameIndex, Spelling
from services.retrieval.names.lists import DOCUMENT_NOUNS
from services.retrieval.names.unmatched import UnmatchedName, Use, unmatched_names
from services.retrieval.names.words import fold, words_of

NEAREST = 3
"""Names that are offered for one that no document bears."""
SIMILAR = 0.6
"""Least likeness of a name that is offered, 0 to 1 (difflib's ratio)."""
MISSPELT = 0.8
"""Least likeness of a name that is taken for one of a document which the question names besides."""
TWO_PARTIES = 2
"""Parties that a card has when it misses none."""

MAX_TITLED = 3
"""Documents that a title which they share may mean; a title of more names none of them."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class QuestionName:
    """A document that a question names, or several that it does not tell apart."""

    spans: tuple[Span, ...]
    """The words that name it, in the order of the question; at least one."""
    spelling: Spelling
    """`ONE_LETTER` when that is so of any of them."""
    documents: tuple[DocumentId, ...]
    """Best first; at least one."""


@dataclass(frozen=True, slots=True)
class NamesFound:
    """The names in a question."""

    named: tuple[QuestionName, ...]
    """In the order of naming; no document is in two of them."""
    unmatched: tuple[UnmatchedName, ...]
    """Names that no card and no head bears; those that texts hold are not all unknown (`is_unknown`)."""
    clause_question: str
    """What is asked of the documents: the question with plain words for their names."""


def find(index: NameIndex, question: str, scope: Scope = EVERYWHERE) -> NamesFound:
    """The names in a question to the documents in scope."""
    mentions = index.mentions(question, scope)
    unmatched = [
        *unmatched_names(question, [mention.span for mention in mentions]),
        *_borne_elsewhere(index, question, scope, mentions),
    ]
    groups = _groups(mentions)
    if not groups and not unmatched:
        groups = _titled(index, question, scope)
    named = []
    numbers = []
    for mentioned, documents in groups:
        best = index.heads.best_first(question, _narrowed(index, question, documents))
        spans = sorted({mention.span for mention in mentioned}, key=lambda span: span.start)
        slips = any(mention.spelling is Spelling.ONE_LETTER for mention in mentioned)
        spelling = Spelling.ONE_LETTER if slips else Spelling.SAME
        named.append(
            QuestionName(tuple(spans), spelling, tuple(index.documents[n].document_id for n in best))
        )
        numbers.append(best[0])
    unmatched = list({name.span: name for name in unmatched}.values())
    return NamesFound(
        tuple(sorted(named, key=lambda name: name.spans[0].start)),
        tuple(
            name
            for name in unmatched
            if not _in_heads(index, name, scope) and not _misspelt(index, name, groups)
        ),
        _clause_question(index, question, named, numbers),
    )


def is_unknown(
    index: NameIndex,
    found: NamesFound,
    name: UnmatchedName,
    standing_in: Collection[DocumentId],
    scope: Scope = EVERYWHERE,
) -> bool:
    """Whether a question names by `name` a document that is not there.

    `standing_in` are documents whose texts hold its words together. A party that one of them only mentions
    is no name of a document, so that `the Acme agreement` is unknown all the same when their cards name
    other parties, and when neither the question nor its scope names a document that may speak of Acme's.
    """
    if not standing_in or found.named or scope.document_ids:
        return not standing_in
    parties = {document.document_id: len(document.parties) for document in index.documents}
    complete = all(parties.get(document_id, 0) >= TWO_PARTIES for document_id in standing_in)
    return name.use is Use.DOCUMENT and complete


def nearest(index: NameIndex, name: str, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
    """Up to three names of parties in scope that are spelled most like `name`, the most alike first."""
    names: dict[str, str] = {}
    for number in sorted(index.within(range(len(index.documents)), scope), reverse=True):
        names |= index.documents[number].full_names
    alike = difflib.get_close_matches(fold(name), names, 2 * NEAREST, SIMILAR)
    return tuple(dict.fromkeys(names[key] for key in alike))[:NEAREST]


def _clause_question(
    index: NameIndex, question: str, named: Sequence[QuestionName], numbers: Sequence[int]
) -> str:
    """The question with plain words for the names of documents, the best of which have these numbers."""
    if not named:
        return question
    roles = {
        span: index.documents[number].role(question[span.start : span.end])
        for name, number in zip(named, numbers, strict=True)
        for span in name.spans
    }
    stems = {word.stem for span in roles for word in words_of(question[span.start : span.end])}
    roles |= {
        span: ""
        for span, titled in index.titles.called(question)
        if not titled.isdisjoint(numbers) and not any(span.overlap(name) for name in roles)
    }
    return without_names(question, roles, index.heads.asking(question, numbers, stems))


def _groups(mentions: Sequence[Mention]) -> list[tuple[list[Mention], frozenset[int]]]:
    """The documents that bear what is mentioned, each group with its mentions; most borne first."""
    left = [*mentions]
    groups = []
    while any(mention.is_name for mention in left):
        mentioned, documents = _best(left)
        groups.append((mentioned, documents))
        left = [mention for mention in left if mention not in mentioned and not mention.is_title]
    return groups


def _titled(index: NameIndex, question: str, scope: Scope) -> list[tuple[list[Mention], frozenset[int]]]:
    """The few documents that a question, which mentions no other name, calls by their title."""
    for span, numbers in index.titles.called(question):
        documents = index.within(numbers, scope)
        if 0 < len(documents) <= MAX_TITLED:
            mention = Mention(
                span, Spelling.SAME, is_name=False, is_title=True, documents=documents, weight=1.0
            )
            return [([mention], documents)]
    return []


def _best(mentions: Sequence[Mention]) -> tuple[list[Mention], frozenset[int]]:
    """The mentions of the document that bears most of them, and all documents that bear the same."""
    scores: dict[int, float] = defaultdict(float)
    for mention in mentions:
        for number in mention.documents:
            scores[number] += mention.weight
    named = {number for mention in mentions if mention.is_name for number in mention.documents}
    best = max(named, key=lambda number: (scores[number], -number))
    mentioned = [mention for mention in mentions if best in mention.documents]
    return mentioned, frozenset.intersection(*(mention.documents for mention in mentioned))


def _narrowed(index: NameIndex, question: str, documents: Collection[int]) -> Collection[int]:
    """Those of the documents whose year or kind the question says, where it says one of theirs.

    One whose title is not known may be of any kind.
    """
    years = set(_YEAR.findall(question))
    of_year = [
        number for number in documents if any(day[:4] in years for day in index.documents[number].dates)
    ]
    documents = of_year or documents
    called = _called(question)
    titles = {number: index.documents[number].title_stems for number in documents}
    most = max(len(called & title) for title in titles.values())
    return [number for number, title in titles.items() if not title or len(called & title) == most]


def _called(question: str) -> set[str]:
    """Stems of what a question calls a document: its noun, and the words before it."""
    words = words_of(question)
    nouns = [index for index, word in enumerate(words) if word.folded in DOCUMENT_NOUNS]
    return {word.stem for index in nouns for word in words[max(0, index - 3) : index + 1]}


def _borne_elsewhere(
    index: NameIndex, question: str, scope: Scope, mentions: Sequence[Mention]
) -> Iterator[UnmatchedName]:
    """Names in a question that only documents out of scope bear."""
    if scope == EVERYWHERE:
        return
    matched = [mention.span for mention in mentions]
    for mention in index.mentions(question, EVERYWHERE):
        span = mention.span
        if mention.is_name and not any(own.start < span.end and span.start < own.end for own in matched):
            text = question[span.start : span.end]
            words = [word for word in words_of(text) if not word.is_link]
            # `the Receiving Party` is what many a card calls a party, and no name that is missing elsewhere.
            if any(word.tells for word in words):
                yield UnmatchedName(text, span, Use.PARTY, tuple(word.stem for word in words))


def _misspelt(
    index: NameIndex, name: UnmatchedName, groups: Sequence[tuple[list[Mention], frozenset[int]]]
) -> bool:
    """Whether it is nearly a name of a document that the question names: `between Acme and Glbex`."""
    spellings = {
        spelling
        for _, documents in groups
        for number in documents
        for spelling in index.documents[number].full_names
    }
    return bool(difflib.get_close_matches(fold(name.text), spellings, 1, MISSPELT))


def _in_heads(index: NameIndex, name: UnmatchedName, scope: Scope) -> bool:
    """Whether a head holds the name, or a word of it that is rare enough to be all that it holds of it."""
    rare = [[stem] for stem in name.stems if index.usage(stem) <= RARE_SHARE]
    return any(index.within(index.heads.holding(stems), scope) for stems in (name.stems, *rare))
