"""What the answer service offers: `clausegate.answer.v1.ModelService`."""

from __future__ import annotations

import grpc

from clausegate.answer.v1 import model_service_pb2 as models_pb2
from clausegate.answer.v1.model_service_pb2_grpc import ModelServiceServicer
from corpus.codec import to_message
from services.answer.models import Describing

Context = grpc.aio.ServicerContext[models_pb2.DescribeModelsRequest, models_pb2.DescribeModelsResponse]


class ModelServicer(ModelServiceServicer):
    """The models in force."""

    def __init__(self, describing: Describing) -> None:
        self._describing = describing

    async def DescribeModels(  # noqa: N802 - the name of the RPC
        self, request: models_pb2.DescribeModelsRequest, context: Context
    ) -> models_pb2.DescribeModelsResponse:
        """Which model does what."""
        return to_message(await self._describing.describe(), models_pb2.DescribeModelsResponse)
