"""Search queries for a topic: exactly as many as asked for, all different, or an error."""

from __future__ import annotations

from dataclasses import dataclass

from chassis.auth import Caller
from chassis.errors import InvalidInput
from chassis.limits.size import check_text
from services.answer.answers import Metadata
from services.answer.category_hints import Hints, hints_for
from services.answer.context import enclose
from services.answer.contracts import queries
from services.answer.contracts.completion import Completer
from services.answer.legible import legible
from services.answer.records.tasks import Tasks
from services.answer.records.tracking import TaskName
from services.answer.records.usage import StageUsage

DEFAULT_COUNT = 10
MAX_COUNT = 50
MAX_TOPIC_CHARACTERS = 1_000
MAX_LOCALITY_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class QueriesRequest:
    """What is asked for, see `clausegate.answer.v1.GenerateQueriesRequest`."""

    topic: str
    category: str = ""
    locality: str = ""
    count: int = DEFAULT_COUNT
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries, and what they took."""

    queries: tuple[str, ...]
    metadata: Metadata
    usage: tuple[StageUsage, ...]


class QueryGeneration:
    """Generates queries. Keeps nothing between them."""

    def __init__(self, completer: Completer, tasks: Tasks, hints: Hints) -> None:
        self._completer = completer
        self._tasks = tasks
        self._hints = hints

    async def generate(self, request: QueriesRequest, caller: Caller) -> Queries:
        """As many queries as asked for. Raises `InvalidInput`, and what `Completer.ask` raises."""
        async with self._tasks.open(
            TaskName.QUERIES, text=request.topic, caller=caller, max_cost_usd=request.max_cost_usd
        ) as task:
            _check(request)
            hints = hints_for(request.category, self._hints)
            kept = await self._completer.ask(
                queries.CONTRACT,
                queries.prompt(request.count, _about(request, task.clock.new_code()), hints),
                lambda reply: queries.broken_rules(reply, request.count),
                task.ledger,
            )
            found = tuple(legible(query).strip() for query in kept.reply.queries)
            metadata = task.metadata(model=kept.model, prompt_version=queries.CONTRACT.version)
            await task.close(answer="\n".join(found))
            return Queries(found, metadata, task.ledger.stages)


def _check(request: QueriesRequest) -> None:
    check_text("topic", request.topic, MAX_TOPIC_CHARACTERS, required=True)
    check_text("locality", request.locality, MAX_LOCALITY_CHARACTERS, required=False)
    if not 1 <= request.count <= MAX_COUNT:
        raise InvalidInput(f"Must be 1 to {MAX_COUNT}.", field="count")


def _about(request: QueriesRequest, code: str) -> str:
    topic = enclose(f"{request.topic.strip()}\n", code, "topic")
    locality = request.locality.strip()
    return topic + (enclose(f"{locality}\n", code, "locality") if locality else "")
