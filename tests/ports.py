"""Ports for servers that are to find their own free again, whenever they are started."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

LOWEST, BEYOND = 10_000, 32_768
"""Below the ports that Linux gives to connections and to servers that take any: thousands of those are given
away between a look and a bind, or a stop and a start."""


def free_port() -> int:
    """The number of a TCP port of loopback that nobody listens at."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            # Not by `random`, which hypothesis sets back to where it was for each example.
            probe.bind(("127.0.0.1", LOWEST + secrets.randbelow(BEYOND - LOWEST)))
            return int(probe.getsockname()[1])
