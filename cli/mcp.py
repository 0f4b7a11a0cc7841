"""The command that lets a program on this machine ask the documents over MCP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import typer

from cli.connection import Services
from cli.output import Output
from cli.parameters import DEFAULT_DATA, Data, Server
from cli.running import run

app = typer.Typer()

MAX_LINE_BYTES = 16 * 2**20
"""Longest message that is read."""


@app.command()
def mcp(server: Server = None, data: Data = DEFAULT_DATA) -> None:
    """Speak MCP on standard input and output, for the program that started it; see docs/mcp.md."""
    run(_mcp(Services(server, data)), Output(as_json=False))


async def _mcp(services: Services) -> int:
    from mcp.server.stdio import stdio_server  # the SDK takes half a second, which other commands need not

    from gateway.mcp.server import mcp_server

    async with (
        services.connected() as client,
        _standard_input() as lines,
        stdio_server(stdin=lines) as (incoming, outgoing),
    ):
        speaking = mcp_server(client)
        await speaking.run(incoming, outgoing, speaking.create_initialization_options())
    return 0


@asynccontextmanager
async def _standard_input() -> AsyncIterator[Any]:
    """Its lines as they come. The SDK would read them in a thread, which no signal ends."""
    lines = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    try:
        yield lines
    finally:
        pipe.close()
