"""A relay in front of a server that cuts a response off where a test says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def cut_at(host: str, port: int, mark: bytes, when: threading.Event) -> Iterator[str]:
    """The address of a relay that stops where `mark` would come, and ends the connection at `when`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server, (host, port), mark, when), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def _accept(server: socket.socket, upstream: tuple[str, int], mark: bytes, when: threading.Event) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        behind = socket.create_connection(upstream)
        threading.Thread(target=_pass, args=(client, behind, None, when), daemon=True).start()
        threading.Thread(target=_pass, args=(behind, client, mark, when), daemon=True).start()


def _pass(source: socket.socket, target: socket.socket, mark: bytes | None, when: threading.Event) -> None:
    with source:
        with suppress(OSError):
            while data := source.recv(2**16):
                before, cut, _ = data.partition(mark) if mark else (data, b"", b"")
                target.sendall(before)
                if cut:
                    when.wait()
                    break
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
