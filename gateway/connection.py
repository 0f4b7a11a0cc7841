"""One connection of an HTTP client, which is held no longer than the client does its part.

uvicorn waits without end for the head of a request, and for a client to take what is sent to it; what is
here looks after both. The body is looked after where it is read, since there it can be answered.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from chassis.errors import DeadlineExceeded, ServiceError
from chassis.limits.concurrency import TooManyAtOnce
from chassis.limits.settings import LimitSettings
from gateway.errors import HeadTooLarge, MalformedRequest
from gateway.messages import to_json
from gateway.problems import PROBLEM_TYPE, problem_of

HEAD_SECONDS = 10.0
"""What a client gets for the head of a request at most; from its connecting for the first."""
MIN_TAKEN_BYTES = 16 * 2**10
"""What a client takes at least in the time that it may stall, or all that waits for it."""


def head_seconds(limits: LimitSettings) -> float:
    """What a client gets for the head of a request, and for the handshake of TLS before it."""
    return min(HEAD_SECONDS, limits.client_stall_seconds)


class Connection(H11Protocol):
    """uvicorn's connection with an end to its patience, and problems for what never becomes a request."""

    def __init__(
        self,
        limits: LimitSettings,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._head_seconds = head_seconds(limits)
        self._head: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._waited = 0
        self._resumed = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.max_connections:
            self._refuse(503, TooManyAtOnce("Too many connections are open."))
            return
        self._head = self.loop.call_later(self._head_seconds, self._head_is_late)
        self._look = self.loop.call_later(self._limits.client_stall_seconds, self._look_at_what_waits)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look after it no more."""
        for timer in (self._head, self._look):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; from the first byte of a head on, its time runs, and so it does for what is left of a body
        whose request has been answered."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            unfinished = bool(self.conn.trailing_data[0])
        else:
            unfinished = self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete
        if unfinished and self._head is None:
            self._head = self.loop.call_later(self._head_seconds, self._head_is_late)
        elif not unfinished and self._head is not None:
            self._head.cancel()
            self._head = None

    def resume_writing(self) -> None:
        """The client has taken most of what waited for it."""
        self._resumed = True
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer a head that is none, or too large."""
        if len(self.conn.trailing_data[0]) > self._limits.max_head_bytes:
            self._refuse(431, HeadTooLarge(self._limits.max_head_bytes))
        else:
            self._refuse(400, MalformedRequest("The bytes are no HTTP request."))

    def _head_is_late(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._drop()
            return
        message = f"The request's line and headers come within {self._head_seconds:g} seconds."
        self._refuse(408, DeadlineExceeded(message))

    def _refuse(self, status: int, error: ServiceError) -> None:
        """Say what is wrong and close. There is no request, so nothing else can say it."""
        if self.transport.is_closing():
            return
        body = to_json(problem_of(error) | {"status": status})
        headers = {
            "content-type": PROBLEM_TYPE,
            "content-length": str(len(body)),
            "connection": "close",
        }
        if error.retry_after_seconds is not None:
            headers["retry-after"] = f"{error.retry_after_seconds:.0f}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _look_at_what_waits(self) -> None:
        """Drop a client that takes nothing; its request learns that it has gone."""
        waits = self._bytes_that_wait()
        if self._waited and not self._resumed and waits > max(0, self._waited - MIN_TAKEN_BYTES):
            self._drop()
            return
        self._waited, self._resumed = waits, False
        self._look = self.loop.call_later(self._limits.client_stall_seconds, self._look_at_what_waits)

    def _bytes_that_wait(self) -> int:
        """What the client has not taken: here, and in the system's buffer, which can hold megabytes."""
        answered = fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, bytes(4))
        return self.transport.get_write_buffer_size() + int(struct.unpack("i", answered)[0])

    def _drop(self) -> None:
        """End the connection at once, and with it what waits in the system's buffer."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    @property
    def _socket(self) -> socket.socket:
        found: socket.socket = self.transport.get_extra_info("socket")
        return found
