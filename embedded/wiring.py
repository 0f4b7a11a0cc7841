"""Builds every service and the gateway in one process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from chassis.entrance import entrance
from chassis.server import serving
from embedded.lock import owned
from embedded.settings import EmbeddedSettings
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval


@asynccontextmanager
async def stack(settings: EmbeddedSettings) -> AsyncIterator[None]:
    """Serve all services at one address, and REST when it has one; they reach each other at that address.

    Leaving it drains: first REST, then gRPC, then the stores are closed. Raises what is in
    `chassis.process.CANNOT_START`, `DataInUse` among it, and `pydantic.ValidationError` for a setting of a
    service.
    """
    address, data = settings.address, settings.data_dir
    record, replay = settings.record_model_calls, settings.replay_model_calls
    async with AsyncExitStack() as running:
        running.enter_context(owned(data))
        asked = await running.enter_async_context(entrance(settings))
        services = [
            await running.enter_async_context(service)
            for service in (
                retrieval(
                    RetrievalSettings(data_dir=data, record_model_calls=record, replay_model_calls=replay)
                ),
                ingest(IngestSettings(data_dir=data, retrieval_address=address)),
                answer(
                    AnswerSettings(
                        data_dir=data,
                        retrieval_address=address,
                        log_queries=settings.log_queries,
                        record_model_calls=record,
                        replay_model_calls=replay,
                    )
                ),
            )
        ]
        await running.enter_async_context(serving(address, services, asked))
        if settings.gateway_address:
            rest = GatewaySettings(
                data_dir=data,
                drain_seconds=settings.drain_seconds,
                api_keys_file=settings.api_keys_file,
                gateway_address=settings.gateway_address,
                ingest_address=address,
                retrieval_address=address,
                answer_address=address,
            )
            await running.enter_async_context(serving_rest(rest))
        yield
