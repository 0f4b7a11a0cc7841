"""What the answer service offers: `clausegate.answer.v1.GroundingService`."""

from __future__ import annotations

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import grounding_service_pb2 as grounding_pb2
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceServicer
from clausegate.corpus.v1 import citation_pb2
from services.answer.answers import Certificate, Citation, MatchLevel
from services.answer.checking.citations import Verification, Verifying
from services.answer.checking.texts import Asked, Checked, Grounding
from services.answer.corpus import Span
from services.answer.parts import QuotePart
from services.answer.servicers.wire import (
    citation_to_wire,
    clause_to_wire,
    match_level_to_wire,
    note_to_wire,
    span_to_wire,
)
from services.answer.verification.grounding import CheckedClaim, Claim

CheckContext = grpc.aio.ServicerContext[
    grounding_pb2.CheckGroundingRequest, grounding_pb2.CheckGroundingResponse
]
VerifyContext = grpc.aio.ServicerContext[
    grounding_pb2.VerifyCitationRequest, grounding_pb2.VerifyCitationResponse
]
MATCH_LEVELS = {
    citation_pb2.MATCH_LEVEL_EXACT: MatchLevel.EXACT,
    citation_pb2.MATCH_LEVEL_NORMALISED: MatchLevel.NORMALISED,
    citation_pb2.MATCH_LEVEL_FOLDED: MatchLevel.FOLDED,
}


class GroundingServicer(GroundingServiceServicer):
    """Quotes, claims and citations, checked."""

    def __init__(self, grounding: Grounding, verifying: Verifying) -> None:
        self._grounding = grounding
        self._verifying = verifying

    async def CheckGrounding(  # noqa: N802 - the name of the RPC
        self, request: grounding_pb2.CheckGroundingRequest, context: CheckContext
    ) -> grounding_pb2.CheckGroundingResponse:
        """The verdict on every claim."""
        return checked_to_wire(await self._grounding.check(asked_of(request), current_caller()))

    async def VerifyCitation(  # noqa: N802 - the name of the RPC
        self, request: grounding_pb2.VerifyCitationRequest, context: VerifyContext
    ) -> grounding_pb2.VerifyCitationResponse:
        """Whether a citation is ours and still stands."""
        verified = await self._verifying.verify(citation_of(request.citation), current_caller())
        return verification_to_wire(verified)


def asked_of(request: grounding_pb2.CheckGroundingRequest) -> Asked:
    """What to check; nothing is checked yet."""
    return Asked(
        text=request.text,
        claims=tuple(Claim(claim.text, tuple(claim.quotes)) for claim in request.claims),
        sources=tuple(request.sources),
        document_ids=tuple(request.document_ids),
    )


def citation_of(message: citation_pb2.Citation) -> Citation:
    """A citation as a caller sends it; nothing is checked yet."""
    certificate = message.certificate
    return Citation(
        number=message.number,
        document=message.document,
        source=message.source,
        title=message.title,
        section=message.section,
        page=message.page if message.HasField("page") else None,
        last_page=message.last_page if message.HasField("last_page") else None,
        quote=message.quote,
        span=Span(message.span.start, message.span.end),
        chunk_id=message.chunk_id,
        chunk_alias=message.chunk_alias,
        match_level=MATCH_LEVELS.get(message.match_level, MatchLevel.UNSPECIFIED),
        certificate=Certificate(
            document_sha256=certificate.document_sha256,
            quote_sha256=certificate.quote_sha256,
            generation=certificate.generation,
            model=certificate.model,
            prompt_version=certificate.prompt_version,
            prompt_sha256=certificate.prompt_sha256,
            config_sha256=certificate.config_sha256,
            key_id=certificate.key_id,
            signature=certificate.signature,
        ),
        parts=tuple(map(part_of, message.parts)),
    )


def part_of(message: citation_pb2.QuotePart) -> QuotePart:
    """A part of a quote as a caller sends it."""
    return QuotePart(
        span=Span(message.span.start, message.span.end),
        text=message.text,
        page=message.page if message.HasField("page") else None,
        last_page=message.last_page if message.HasField("last_page") else None,
    )


def verification_to_wire(verification: Verification) -> grounding_pb2.VerifyCitationResponse:
    """What became of a citation."""
    return grounding_pb2.VerifyCitationResponse(
        signature=grounding_pb2.SignatureState.Value(f"SIGNATURE_STATE_{verification.signature.name}"),
        text=grounding_pb2.TextState.Value(f"TEXT_STATE_{verification.text.name}"),
        current_span=span_to_wire(verification.current_span) if verification.current_span else None,
        match_level=match_level_to_wire(verification.match_level),
        explanation=verification.explanation,
    )


def checked_to_wire(checked: Checked) -> grounding_pb2.CheckGroundingResponse:
    """The whole check."""
    return grounding_pb2.CheckGroundingResponse(
        grounded=checked.grounded,
        claims=[_claim(claim) for claim in checked.claims],
        citations=[citation_to_wire(citation) for citation in checked.citations],
        index_revision=checked.index_revision,
    )


def _claim(claim: CheckedClaim) -> grounding_pb2.CheckedClaim:
    return grounding_pb2.CheckedClaim(
        text=claim.text,
        verdict=grounding_pb2.GroundingVerdict.Value(f"GROUNDING_VERDICT_{claim.verdict.name}"),
        citation_numbers=claim.citation_numbers,
        missing_quotes=claim.missing_quotes,
        findings=[
            grounding_pb2.LintFinding(
                rule=grounding_pb2.LintRule.Value(f"LINT_RULE_{finding.rule.name}"), text=finding.text
            )
            for finding in claim.findings
        ],
        nearest_clause=clause_to_wire(claim.nearest_clause) if claim.nearest_clause else None,
        caveats=[
            grounding_pb2.GroundingCaveat.Value(f"GROUNDING_CAVEAT_{caveat.name}") for caveat in claim.caveats
        ],
        notes=map(note_to_wire, claim.notes),
    )
