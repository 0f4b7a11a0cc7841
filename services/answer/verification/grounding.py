"""Checks a text that was written elsewhere against the documents, claim by claim, without a model (N-5).

What holds an answer together holds here: a quote must stand in one chunk as `find_quote` sees it, and a claim
must not say what the lint misses in its quotes, nor may both leave out a negation, a denial or a condition of
the sentences that the quotes are cut from. What comparing words cannot tell of a claim that passes is said
with its verdict.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from chassis.auth import Caller
from chassis.errors import InvalidInput
from services.answer.answers import Citation, Note, SupportingClause
from services.answer.corpus import Chunk
from services.answer.limits import check_scope, check_text
from services.answer.parts import JOINT, MARKER
from services.answer.query import grading
from services.answer.query.composing import clause_of
from services.answer.query.notes import doubt_notes
from services.answer.query.questions import Question
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import TaskName
from services.answer.verification.citing import Citations, Origin, Stored, quote_in
from services.answer.verification.lint import Caveat, Finding, LintRule, caveats, lint
from services.answer.verification.lint.reading import Text
from services.answer.verification.places import find_in
from services.answer.verification.quotes import find_quote
from services.answer.verification.signing import Signer
from services.answer.verification.splitting import own_words, quoted_in, sentences_of

if TYPE_CHECKING:
    from services.answer.clients.retrieval import RetrievalClient

MAX_TEXT_CHARACTERS = 20_000
MAX_CLAIMS = 100
MAX_CLAIM_CHARACTERS = 4_000
MAX_QUOTES = 10
MAX_QUOTE_CHARACTERS = 8_000
QUERY_CHARACTERS = 1_000
"""Of a long quote so many are searched for: enough to tell its chunk, and search stays quick."""
POOLS = (12, 100)
"""Candidates looked through for a quote: few at first, and many before it counts as missing."""
CONCURRENT_SEARCHES = 4
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
NEAR_GRADE = 1
"""Local grade, see `grading.GRADE_LIMITS`, from which a passage counts as near."""


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
class Asked:
    """What to check and where, see `clausegate.answer.v1.CheckGroundingRequest`."""

    text: str
    claims: tuple[Claim, ...]
    sources: tuple[str, ...]
    document_ids: tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class Checked:
    """The text after the check."""

    claims: tuple[CheckedClaim, ...]
    citations: tuple[Citation, ...]
    index_revision: str

    @property
    def grounded(self) -> bool:
        """Whether every claim is verbatim or supported."""
        return all(one.verdict in (Verdict.VERBATIM, Verdict.SUPPORTED) for one in self.claims)


@dataclass(frozen=True, slots=True)
class _Search:
    """What a search for words came to."""

    words: str
    """As they were found: without a full stop of their own where the sentence goes on."""
    chunk: Chunk | None
    """Holds the words."""
    nearest: SupportingClause | None
    index_revision: str
    candidates: int


class Grounding:
    """Checks texts. Keeps nothing between them."""

    def __init__(self, retrieval: RetrievalClient, tasks: Tasks, signer: Signer, config_sha256: str) -> None:
        """`config_sha256` goes into certificates, see `Origin`."""
        self._retrieval = retrieval
        self._tasks = tasks
        self._signer = signer
        self._origin = Origin(config_sha256)

    async def check(self, asked: Asked, caller: Caller) -> Checked:
        """The verdict on every claim. Raises `InvalidInput` naming the field, `ServiceError` of a search."""
        text = asked.text or "\n".join(one.text for one in asked.claims)
        opened = self._tasks.open(TaskName.GROUNDING, text=text, sources=asked.sources, caller=caller)
        async with opened as task:
            claims = claims_of(asked)
            found = await self._search(_words_of(claims), asked)
            checked = await self._judge(claims, found)
            await task.close(
                answer="\n".join(f"{one.verdict.value}: {one.text}" for one in checked.claims),
                chunks_retrieved=sum(one.candidates for one in found.values()),
                chunks_used=len({one.chunk_id for one in checked.citations}),
            )
        return checked

    async def _search(self, wanted: Iterable[str], asked: Asked) -> dict[str, _Search]:
        """Look for each of `wanted`, a few at once; the first failure ends all."""
        running = asyncio.Semaphore(CONCURRENT_SEARCHES)
        found: dict[str, _Search] = {}

        async def look_for(words: str) -> None:
            async with running:
                found[words] = await self._look_for(words, asked)

        try:
            async with asyncio.TaskGroup() as group:
                for words in dict.fromkeys(wanted):
                    group.create_task(look_for(words))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return found

    async def _look_for(self, words: str, asked: Asked) -> _Search:
        question = Question(words[:QUERY_CHARACTERS], asked.sources, asked.document_ids)
        nearest: SupportingClause | None = None
        candidates, revision = 0, ""
        for pool in POOLS:
            found = await self._retrieval.search(
                question, top_k=pool, vector_k=pool, keyword_k=pool, route=False
            )
            graded = grading.grade_locally(found)
            near = graded[0] if graded and (graded[0].grade or 0) >= NEAR_GRADE else None
            if near and not nearest:
                nearest = clause_of(near, near.candidate.chunk)
            candidates, revision = len(found.candidates), found.index_revision
            for spelled in _spellings(words):
                for one in found.candidates:
                    if find_in(one.chunk, spelled):
                        return _Search(spelled, one.chunk, nearest, revision, candidates)
            if candidates < pool:
                break
        return _Search(words, None, nearest, revision, candidates)

    async def _judge(self, claims: Sequence[Claim], found: dict[str, _Search]) -> Checked:
        chunks = {one.chunk.chunk_id: one.chunk for one in found.values() if one.chunk}
        documents = dict.fromkeys(chunk.document_id for chunk in chunks.values())
        live = await self._retrieval.live_documents(documents)
        citations = Citations(chunks, live, self._origin, self._signer)
        judged = [_judged(claim, found, citations) for claim in claims]
        checked = tuple(replace(one, notes=_doubts(one, citations.all, chunks)) for one in judged)
        return Checked(checked, citations.all, next(one.index_revision for one in found.values()))


def claims_of(asked: Asked) -> tuple[Claim, ...]:
    """The claims to check, each with its quotes. Raises `InvalidInput` naming the field at fault."""
    check_scope(asked.sources, asked.document_ids)
    if bool(asked.text) == bool(asked.claims):
        raise InvalidInput("Give either a text or claims.", field="claims" if asked.claims else "text")
    if asked.text:
        check_text("text", asked.text, MAX_TEXT_CHARACTERS, required=True)
        claims = tuple(Claim(sentence) for sentence in sentences_of(asked.text))
        if not 0 < len(claims) <= MAX_CLAIMS:
            raise InvalidInput(f"Must have 1 to {MAX_CLAIMS} sentences.", field="text")
    else:
        claims = asked.claims
        _check(claims)
    return tuple(Claim(one.text, one.quotes or quoted_in(one.text)) for one in claims)


def _check(claims: Sequence[Claim]) -> None:
    if len(claims) > MAX_CLAIMS:
        raise InvalidInput(f"At most {MAX_CLAIMS} may be given.", field="claims")
    for i, claim in enumerate(claims):
        check_text(f"claims[{i}].text", claim.text, MAX_CLAIM_CHARACTERS, required=True)
        if len(claim.quotes) > MAX_QUOTES:
            raise InvalidInput(f"At most {MAX_QUOTES} may be given.", field=f"claims[{i}].quotes")
        for j, quote in enumerate(claim.quotes):
            check_text(f"claims[{i}].quotes[{j}]", quote, MAX_QUOTE_CHARACTERS, required=True)


def _spellings(words: str) -> Iterable[str]:
    """Words, and the same without a full stop at their end: who cuts a sentence off writes one."""
    return dict.fromkeys((words, words.removesuffix(".")))


def _words_of(claims: Iterable[Claim]) -> Iterable[str]:
    """What must stand in a document: the quotes of each claim, else its own words."""
    return (words for claim in claims for words in claim.quotes or (own_words(claim.text),))


def _judged(claim: Claim, found: dict[str, _Search], citations: Citations) -> CheckedClaim:
    own = own_words(claim.text)
    wanted = claim.quotes or (own,)
    places = {found[words].words: found[words].chunk for words in wanted}
    chunks = [chunk for chunk in places.values() if chunk]
    verbatim = next(filter(None, (_find(spelled, chunks, citations) for spelled in _spellings(own))), None)
    held = {
        words: stored
        for words, chunk in places.items()
        if chunk and (stored := _find(words, (chunk,), citations))
    }
    if verbatim:
        citations.cite_stored(verbatim)
    cited = [citations.cite_stored(one) for one in held.values()]
    numbers = tuple(dict.fromkeys(one.number for one in cited))
    missing = tuple(words for words in wanted if found[words].words not in held)
    if missing:
        nearest = found[missing[0]].nearest
        if not claim.quotes:
            return CheckedClaim(claim.text, Verdict.UNSUPPORTED, nearest_clause=nearest)
        return CheckedClaim(claim.text, Verdict.MISQUOTED, numbers, missing, nearest_clause=nearest)
    if verbatim:
        numbers = tuple(dict.fromkeys((citations.cite_stored(verbatim).number, *numbers)))
    whole = _whole_sentences(places, citations)
    findings = () if verbatim else lint(own, [one.reading for one in held.values()], _named_by(cited))
    findings = tuple(dict.fromkeys((*findings, *_cut_off(own, whole))))
    if findings:
        return CheckedClaim(claim.text, Verdict.OVERSTATED, numbers, findings=findings)
    verdict = Verdict.VERBATIM if verbatim else Verdict.SUPPORTED
    return CheckedClaim(claim.text, verdict, numbers, caveats=caveats(own, [one.text for one in whole]))


def _whole_sentences(places: Mapping[str, Chunk | None], citations: Citations) -> Sequence[Stored]:
    """The sentences that quotes are from, as they are stored."""
    found = ((words, chunk) for words, chunk in places.items() if chunk)
    whole = (citations.find(quote_in(chunk, words, whole_sentences=True)) for words, chunk in found)
    return tuple(dict.fromkeys(one for one in whole if one))


def _doubts(claim: CheckedClaim, cited: Iterable[Citation], chunks: Mapping[str, Chunk]) -> tuple[Note, ...]:
    return doubt_notes([one for one in cited if one.number in claim.citation_numbers], chunks)


def _cut_off(own: str, whole: Sequence[Stored]) -> Iterator[Finding]:
    """What a claim leaves out of the sentences that its quotes are from, and of what governs these."""
    cut = [one for one in whole if not find_quote(own, one.text)]
    if cut:
        yield from (one for one in lint(own, [one.reading for one in cut]) if one.rule in LEFT_OUT)
    if not _denies(own):
        leading = filter(None, (_lead_in(own, one) for one in cut))
        yield from (Finding(LintRule.NEGATION, lead_in) for lead_in in leading if _denies(lead_in))


def _lead_in(own: str, quote: Stored) -> str:
    """What a quote says before the item of a list that holds a claim's own words; empty where none does."""
    match = find_quote(quote.text, own)
    breaks = [one.start() for one in _BREAK.finditer(quote.text, 0, match.span.start)] if match else []
    return " ".join(quote.text[: breaks[-1]].split()) if breaks else ""


def _denies(text: str) -> bool:
    read = Text()
    read.add(text)
    return any(not one.soft for one in read.negations)


def _find(words: str, chunks: Iterable[Chunk], citations: Citations) -> Stored | None:
    """Words in the first of `chunks` that holds them."""
    return next((one for chunk in chunks if (one := citations.find(quote_in(chunk, words)))), None)


def _named_by(cited: Iterable[Citation]) -> str:
    """What a claim may name besides the words of its quotes: where they are from."""
    return " ".join(f"{one.source} {one.title} {one.section}" for one in cited)
