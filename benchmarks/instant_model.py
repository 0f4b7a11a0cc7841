"""A model server that answers at once, for measuring what the product itself takes: `… instant_model`.

It grades every passage 3, quotes the first sentence of the first passage and says it again as its summary: it
reads nothing, and its answers measure no quality.
"""

from __future__ import annotations

import asyncio
import re

from tests.fakes.behaviours import Says, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.wire import Request

HANDLE = re.compile(r"^\[(c\d+[ab]?)\]$", re.MULTILINE)
FIRST_SENTENCE = re.compile(r"^\[c1\]\n\[Source: [^\n]*\n(.+?[.;:])\s", re.MULTILINE | re.DOTALL)
GRADES = '"grades"'
"""Stands in the prompt that asks for grades."""
KEPT_REQUESTS = 100


def respond(request: Request) -> Says:
    """The reply that the prompt's contract asks for."""
    if GRADES in request.system:
        handles = HANDLE.findall(request.prompt)
        return json_reply({"grades": [{"chunk": handle, "grade": 3} for handle in handles]})
    found = FIRST_SENTENCE.search(request.prompt)
    sentence = found[1] if found else ""
    quotes = [{"chunk": "c1", "quote": sentence}] if found else []
    summary = [{"text": sentence, "quotes": [1]}] if found else []
    return json_reply({"addressed": bool(found), "quotes": quotes, "summary": summary})


async def serve() -> None:
    """Say where it listens, and answer until the process is ended."""
    async with ModelServer() as server:

        def respond_and_forget(request: Request) -> Says:
            if len(server.requests) > KEPT_REQUESTS:
                server.forget()
            return respond(request)

        server.respond = respond_and_forget
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
