"""Builds every service and the gateway in one process."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from chassis.folders import owned
from chassis.kept_traces import traces_kept
from chassis.policy import server_policy
from chassis.server import Services, serving
from chassis.settings import ProcessSettings
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
    """Serve all services at one address, and REST when it has one; they reach each other at a Unix socket of
    their own.

    Leaving it drains: first REST, then gRPC, then that socket, then the stores are closed. Raises what is in
    `chassis.process.CANNOT_START`, `DataInUse` among it, and `pydantic.ValidationError` for a setting of a
    service.
    """
    settings = settings.model_copy(update=_own_index_key())
    async with AsyncExitStack() as running:
        running.enter_context(owned(settings.data_dir))
        if settings.keep_traces:
            running.enter_context(traces_kept(settings.data_dir / "logs" / "traces.jsonl"))
        policy = await running.enter_async_context(server_policy(settings))
        address = running.enter_context(_inner_address())
        services = [await running.enter_async_context(context) for context in _services(settings, address)]
        await running.enter_async_context(serving(address, services, policy))
        for service in services:
            if service.before_others is not None:
                await service.before_others()
        await running.enter_async_context(serving(settings.address, services, policy))
        if settings.gateway_address:
            rest = GatewaySettings(
                **_shared(settings),
                gateway_address=settings.gateway_address,
                ingest_address=address,
                retrieval_address=address,
                answer_address=address,
            )
            await running.enter_async_context(serving_rest(rest))
        yield


def _services(settings: EmbeddedSettings, address: str) -> tuple[AbstractAsyncContextManager[Services], ...]:
    """All services, to be served at `address`, where they call each other."""
    data = settings.data_dir
    record, replay = settings.record_model_calls, settings.replay_model_calls
    key = {name: getattr(settings, name) for name in ("index_key", "index_key_file")}
    return (
        retrieval(
            RetrievalSettings(data_dir=data, record_model_calls=record, replay_model_calls=replay, **key)
        ),
        answer(
            AnswerSettings(
                data_dir=data,
                retrieval_address=address,
                log_queries=settings.log_queries,
                record_model_calls=record,
                replay_model_calls=replay,
            )
        ),
        # Last: it calls retrieval as soon as it is there, and a connection that failed is not tried again at
        # once.
        ingest(IngestSettings(data_dir=data, retrieval_address=address, **key)),
    )


def _own_index_key() -> dict[str, object]:
    """A key that nobody else ever learns: here ingest and retrieval are one process."""
    return {"index_key": SecretStr(secrets.token_hex(32)), "index_key_file": None}


def _shared(settings: EmbeddedSettings) -> dict[str, Any]:
    """What every process has: the stack's own hold for all in it, whatever the environment says."""
    return {name: getattr(settings, name) for name in ProcessSettings.model_fields}


@contextmanager
def _inner_address() -> Iterator[str]:
    """Where the services call each other: a socket that is theirs alone.

    A server that is asked to stop lets running calls go on and takes no new ones, which those may still need
    to make: it is stopped after the one that others call. Nor need a certificate be for the address that is
    listened at (0.0.0.0, for one), or of an authority that the services trust.
    """
    with TemporaryDirectory(prefix="clausegate-", dir="/tmp") as folder:  # a socket's path is short
        yield f"unix:{folder}/grpc"
