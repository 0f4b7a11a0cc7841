"""The ASGI application: the routes of the contracts, and what every request passes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from chassis.access import Load
from chassis.auth import current_caller
from chassis.errors import ServiceError
from chassis.interceptors import check_access
from chassis.limits.concurrency import CallLimiter
from chassis.policy import ServerPolicy
from gateway import problems
from gateway.bridge import Downstream, endpoint
from gateway.calls import Endpoint
from gateway.contracts import Binding, Contracts, Method
from gateway.credentials import Authentication
from gateway.errors import ClientGone
from gateway.health import Readiness, alive
from gateway.limits import LimitedHeads, RejectedBodies, limited
from gateway.mcp.endpoint import PATH as MCP_PATH
from gateway.messages import to_json
from gateway.observation import Observation
from gateway.openapi import openapi_document
from gateway.originals import original_endpoint
from gateway.pages import pages, served
from gateway.upload import upload_endpoint


@dataclass(frozen=True, slots=True)
class Doors:
    """The ways in beside REST."""

    mcp: Endpoint
    signed: Sequence[Route] = ()
    """Routes that find out by themselves who asks."""


def build_app(contracts: Contracts, downstream: Downstream, policy: ServerPolicy, doors: Doors) -> Starlette:
    """The application over open channels. With credentials each route needs one, but our own and `signed`."""
    settings = downstream.settings
    own_routes = [*_own_routes(contracts, downstream), *doors.signed]
    limiter = CallLimiter.configured(policy.limits)
    app = Starlette(
        routes=[
            Route(MCP_PATH, limited(doors.mcp, limiter, Load.READ), methods=["POST"]),
            *_contract_routes(contracts, downstream, limiter),
            *own_routes,
        ],
        middleware=[
            Middleware(Observation),
            Middleware(LimitedHeads, limit=policy.limits.max_head_bytes),
            Middleware(RejectedBodies, limit=settings.max_upload_bytes, cut_off=downstream.cut_off),
            Middleware(
                Authentication,
                credentials=policy.credentials,
                open_paths={route.path for route in own_routes},
            ),
            # Starlette has one of these outside of all others; this one answers within the trace.
            Middleware(ServerErrorMiddleware, handler=problems.on_unexpected),
        ],
        exception_handlers={
            ServiceError: problems.on_service_error,
            HTTPException: problems.on_http_exception,
            ClientGone: problems.on_client_gone,
            ClientDisconnect: problems.on_client_gone,
            Exception: problems.on_unexpected,
        },
    )
    app.router.redirect_slashes = False
    return app


def _contract_routes(contracts: Contracts, downstream: Downstream, limiter: CallLimiter) -> list[BaseRoute]:
    """One route per path, so that a wrong method is answered with all that the path has."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for method in contracts.methods:
        for binding in method.bindings:
            answer = _endpoint(method, binding, downstream)
            by_path.setdefault(binding.path, {})[binding.verb] = limited(answer, limiter, method.access.load)
    # A path that ends in a document's id takes whatever begins like it, so it is tried last.
    paths = sorted(by_path, key=lambda path: path.endswith(":path}"))
    return [Route(path, _by_verb(by_path[path]), methods=list(by_path[path])) for path in paths]


def _endpoint(method: Method, binding: Binding, downstream: Downstream) -> Endpoint:
    """Asks for a scope that opens the method before anything of a request's body is read."""
    if method.streams_requests:
        serve = _upload(method, downstream)
    elif method.sends_file:
        serve = original_endpoint(method, downstream)
    else:
        serve = endpoint(method, binding, downstream)

    async def answer(request: Request) -> Response:
        check_access(current_caller(), method.access)
        return await serve(request)

    return answer


def _upload(method: Method, downstream: Downstream) -> Endpoint:
    """Uploads have a limit of their own, since each has a temporary file."""
    limiter = CallLimiter(downstream.settings.max_running_uploads)
    return limited(upload_endpoint(method, downstream), limiter, Load.WRITE)


def _by_verb(verbs: Mapping[str, Endpoint]) -> Endpoint:
    async def answer(request: Request) -> Response:
        verb = "GET" if request.method == "HEAD" else request.method
        return await verbs[verb](request)

    return answer


def _own_routes(contracts: Contracts, downstream: Downstream) -> list[Route]:
    """What needs no caller: health, and what the contracts are."""
    readiness = Readiness(
        contracts.services, downstream.channels, downstream.settings.health_deadline_seconds
    )
    return [
        Route("/healthz", alive),
        Route("/readyz", readiness.answer),
        Route("/openapi.json", served(to_json(openapi_document(contracts)), "application/json")),
        *(Route(path, page) for path, page in pages().items()),
    ]
