"""Judges claims by the words that are said to carry them, one by one, without a model.

What holds an answer together holds here: a quote must stand in one chunk as `find_quote` sees it. A claim
must say nothing that its quotes do not, nor may both leave out a negation, a denial or a condition of the
sentences that the quotes are cut from. A claim without quotes is held to the clause that comes nearest. What
comparing words cannot tell of a claim that passes is said with its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.chunks import Chunk
from corpus.citations import Citation
from corpus.spans import Span
from services.answer.answers import Note, SupportingClause
from services.answer.parts import JOINT, MARKER, contexts_of, pages_at, part_of
from services.answer.verification.citing import Citations, Stored, doubt_notes, quote_in, quote_of_sentence
from services.answer.verification.comparing import Difference, compare
from services.answer.verification.lint import Caveat, Finding, LintRule, caveats, lint
from services.answer.verification.lint.reading import Text
from services.answer.verification.nearest import Nearest
from services.answer.verification.passages import Passage
from services.answer.verification.quotes import find_quote
from services.answer.verification.splitting import own_words

LEFT_OUT = (
    LintRule.NEGATION,
    LintRule.CONDITION,
    LintRule.DENIED,
    LintRule.NUMBER,
    LintRule.CURRENCY,
    LintRule.PERCENTAGE,
)
"""What words can lose that are cut out of a sentence: its `not`, its `if`, the `million` of a sum."""
_BREAK = re.compile(rf"[:–—](?=\s)|{JOINT}|\n(?={MARKER})")
"""Where an item of a list may begin."""


class Verdict(StrEnum):
    """What a check found, see `clausegate.answer.v1.GroundingVerdict`."""

    VERBATIM = "verbatim"
    SUPPORTED = "supported"
    OVERSTATED = "overstated"
    MISQUOTED = "misquoted"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim and the quotes that are said to carry it; none means those within its quotation marks."""

    text: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundWords:
    """What a search for words came to."""

    words: str
    """The words as they were found: without a full stop of their own where the sentence goes on."""
    chunk: Chunk | None
    """Holds the words; None where no chunk does."""
    nearest: Nearest | None
    """What comes closest to them; None where a chunk holds them, or there is nothing to compare with."""

    @property
    def chunks(self) -> Iterator[Chunk]:
        """All of these."""
        if self.chunk:
            yield self.chunk
        if self.nearest:
            yield self.nearest.comparison.passage.chunk


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One claim after the check, see `clausegate.answer.v1.CheckedClaim`."""

    text: str
    verdict: Verdict
    citation_numbers: tuple[int, ...] = ()
    missing_quotes: tuple[str, ...] = ()
    findings: tuple[Difference, ...] = ()
    nearest_clause: SupportingClause | None = None
    caveats: tuple[Caveat, ...] = ()
    notes: tuple[Note, ...] = ()
    """Why the text of its quotes may not be what the file shows."""
    nearest_citation_number: int = 0
    """0 without a nearest clause."""


def spellings(words: str) -> Iterable[str]:
    """Words, and the same without a full stop at their end: who cuts a sentence off writes one."""
    return dict.fromkeys((words, words.removesuffix(".")))


def words_of(claims: Iterable[Claim]) -> Iterable[str]:
    """What must stand in a document: the quotes of each claim, else its own words."""
    return (words for claim in claims for words in claim.quotes or (own_words(claim.text),))


def judge(
    claims: Iterable[Claim], found: Mapping[str, FoundWords], citations: Citations
) -> tuple[CheckedClaim, ...]:
    """The claims with their verdicts, in order; `found` for each of `words_of` them."""
    judged = [_judged(claim, found, citations) for claim in claims]
    chunks: dict[str, Chunk] = {chunk.chunk_id: chunk for place in found.values() for chunk in place.chunks}
    return tuple(replace(claim, notes=_doubts(claim, citations.all, chunks)) for claim in judged)


def _judged(claim: Claim, found: Mapping[str, FoundWords], citations: Citations) -> CheckedClaim:
    own = own_words(claim.text)
    wanted = claim.quotes or (own,)
    places = {found[words].words: found[words].chunk for words in wanted}
    chunks = [chunk for chunk in places.values() if chunk]
    verbatim = next(filter(None, (_find(spelled, chunks, citations) for spelled in spellings(own))), None)
    held = {
        words: stored
        for words, chunk in places.items()
        if chunk and (stored := _find(words, (chunk,), citations))
    }
    missing = tuple(words for words in wanted if found[words].words not in held)
    if missing and not claim.quotes:
        return _held_to_the_nearest(claim, found[own].nearest, citations)
    if verbatim:
        citations.cite_stored(verbatim)
    cited = [citations.cite_stored(stored) for stored in held.values()]
    if verbatim and not missing:
        cited = [citations.cite_stored(verbatim), *cited]
    numbers = tuple(dict.fromkeys(citation.number for citation in cited))
    if missing:
        judged = CheckedClaim(claim.text, Verdict.MISQUOTED, numbers, missing)
        nearest = found[missing[0]].nearest
        return _beside(
            judged, _stored_of(nearest.comparison.passage, citations) if nearest else (), citations
        )
    whole = _whole_sentences(places, citations)
    differences = () if verbatim else _beyond(own, list(held.values()), _named_by(cited))
    cut_off = (Difference(finding.rule, finding.text) for finding in _cut_off(own, whole))
    told = {(difference.rule, difference.text) for difference in differences}
    differences += tuple(dict.fromkeys(one for one in cut_off if (one.rule, one.text) not in told))
    if differences:
        contradicted = any(difference.clause_text for difference in differences)
        verdict = Verdict.CONTRADICTED if contradicted else Verdict.OVERSTATED
        findings = _placed(differences, claim.text, own)
        return _beside(CheckedClaim(claim.text, verdict, numbers, findings=findings), whole, citations)
    told_not = caveats(own, [stored.text for stored in whole])
    if verbatim:
        return CheckedClaim(claim.text, Verdict.VERBATIM, numbers, caveats=told_not)
    judged = CheckedClaim(claim.text, Verdict.SUPPORTED, numbers, caveats=told_not)
    return _beside(judged, list(held.values()), citations)


def _held_to_the_nearest(claim: Claim, nearest: Nearest | None, citations: Citations) -> CheckedClaim:
    """A claim without quotes, beside the clause that comes nearest."""
    own = own_words(claim.text)
    if nearest is None:
        return CheckedClaim(claim.text, Verdict.NOT_FOUND)
    comparison, stored = nearest.comparison, _stored_of(nearest.comparison.passage, citations)
    if nearest.supports and stored:
        numbers = tuple(citations.cite_stored(sentence).number for sentence in stored)
        told_not = caveats(own, [sentence.text for sentence in stored])
        judged = CheckedClaim(claim.text, Verdict.SUPPORTED, numbers, caveats=told_not)
    elif nearest.found:
        verdict = Verdict.CONTRADICTED if comparison.contradicted else Verdict.OVERSTATED
        judged = CheckedClaim(claim.text, verdict, findings=_placed(comparison.differences, claim.text, own))
    else:
        judged = CheckedClaim(claim.text, Verdict.NOT_FOUND)
    return _beside(judged, stored, citations, comparison.share)


def _beyond(own: str, held: Sequence[Stored], around: str) -> tuple[Difference, ...]:
    """What a claim says that its quotes do not."""
    quoted = Passage(held[0].chunk, (), tuple(stored.reading for stored in held), around)
    return compare(own, quoted, {}).differences


def _placed(differences: Iterable[Difference], claim: str, own: str) -> tuple[Difference, ...]:
    """Differences with their places in the claim as it came, not in its own words."""
    start = max(0, claim.find(own))
    return tuple(
        replace(difference, span=Span(difference.span.start + start, difference.span.end + start))
        if difference.span
        else difference
        for difference in differences
    )


def _stored_of(passage: Passage, citations: Citations) -> tuple[Stored, ...]:
    """The sentences of a passage as they are stored now; none of a document that was replaced meanwhile."""
    stored = (citations.find(quote_of_sentence(sentence)) for sentence in passage.sentences)
    return tuple(dict.fromkeys(sentence for sentence in stored if sentence))


def _beside(
    judged: CheckedClaim, stored: Sequence[Stored], citations: Citations, share: float = 1.0
) -> CheckedClaim:
    """A judged claim with the first of the sentences that it was held to."""
    if not stored:
        return judged
    first, number = stored[0], citations.cite_stored(stored[0]).number
    clause = _clause_of(first, citations.labels[first.chunk.document_id], share)
    return replace(judged, nearest_clause=clause, nearest_citation_number=number)


def _clause_of(stored: Stored, label: str, share: float) -> SupportingClause:
    """A sentence with what governs it, as a passage."""
    chunk, span = stored.chunk, stored.span
    page, last_page = pages_at(chunk, span)
    governing = [part for part in contexts_of(chunk, span) if part.span not in span]
    return SupportingClause(
        chunk_id=chunk.chunk_id,
        chunk_alias=chunk.alias,
        document=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        document_label=label,
        section=chunk.section_at(span.start),
        page=page,
        last_page=last_page,
        text=stored.words,
        span=span,
        quoted=(),
        grade=None,
        probability=None,
        score=share,
        context_before=tuple(
            part_of(chunk, part.span, part.text) for part in governing if part.span.start < span.start
        ),
        context_after=tuple(
            part_of(chunk, part.span, part.text) for part in governing if part.span.start >= span.start
        ),
    )


def _whole_sentences(places: Mapping[str, Chunk | None], citations: Citations) -> Sequence[Stored]:
    """The sentences that quotes are from, as they are stored."""
    found = ((words, chunk) for words, chunk in places.items() if chunk)
    whole = (citations.find(quote_in(chunk, words, whole_sentences=True)) for words, chunk in found)
    return tuple(dict.fromkeys(stored for stored in whole if stored))


def _doubts(claim: CheckedClaim, cited: Iterable[Citation], chunks: Mapping[str, Chunk]) -> tuple[Note, ...]:
    return doubt_notes([citation for citation in cited if citation.number in claim.citation_numbers], chunks)


def _cut_off(own: str, whole: Sequence[Stored]) -> Iterator[Finding]:
    """What a claim leaves out of the sentences that its quotes are from, and of what governs these."""
    cut = [stored for stored in whole if not find_quote(own, stored.text)]
    if cut:
        yield from (
            finding for finding in lint(own, [stored.reading for stored in cut]) if finding.rule in LEFT_OUT
        )
    if not _denies(own):
        leading = filter(None, (_lead_in(own, stored) for stored in cut))
        yield from (Finding(LintRule.NEGATION, lead_in) for lead_in in leading if _denies(lead_in))


def _lead_in(own: str, quote: Stored) -> str:
    """What a quote says before the item of a list that holds a claim's own words; empty where none does."""
    match = find_quote(quote.text, own)
    breaks = [found.start() for found in _BREAK.finditer(quote.text, 0, match.span.start)] if match else []
    return " ".join(quote.text[: breaks[-1]].split()) if breaks else ""


def _denies(text: str) -> bool:
    read = Text()
    read.add(text)
    return any(not negation.soft for negation in read.negations)


def _find(words: str, chunks: Iterable[Chunk], citations: Citations) -> Stored | None:
    """Words in the first of `chunks` that holds them."""
    return next((stored for chunk in chunks if (stored := citations.find(quote_in(chunk, words)))), None)


def _named_by(cited: Iterable[Citation]) -> str:
    """What a claim may name besides the words of its quotes: where they are from."""
    return " ".join(f"{citation.source} {citation.title} {citation.section}" for citation in cited)
