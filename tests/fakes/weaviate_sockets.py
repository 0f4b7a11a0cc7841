"""The two listeners of the fake Weaviate. Both can be stopped as a killed server stops: connections break."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc

MESSAGE_BYTES = 104_858_000
THREADS = 32

Respond = Callable[[str, str, str, Any], tuple[int, bytes] | None]
"""Method, target, key and JSON of a request; what comes back is status and body, or None to hang up."""
Call = Callable[[str, bytes, grpc.ServicerContext], bytes]
"""Name of the method, and the request as it was sent."""


class RestListener(ThreadingHTTPServer):
    """HTTP with connections that are kept, a thread each."""

    daemon_threads = True
    request_queue_size = 128  # several processes open an index at once, with many connections each

    def __init__(self, port: int, respond: Respond) -> None:
        self.respond = respond
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no news."""

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RestListener

    def _answer(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length", "0")))
        key = self.headers.get("authorization", "")
        answer = self.server.respond(self.command, self.path, key, json.loads(sent) if sent else None)
        if answer is None:
            self.close_connection = True
            return
        status, body = answer
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - names of http.server

    def log_message(self, *_: Any) -> None:
        """Nothing."""


class GrpcListener(grpc.GenericRpcHandler):
    """gRPC that hands on bytes, so that they may be no message."""

    def __init__(self, port: int, call: Call) -> None:
        self._call = call
        self._server = grpc.server(
            ThreadPoolExecutor(THREADS),
            handlers=(self,),
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", MESSAGE_BYTES),
                ("grpc.max_send_message_length", MESSAGE_BYTES),
            ],
        )
        self._server.add_insecure_port(f"127.0.0.1:{port}")
        self._server.start()

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        name = details.method.rsplit("/", 1)[-1]
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: self._call(name, request, context)
        )

    def stop(self) -> None:
        self._server.stop(0).wait()
