"""What the answer service offers: `clausegate.answer.v1.GroundingService`."""

from __future__ import annotations

import grpc

from chassis.auth import current_caller
from clausegate.answer.v1 import grounding_service_pb2 as grounding_pb2
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceServicer
from corpus.citations import Citation
from corpus.codec import from_message, to_message
from services.answer.checking.citations import Verifying
from services.answer.checking.texts import Asked, Grounding

CheckContext = grpc.aio.ServicerContext[
    grounding_pb2.CheckGroundingRequest, grounding_pb2.CheckGroundingResponse
]
VerifyContext = grpc.aio.ServicerContext[
    grounding_pb2.VerifyCitationRequest, grounding_pb2.VerifyCitationResponse
]


class GroundingServicer(GroundingServiceServicer):
    """Quotes, claims and citations, checked."""

    def __init__(self, grounding: Grounding, verifying: Verifying) -> None:
        self._grounding = grounding
        self._verifying = verifying

    async def CheckGrounding(  # noqa: N802 - the name of the RPC
        self, request: grounding_pb2.CheckGroundingRequest, context: CheckContext
    ) -> grounding_pb2.CheckGroundingResponse:
        """The verdict on every claim."""
        checked = await self._grounding.check(from_message(request, Asked), current_caller())
        return to_message(checked, grounding_pb2.CheckGroundingResponse)

    async def VerifyCitation(  # noqa: N802 - the name of the RPC
        self, request: grounding_pb2.VerifyCitationRequest, context: VerifyContext
    ) -> grounding_pb2.VerifyCitationResponse:
        """Whether a citation is ours and still stands."""
        verified = await self._verifying.verify(from_message(request.citation, Citation), current_caller())
        return to_message(verified, grounding_pb2.VerifyCitationResponse)
