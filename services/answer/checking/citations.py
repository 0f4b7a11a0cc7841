"""Checks a citation that a caller sends: whether we signed it, and where its words stand now.

Needs no model, and for the text no key either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from chassis.auth import Caller
from chassis.errors import InvalidInput
from chassis.limits.size import MAX_NAME_BYTES, check_text
from corpus.citations import Certificate, Citation, MatchLevel, QuotePart
from corpus.documents import Document
from corpus.spans import Span
from services.answer.clients.retrieval import RetrievalClient
from services.answer.parts import joined
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import TaskName
from services.answer.verification.places import Place, find_governed, level_at, loosest, strictness
from services.answer.verification.signing import SignatureState, Signer

MAX_QUOTE_CHARACTERS = 20_000
"""No chunk has as many, so whatever was cited can be verified."""
MAX_PARTS = 100


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

    async def _look_up(self, citation: Citation) -> tuple[TextState, Place | None]:
        documents = await self._retrieval.live_documents([citation.document])
        document = documents.get(citation.document)
        if document is None:
            return TextState.GONE, None
        if _names_version(citation.certificate, document):
            place = await self._at_its_place(citation)
            return (TextState.PRESENT if place else TextState.GONE), place
        return TextState.SUPERSEDED, await self._anywhere(citation)

    async def _at_its_place(self, citation: Citation) -> Place | None:
        """The place that was cited; None unless every part of the quote stands at its own."""
        parts = _parts_of(citation)
        if not _is_made_of(citation, parts):
            return None
        last = max(part.span.end for part in parts)
        found = dict[QuotePart, MatchLevel]()
        async for chunk in self._retrieval.document_chunks(citation.document):
            if chunk.span.start > last or len(found) == len(parts):
                break
            missing = [part for part in parts if part not in found]
            found |= {part: level for part in missing if (level := level_at(chunk, part))}
        return Place(citation.span, loosest(*found.values())) if len(found) == len(parts) else None

    async def _anywhere(self, citation: Citation) -> Place | None:
        """The strictest match in the live version, of several the one closest to where it was cited."""
        parts = _parts_of(citation)
        if not _is_made_of(citation, parts):
            return None
        words = _words_of(citation, parts)
        places = [
            place
            async for chunk in self._retrieval.document_chunks(citation.document)
            if (place := find_governed(chunk, words, citation.quote, near=citation.span.start))
        ]

        def rank(place: Place) -> tuple[int, int]:
            return strictness(place.level), abs(place.span.start - citation.span.start)

        return min(places, key=rank, default=None)


def check(citation: Citation) -> None:
    """Raise `InvalidInput`, naming the field, unless the citation can be looked up."""
    check_text("citation.document", citation.document, MAX_NAME_BYTES, required=True)
    if len(citation.document.encode()) > MAX_NAME_BYTES:
        raise InvalidInput(f"Must have 1 to {MAX_NAME_BYTES:,} bytes.", field="citation.document")
    check_text("citation.quote", citation.quote, MAX_QUOTE_CHARACTERS, required=True)
    if not 0 <= citation.span.start < citation.span.end:
        message = "Must be given: start from 0, and end beyond start."
        raise InvalidInput(message, field="citation.span")
    if len(citation.parts) > MAX_PARTS:
        raise InvalidInput(f"At most {MAX_PARTS} may be given.", field="citation.parts")


def _names_version(certificate: Certificate, document: Document) -> bool:
    """Whether the live version is the cited one; what a certificate leaves out is taken to mean it."""
    return certificate.generation in ("", document.generation) and certificate.document_sha256 in (
        "",
        document.content_sha256,
    )


def _parts_of(citation: Citation) -> tuple[QuotePart, ...]:
    """The parts of a citation, each once; one that was made before citations had parts is its own."""
    return tuple(dict.fromkeys(citation.parts)) or (QuotePart(citation.span, citation.quote),)


def _is_made_of(citation: Citation, parts: Sequence[QuotePart]) -> bool:
    """Whether the quote consists of these parts, and the words at its span are in one of them."""
    return joined(parts) == citation.quote and any(citation.span in part.span for part in parts)


def _words_of(citation: Citation, parts: Sequence[QuotePart]) -> str:
    """The quoted words without what leads into them, and without their conditions."""
    part = next(part for part in parts if citation.span in part.span)
    if not citation.parts:
        return part.text
    return part.text[citation.span.start - part.span.start : citation.span.end - part.span.start]


_SIGNATURES = {
    SignatureState.VALID: "The signature is ours and covers exactly these values.",
    SignatureState.INVALID: "The signature is not ours, or a value was changed since.",
    SignatureState.UNSIGNED: "The citation is not signed.",
}


def _explain(text: TextState, place: Place | None) -> str:
    match text:
        case TextState.PRESENT:
            return "The words stand at the cited place of the live version."
        case TextState.SUPERSEDED if place:
            return "Another version of the document is live, and the words stand in it."
        case TextState.SUPERSEDED:
            return "Another version of the document is live, and the words do not stand in it."
        case TextState.GONE:
            return "The document is not indexed any more, or the words do not stand at the cited place."
