"""Whether the process lives, and whether the services behind it serve."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from starlette.requests import Request
from starlette.responses import Response

from gateway.messages import to_json

SERVING = "SERVING"
UNREACHABLE = "UNREACHABLE"


async def alive(request: Request) -> Response:
    """200 as long as the process answers at all."""
    return Response(to_json({"status": SERVING}), media_type="application/json")


class Readiness:
    """Asks every service by gRPC health: 200 when all are SERVING, else 503, with the state of each."""

    def __init__(
        self,
        services: Sequence[tuple[str, str]],
        channels: Mapping[str, grpc.aio.Channel],
        deadline_seconds: float,
    ) -> None:
        self._services = services
        self._stubs = {area: health_pb2_grpc.HealthStub(channel) for area, channel in channels.items()}
        self._deadline_seconds = deadline_seconds

    async def answer(self, request: Request) -> Response:
        """The state of all services, asked at once."""
        states = await asyncio.gather(*(self._state(*service) for service in self._services))
        ready = all(state == SERVING for state in states)
        body = {
            "status": SERVING if ready else "NOT_SERVING",
            "services": {name: state for (_, name), state in zip(self._services, states, strict=True)},
        }
        return Response(to_json(body), 200 if ready else 503, media_type="application/json")

    async def _state(self, area: str, service: str) -> str:
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            response = await self._stubs[area].Check(request, timeout=self._deadline_seconds)
        except grpc.aio.AioRpcError:
            return UNREACHABLE
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))
