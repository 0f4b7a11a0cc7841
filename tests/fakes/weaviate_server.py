"""A Weaviate on loopback, REST and gRPC, in memory: what the store of retrieval needs of one, and no more.

It answers as the real server does where the store depends on it, traps among it, and passes the same tests.
A request that it does not know fails, and fails the test as well.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import grpc
from weaviate.proto.v1 import aggregate_pb2, batch_delete_pb2, batch_pb2, search_get_pb2, tenants_pb2

from tests.fakes import weaviate_aggregates, weaviate_grpc, weaviate_rest
from tests.fakes.weaviate_behaviours import Behaviour, Fails, Garbage, Hangs, RejectsObjects, Slow
from tests.fakes.weaviate_database import Database, Refused
from tests.fakes.weaviate_sockets import GrpcListener, RestListener
from tests.ports import free_port

READY = "/v1/.well-known/ready"
NO_KEY = "anonymous access not enabled, please provide an auth scheme such as OIDC"
REST = "REST"
"""Names all calls over REST, but for the question whether the server is ready."""
CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "Search": (weaviate_grpc.search, search_get_pb2.SearchRequest),
    "Aggregate": (weaviate_aggregates.aggregate, aggregate_pb2.AggregateRequest),
    "BatchObjects": (weaviate_grpc.batch_objects, batch_pb2.BatchObjectsRequest),
    "BatchDelete": (weaviate_grpc.batch_delete, batch_delete_pb2.BatchDeleteRequest),
    "TenantsGet": (weaviate_grpc.tenants_get, tenants_pb2.TenantsGetRequest),
}
"""The calls over gRPC."""


class WeaviateServer:
    """Serves while it is entered, on threads of its own; what it holds outlives a stop.

    What it does with a call: the first behaviour of `play` that is left for it, else what `always` says, else
    what the real server would do.
    """

    def __init__(self, key: str = "") -> None:
        """With a `key` every call must carry it, but for the question whether the server is ready."""
        self.database = Database()
        self.ready = True
        """What the server says of itself; calls are answered all the same."""
        self.calls: list[str] = []
        """What was called, in order."""
        self._key = key
        self._ports = free_port(), free_port()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._queues: dict[str, deque[Behaviour]] = defaultdict(deque)
        self._always: dict[str, Behaviour] = {}
        self._defects: list[Exception] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._defects:
            raise self._defects[0]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def grpc_url(self) -> str:
        return f"http://127.0.0.1:{self._ports[1]}"

    def start(self) -> None:
        """Listen; after a stop on the same ports."""
        self._stopped.clear()
        self._rest = RestListener(self._ports[0], self._answer_rest)
        self._grpc = GrpcListener(self._ports[1], self._answer_grpc)

    def stop(self) -> None:
        """Hang up on everybody."""
        self._stopped.set()
        self._grpc.stop()
        self._rest.stop()

    def play(self, call: str, *behaviours: Behaviour) -> None:
        """Queue behaviours, one a call; `call` is a name in `CALLS`, or `REST`."""
        self._queues[call].extend(behaviours)

    def always(self, call: str, behaviour: Behaviour | None) -> None:
        """From now on do this with every such call; None for what is right."""
        self._always.pop(call, None)
        if behaviour is not None:
            self._always[call] = behaviour

    def _behaviour(self, call: str) -> Behaviour | None:
        with self._lock:
            self.calls.append(call)
            queue = self._queues[call]
            behaviour = queue.popleft() if queue else self._always.get(call)
        if isinstance(behaviour, Slow):
            self._stopped.wait(behaviour.seconds)
        return behaviour

    def _answer_grpc(self, call: str, sent: bytes, context: grpc.ServicerContext) -> bytes:
        if self._key and ("authorization", f"Bearer {self._key}") not in context.invocation_metadata():
            context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_KEY)
        behaviour = self._behaviour(call)
        if isinstance(behaviour, Fails):
            context.abort(grpc.StatusCode[behaviour.code], behaviour.message)
        if isinstance(behaviour, Garbage):
            return behaviour.content
        function, request_type = CALLS[call]
        if isinstance(behaviour, RejectsObjects):
            function = partial(function, rejects=behaviour.rejects)
        try:
            reply = self._locked(function, request_type.FromString(sent))
        except Refused as refused:
            context.abort(grpc.StatusCode.UNKNOWN, str(refused))
        except Exception as defect:  # noqa: BLE001 - raised again by `__exit__`
            context.abort(grpc.StatusCode.UNIMPLEMENTED, self._defect(defect))
        if isinstance(behaviour, Hangs):
            self._until_left(context)
        return reply.SerializeToString()

    def _answer_rest(self, method: str, target: str, key: str, body: Any) -> tuple[int, bytes] | None:
        if target == READY:
            return (200 if self.ready else 503), b""
        if self._key and key != f"Bearer {self._key}":
            return 401, json.dumps({"code": 401, "message": NO_KEY}).encode()
        behaviour = self._behaviour(REST)
        if isinstance(behaviour, Fails):
            return behaviour.status, json.dumps({"error": [{"message": behaviour.message}]}).encode()
        if isinstance(behaviour, Garbage):
            return 200, behaviour.content
        try:
            status, content = self._locked(weaviate_rest.answer, method, target, body)
        except Refused as refused:
            status, content = weaviate_rest.refusal(refused)
        except Exception as defect:  # noqa: BLE001 - raised again by `__exit__`
            status, content = 501, {"error": [{"message": self._defect(defect)}]}
        if isinstance(behaviour, Hangs):
            self._stopped.wait()
            return None
        return status, b"" if content is None else json.dumps(content).encode()

    def _until_left(self, context: grpc.ServicerContext) -> None:
        while context.is_active() and not self._stopped.wait(0.01):
            pass

    def _locked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._lock:
            return function(self.database, *arguments)

    def _defect(self, defect: Exception) -> str:
        self._defects.append(defect)
        return f"the fake cannot do this: {defect!r}"
