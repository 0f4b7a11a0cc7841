"""A name server on a real socket: one name with the addresses that a test says, as a headless Service has."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

HEADER_BYTES = 12
A_RECORD = 1
INTERNET = 1
AUTHORITATIVE_ANSWER = 0x8400


class NameServer(asyncio.DatagramProtocol):
    """Answers every question for A records with `addresses`, any other with none; nothing is to be cached."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses = addresses

    def connection_made(self, transport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(b"\0", HEADER_BYTES) + 5
        (kind,) = struct.unpack_from(">H", data, end - 4)
        addresses = self.addresses if kind == A_RECORD else ()
        header = struct.pack(">HHHHH", AUTHORITATIVE_ANSWER, 1, len(addresses), 0, 0)
        # A record names its owner by pointing to the question, right behind the header.
        owner = struct.pack(">HHHIH", 0xC000 + HEADER_BYTES, A_RECORD, INTERNET, 0, 4)
        records = b"".join(owner + socket.inet_aton(address) for address in addresses)
        self._transport.sendto(data[:2] + header + data[HEADER_BYTES:end] + records, addr)


@asynccontextmanager
async def name_server(*addresses: str) -> AsyncIterator[tuple[NameServer, str]]:
    """A server, and the part of a gRPC address that asks it: `dns://host:port/`."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(addresses), local_addr=("127.0.0.1", 0)
    )
    host, port = transport.get_extra_info("sockname")
    try:
        yield server, f"dns://{host}:{port}/"
    finally:
        transport.close()
