"""Plays recorded replies of a real language model back to the product, and looks at what leaves it.

See `recorded` for what a reply to an old prompt still tells. The product asks a server of ours on this
machine, which answers every question with the recorded reply to it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clausegate import ClausegateError, Client
from clausegate.answer.v1.answer_pb2 import Outcome
from clausegate.answer.v1.grounding_service_pb2 import TextState
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from evals.corpora import EXAMPLES, tree_files
from evals.metrics import mean
from evals.recorded import (
    Recorded,
    Stage,
    answer_to,
    passages_of,
    recorded_replies,
    stage_of,
    words_of,
)
from evals.reports import Report
from evals.stack import fill, running_stack

FILE = Path("model_replies") / "replies.jsonl"
"""Below the folder of evaluation data."""
KEY = "sk-recorded"


@dataclass(slots=True)
class Player:
    """A chat server that knows what was recorded, and nothing else."""

    replies: Mapping[tuple[Stage, str], Recorded]
    question: str = ""
    """What is being asked. A prompt may hold less of it: a document is asked without its name."""
    shown: dict[Stage, str] = field(default_factory=dict)
    """What the product has shown for it."""

    def ask(self, question: str) -> None:
        """The next question."""
        self.question, self.shown = question, {}

    async def complete(self, request: Request) -> JSONResponse:
        """The recorded reply to a chat completion request; what nobody recorded is not found."""
        system, prompt = (message["content"] for message in (await request.json())["messages"][:2])
        stage, shown = stage_of(system), passages_of(prompt)
        if (stage, self.question) not in self.replies:
            return JSONResponse({"error": {"message": "nothing is recorded for this question"}}, 404)
        self.shown[stage] = " ".join([self.shown.get(stage, ""), *map(words_of, shown.values())])
        answer = self.replies.get((Stage.ANSWER, self.question))
        said = answer_to(self.replies[stage, self.question], shown, answer.quotes if answer else ())
        message = {"role": "assistant", "content": said}
        return JSONResponse(
            {
                "id": "recorded",
                "object": "chat.completion",
                "created": 0,
                "model": "recorded",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        )


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a recorded reply."""

    recorded: Recorded
    shown: str
    """What the product showed for it; empty when it asked for no such reply."""
    failed: bool = False
    declined: bool = False
    """Refused, headed as only related, or without snippets."""
    refused: bool = False
    dropped: int = 0
    cited: tuple[str, ...] = ()
    verbatim: tuple[bool, ...] = ()
    """Whether each citation stands in the index."""


async def measure(folder: Path, data: Path, concurrency: int) -> Report:
    """What of the recorded replies is understood, and what leaves."""
    recorded = recorded_replies(data / FILE)
    player = Player({(one.stage, one.question): one for one in recorded})
    async with _serving(player) as address:
        settings = [
            f"OPENAI_BASE_URL={address}",
            f"OPENAI_API_KEY={KEY}",
            "CLAUSEGATE_SNIPPETS_CACHE_SECONDS=0",
        ]
        async with running_stack(folder, settings) as client:
            await fill(client, tree_files(EXAMPLES), concurrency)
            played = [await _play(client, player, one) for one in _last_stages(recorded)]
    return Report(
        name="replies",
        title="Replies of a real model, played back",
        questions=len(recorded),
        figures=_figures(recorded, played),
        marks=(),
        by="recorded prompts and replies",
        of="replies",
    )


def _last_stages(recorded: Sequence[Recorded]) -> Iterator[Recorded]:
    """For each question the reply that decides: the answer, or the grades where no answer was asked for."""
    answered = {one.question for one in recorded if one.stage is Stage.ANSWER}
    return (one for one in recorded if one.stage is not Stage.GRADE or one.question not in answered)


def _figures(recorded: Sequence[Recorded], played: Sequence[Played]) -> Mapping[str, float]:
    quotes = [(one, quote) for one in recorded for quote in one.quotes]
    found = [one for one in played if one.recorded.finds_something and one.recorded.stage is not Stage.GRADE]
    nothing = [one for one in played if one not in found]
    shown = [
        words_of(quote.text) in one.shown for one in played if one.shown for quote in one.recorded.quotes
    ]
    return {
        "raw verbatim": mean(one.is_verbatim(quote) for one, quote in quotes),
        "shown today": mean(shown),
        "failed": mean(one.failed for one in played),
        "dropped": sum(one.dropped for one in played),
        "delivered verbatim": mean(stands for one in played for stands in one.verbatim),
        "quotes delivered": mean(_delivered(one) for one in found),
        "false refusals": mean(one.refused for one in found),
        "near misses declined": mean(one.declined for one in nothing),
    }


def _delivered(played: Played) -> float:
    """Share of the recorded quotes whose words were delivered."""
    said = [words_of(text) for text in played.cited]
    return mean(any(words_of(quote.text) in text for text in said) for quote in played.recorded.quotes)


async def _play(client: Client, player: Player, recorded: Recorded) -> Played:
    player.ask(recorded.question)
    try:
        if recorded.stage is Stage.SNIPPETS:
            return await _play_snippets(client, player, recorded)
        response = await client.query(recorded.question)
    except ClausegateError:
        return Played(recorded, _shown(player, recorded), failed=True)
    return Played(
        recorded,
        _shown(player, recorded),
        declined=response.outcome != Outcome.OUTCOME_ANSWERED,
        refused=response.HasField("refusal"),
        dropped=response.metadata.dropped_statements,
        cited=tuple(citation.quote for citation in response.citations),
        verbatim=await _stand(client, _of_statements(response)),
    )


async def _play_snippets(client: Client, player: Player, recorded: Recorded) -> Played:
    async for event in client.snippets(recorded.question):
        last = event
    done = last.done
    return Played(
        recorded,
        _shown(player, recorded),
        declined=done.no_results,
        refused=done.no_results,
        dropped=done.dropped_snippets,
        cited=tuple(snippet.citation.quote for snippet in done.snippets),
        verbatim=await _stand(client, [snippet.citation for snippet in done.snippets]),
    )


def _shown(player: Player, recorded: Recorded) -> str:
    return player.shown.get(recorded.stage, "")


def _of_statements(response: QueryResponse) -> list[Citation]:
    numbers = {number for statement in response.statements for number in statement.citation_numbers}
    return [citation for citation in response.citations if citation.number in numbers]


async def _stand(client: Client, citations: Sequence[Citation]) -> tuple[bool, ...]:
    """Whether the words of each citation stand in the index."""
    found = [await client.verify_citation(citation) for citation in citations]
    return tuple(one.text == TextState.TEXT_STATE_PRESENT for one in found)


@asynccontextmanager
async def _serving(player: Player) -> AsyncIterator[str]:
    """The address of a server on this machine, until the context ends."""
    app = Starlette(routes=[Route("/v1/chat/completions", player.complete, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            await serving
