"""A model server that answers at once, for measuring what the product itself takes: `… instant_model`.

It grades every passage 3, quotes the first sentence that is no heading and says it again as its summary: it
reads nothing, and its answers measure no quality.
"""

from __future__ import annotations

import asyncio
import re

from tests.fakes.behaviours import Says, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.wire import Request

HANDLE = re.compile(r"^\[(c\d+[ab]?)\]$", re.MULTILINE)
PASSAGE = re.compile(r"^\[(c\d+)\]\n(?:\[[^\n]*\n)*(.*?)(?=^---$|\Z)", re.MULTILINE | re.DOTALL)
"""Handle and text of a passage, without the lines above it that say where it is from and what governs it."""
SENTENCE = re.compile(r"[A-Z][^|\[\]]{60,400}?[.;](?=\s)")
"""Words that are too many for a heading, to the end of their sentence."""
GRADES = '"grades"'
"""Stands in the prompt that asks for grades."""
KEPT_REQUESTS = 100


def respond(request: Request) -> Says:
    """The reply that the prompt's contract asks for."""
    if GRADES in request.system:
        handles = HANDLE.findall(request.prompt)
        return json_reply({"grades": [{"chunk": handle, "grade": 3} for handle in handles]})
    said = ((handle, SENTENCE.search(text)) for handle, text in PASSAGE.findall(request.prompt))
    quotes = [{"chunk": handle, "quote": found[0]} for handle, found in said if found][:1]
    summary = [{"text": quote["quote"], "quotes": [1]} for quote in quotes]
    return json_reply({"addressed": bool(quotes), "quotes": quotes, "summary": summary})


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
