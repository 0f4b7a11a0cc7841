"""Checks a citation that a caller sends: whether we signed it, and where its words stand now (N-1).

Needs no model, and for the text no key either.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from chassis.auth import Caller
from chassis.errors import InvalidInput
from services.answer.answers import Certificate, Citation, MatchLevel
from services.answer.corpus import Chunk, Document, Span
from services.answer.limits import MAX_SCOPE_BYTES, check_text
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import TaskName
from services.answer.verification.quotes import find_quote
from services.answer.verification.signing import SignatureState, Signer

if TYPE_CHECKING:
    from services.answer.clients.retrieval import RetrievalClient

MAX_QUOTE_CHARACTERS = 20_000
"""More than any chunk has, so that whatever was cited can be verified."""
_STRICTEST_FIRST = tuple(MatchLevel)


class TextState(StrEnum):
    """Where the words of a citation stand now, see `clausegate.answer.v1.TextState`."""

    PRESENT = "present"
    SUPERSEDED = "superseded"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a citation, see `clausegate.answer.v1.VerifyCitationResponse`."""

    signature: SignatureState
    text: TextState
    current_span: Span | None
    match_level: MatchLevel
    explanation: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where words stand in a document."""

    span: Span
    level: MatchLevel


class Verifying:
    """Verifies citations. Keeps nothing between them."""

    def __init__(self, retrieval: RetrievalClient, tasks: Tasks, signer: Signer) -> None:
        self._retrieval = retrieval
        self._tasks = tasks
        self._signer = signer

    async def verify(self, citation: Citation, caller: Caller) -> Verification:
        """What the signature and the stored text say. Raises `InvalidInput` naming the field at fault."""
        sources = (citation.source,) if citation.source else ()
        opened = self._tasks.open(TaskName.CITATION, text=citation.quote, sources=sources, caller=caller)
        async with opened as task:
            check(citation)
            signature = self._signer.check(citation)
            text, place = await self._look_up(citation)
            verification = Verification(
                signature=signature,
                text=text,
                current_span=place.span if place and text is TextState.SUPERSEDED else None,
                match_level=place.level if place else MatchLevel.UNSPECIFIED,
                explanation=f"{_SIGNATURES[signature]} {_explain(text, place)}",
            )
            await task.close(answer=verification.explanation)
        return verification

    async def _look_up(self, citation: Citation) -> tuple[TextState, _Place | None]:
        documents = await self._retrieval.live_documents([citation.document])
        document = documents.get(citation.document)
        if document is None:
            return TextState.GONE, None
        if _names_version(citation.certificate, document):
            place = await self._at_its_place(citation)
            return (TextState.PRESENT if place else TextState.GONE), place
        return TextState.SUPERSEDED, await self._anywhere(citation)

    async def _at_its_place(self, citation: Citation) -> _Place | None:
        cited = citation.span
        async for chunk in self._retrieval.document_chunks(citation.document):
            if chunk.span.start <= cited.start and cited.end <= chunk.span.end:
                place = _find(chunk, citation)
                if place and place.span == cited:
                    return place
            elif chunk.span.start > cited.end:
                break
        return None

    async def _anywhere(self, citation: Citation) -> _Place | None:
        """The strictest match in the live version, of several the one closest to where it was cited."""
        places = [
            place
            async for chunk in self._retrieval.document_chunks(citation.document)
            if (place := _find(chunk, citation))
        ]

        def rank(place: _Place) -> tuple[int, int]:
            return _STRICTEST_FIRST.index(place.level), abs(place.span.start - citation.span.start)

        return min(places, key=rank, default=None)


def check(citation: Citation) -> None:
    """Raise `InvalidInput`, naming the field, unless the citation can be looked up."""
    check_text("citation.document", citation.document, MAX_SCOPE_BYTES, required=True)
    if len(citation.document.encode()) > MAX_SCOPE_BYTES:
        raise InvalidInput(f"Must have 1 to {MAX_SCOPE_BYTES:,} bytes.", field="citation.document")
    check_text("citation.quote", citation.quote, MAX_QUOTE_CHARACTERS, required=True)
    if not 0 <= citation.span.start < citation.span.end:
        message = "Must be given: start from 0, and end beyond start."
        raise InvalidInput(message, field="citation.span")


def _names_version(certificate: Certificate, document: Document) -> bool:
    """Whether the live version is the cited one; what a certificate leaves out is taken to mean it."""
    return certificate.generation in ("", document.generation) and certificate.document_sha256 in (
        "",
        document.content_sha256,
    )


def _find(chunk: Chunk, citation: Citation) -> _Place | None:
    match = find_quote(chunk.text, citation.quote, near=citation.span.start - chunk.span.start)
    if match is None:
        return None
    return _Place(Span(chunk.span.start + match.span.start, chunk.span.start + match.span.end), match.level)


_SIGNATURES = {
    SignatureState.VALID: "The signature is ours and covers exactly these values.",
    SignatureState.INVALID: "The signature is not ours, or a value was changed since.",
    SignatureState.UNSIGNED: "The citation is not signed.",
}


def _explain(text: TextState, place: _Place | None) -> str:
    match text:
        case TextState.PRESENT:
            return "The words stand at the cited place of the live version."
        case TextState.SUPERSEDED if place:
            return "Another version of the document is live, and the words stand in it."
        case TextState.SUPERSEDED:
            return "Another version of the document is live, and the words do not stand in it."
        case TextState.GONE:
            return "The document is not indexed any more, or the words do not stand at the cited place."
