"""Judges claims by the words that are said to carry them, one by one, without a model.

What holds an answer together holds here: a quote must stand in one chunk as `find_quote` sees it, and a claim
must not say what the lint misses in its quotes, nor may both leave out a negation, a denial or a condition of
the sentences that the quotes are cut from. What comparing words cannot tell of a claim that passes is said
with its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.chunks import Chunk
from corpus.citations import Citation
from services.answer.answers import Note, SupportingClause
from services.answer.parts import JOINT, MARKER
from services.answer.verification.citing import Citations, Stored, doubt_notes, quote_in
from services.answer.verification.lint import Caveat, Finding, LintRule, caveats, lint
from services.answer.verification.lint.reading import Text
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
    UNSUPPORTED = "unsupported"


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
    nearest: SupportingClause | None
    """The passage that comes closest to them, if any comes close."""


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One claim after the check, see `clausegate.answer.v1.CheckedClaim`."""

    text: str
    verdict: Verdict
    citation_numbers: tuple[int, ...] = ()
    missing_quotes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    nearest_clause: SupportingClause | None = None
    caveats: tuple[Caveat, ...] = ()
    notes: tuple[Note, ...] = ()
    """Why the text of its quotes may not be what the file shows."""


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
    chunks: dict[str, Chunk] = {place.chunk.chunk_id: place.chunk for place in found.values() if place.chunk}
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
    if verbatim:
        citations.cite_stored(verbatim)
    cited = [citations.cite_stored(stored) for stored in held.values()]
    numbers = tuple(dict.fromkeys(citation.number for citation in cited))
    missing = tuple(words for words in wanted if found[words].words not in held)
    if missing:
        nearest = _labelled(found[missing[0]].nearest, citations.labels)
        if not claim.quotes:
            return CheckedClaim(claim.text, Verdict.UNSUPPORTED, nearest_clause=nearest)
        return CheckedClaim(claim.text, Verdict.MISQUOTED, numbers, missing, nearest_clause=nearest)
    if verbatim:
        numbers = tuple(dict.fromkeys((citations.cite_stored(verbatim).number, *numbers)))
    whole = _whole_sentences(places, citations)
    findings = () if verbatim else lint(own, [stored.reading for stored in held.values()], _named_by(cited))
    findings = tuple(dict.fromkeys((*findings, *_cut_off(own, whole))))
    if findings:
        return CheckedClaim(claim.text, Verdict.OVERSTATED, numbers, findings=findings)
    verdict = Verdict.VERBATIM if verbatim else Verdict.SUPPORTED
    return CheckedClaim(claim.text, verdict, numbers, caveats=caveats(own, [stored.text for stored in whole]))


def _labelled(nearest: SupportingClause | None, labels: Mapping[str, str]) -> SupportingClause | None:
    if nearest is None:
        return None
    return replace(nearest, document_label=labels.get(nearest.document, nearest.title))


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
