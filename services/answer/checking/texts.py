"""Checks a text that was written elsewhere against the documents, claim by claim, without a model.

Every quote is searched for and read; `verification.grounding` says how a claim stands by what was found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chassis.auth import Caller
from chassis.errors import InvalidInput
from chassis.limits.size import check_count, check_names, check_text
from corpus.chunks import Chunk
from corpus.citations import Citation
from corpus.wire import Wire
from services.answer.clients.retrieval import RetrievalClient
from services.answer.questions import Question
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import TaskName
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.grounding import (
    CheckedClaim,
    Claim,
    FoundWords,
    Verdict,
    judge,
    spellings,
    words_of,
)
from services.answer.verification.nearest import nearest_to
from services.answer.verification.places import find_in
from services.answer.verification.signing import Signer
from services.answer.verification.splitting import quoted_in, sentences_of

MAX_TEXT_CHARACTERS = 20_000
MAX_CLAIMS = 100
MAX_CLAIM_CHARACTERS = 4_000
MAX_QUOTES = 10
MAX_QUOTE_CHARACTERS = 8_000
QUERY_CHARACTERS = 1_000
"""A longer quote is searched for by its first so many: enough to tell its chunk, and search stays quick."""
POOLS = (12, 100)
"""Candidates looked through for a quote: few at first, and many before it counts as missing."""
CONCURRENT_SEARCHES = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What to check and where, see `clausegate.answer.v1.CheckGroundingRequest`."""

    text: str
    claims: tuple[Claim, ...]
    sources: tuple[str, ...]
    document_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """The text after the check, see `clausegate.answer.v1.CheckGroundingResponse`."""

    WIRE: ClassVar = Wire(derived=frozenset({"grounded"}))

    claims: tuple[CheckedClaim, ...]
    citations: tuple[Citation, ...]
    index_revision: str

    @property
    def grounded(self) -> bool:
        """Whether every claim is verbatim or supported."""
        return all(claim.verdict in (Verdict.VERBATIM, Verdict.SUPPORTED) for claim in self.claims)


@dataclass(frozen=True, slots=True)
class _Search:
    """What one search came to."""

    found: FoundWords
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
        text = asked.text or "\n".join(claim.text for claim in asked.claims)
        opened = self._tasks.open(TaskName.GROUNDING, text=text, sources=asked.sources, caller=caller)
        async with opened as task:
            claims = claims_of(asked)
            searches = await self._search(words_of(claims), asked)
            checked = await self._judge(claims, searches)
            await task.close(
                answer="\n".join(f"{claim.verdict.value}: {claim.text}" for claim in checked.claims),
                chunks_retrieved=sum(search.candidates for search in searches.values()),
                chunks_used=len({citation.chunk_id for citation in checked.citations}),
            )
        return checked

    async def _search(self, wanted: Iterable[str], asked: Asked) -> dict[str, _Search]:
        """Look for each of `wanted`, a few at once; the first failure ends all."""
        running = asyncio.Semaphore(CONCURRENT_SEARCHES)
        searches: dict[str, _Search] = {}

        async def look_for(words: str) -> None:
            async with running:
                searches[words] = await self._look_for(words, asked)

        try:
            async with asyncio.TaskGroup() as group:
                for words in dict.fromkeys(wanted):
                    group.create_task(look_for(words))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return searches

    async def _look_for(self, words: str, asked: Asked) -> _Search:
        question = Question(words[:QUERY_CHARACTERS], asked.sources, asked.document_ids)
        near: tuple[Chunk, ...] = ()
        candidates, revision = 0, ""
        for pool in POOLS:
            found = await self._retrieval.search(
                question, top_k=pool, vector_k=pool, keyword_k=pool, route=False
            )
            near = near or tuple(candidate.chunk for candidate in found.candidates)
            candidates, revision = len(found.candidates), found.index_revision
            for spelled in spellings(words):
                for candidate in found.candidates:
                    if find_in(candidate.chunk, spelled):
                        return _Search(FoundWords(spelled, candidate.chunk, None), revision, candidates)
            if candidates < pool:
                break
        # Some .1 s of comparing words.
        nearest = await asyncio.to_thread(nearest_to, words, near)
        return _Search(FoundWords(words, None, nearest), revision, candidates)

    async def _judge(self, claims: Sequence[Claim], searches: Mapping[str, _Search]) -> Checked:
        found = {words: search.found for words, search in searches.items()}
        everything = [chunk for place in found.values() for chunk in place.chunks]
        chunks: dict[str, Chunk] = {chunk.chunk_id: chunk for chunk in everything}
        documents = dict.fromkeys(chunk.document_id for chunk in everything)
        live = await self._retrieval.live_documents(documents)
        citations = Citations(chunks, live, self._origin, self._signer)
        checked = judge(claims, found, citations)
        revision = next(search.index_revision for search in searches.values())
        return Checked(checked, citations.all, revision)


def claims_of(asked: Asked) -> tuple[Claim, ...]:
    """The claims to check, each with its quotes. Raises `InvalidInput` naming the field at fault."""
    check_names("sources", asked.sources)
    check_names("document_ids", asked.document_ids)
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
    return tuple(Claim(claim.text, claim.quotes or quoted_in(claim.text)) for claim in claims)


def _check(claims: Sequence[Claim]) -> None:
    check_count("claims", claims, MAX_CLAIMS)
    for i, claim in enumerate(claims):
        check_text(f"claims[{i}].text", claim.text, MAX_CLAIM_CHARACTERS, required=True)
        check_count(f"claims[{i}].quotes", claim.quotes, MAX_QUOTES)
        for j, quote in enumerate(claim.quotes):
            check_text(f"claims[{i}].quotes[{j}]", quote, MAX_QUOTE_CHARACTERS, required=True)
