"""Which models are in force, where text goes for them, and what a thousand questions cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from inference.chat.model import TokenUsage
from inference.tokens import USUAL, TokenCounters
from services.answer.contracts.completion import TaskModel
from services.answer.corpus import Embedding
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy
from services.answer.records.usage import Price

MEASURED = {"grade": TokenUsage(5_373, 169), "answer": TokenUsage(2_059, 175)}
"""Tokens of a question by stage: the mean of 72 calls over the examples, their replies a large model's."""


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """See `clausegate.answer.v1.ModelPrice`."""

    input_usd: float
    output_usd: float


@dataclass(frozen=True, slots=True)
class ModelInForce:
    """See `clausegate.answer.v1.TaskModel`."""

    task: str
    model: str
    token_encoding: str
    price: ModelPrice | None


@dataclass(frozen=True, slots=True)
class ModelsInForce:
    """See `clausegate.answer.v1.DescribeModelsResponse`."""

    chat_host: str
    tasks: tuple[ModelInForce, ...]
    grader: str
    reader: str
    embedding_model: str
    embedding_dimension: int
    embedding_host: str
    token_encoding: str
    thousand_queries_usd: float | None


class Describing:
    """Tells the models in force."""

    def __init__(
        self,
        tasks: Mapping[str, TaskModel],
        chat_host: str,
        prices: Mapping[str, Price],
        counters: TokenCounters,
        policy: Policy,
        embedding: Callable[[], Awaitable[Embedding]],
    ) -> None:
        """`tasks` are the models by contract, none without a chat model, and `chat_host` where they are;
        `embedding` asks retrieval."""
        self._tasks = tasks
        self._chat_host = chat_host
        self._prices = prices
        self._counters = counters
        self._policy = policy
        self._embedding = embedding

    async def describe(self) -> ModelsInForce:
        """Raises what the call of retrieval does."""
        embedding = await self._embedding()
        return ModelsInForce(
            chat_host=self._chat_host,
            tasks=tuple(self._in_force(name, task.model) for name, task in self._tasks.items()),
            grader=self._grader(),
            reader=self._policy.reader,
            embedding_model=embedding.model,
            embedding_dimension=embedding.dimension,
            embedding_host=embedding.host,
            token_encoding=self._counters.by(USUAL).encoding,
            thousand_queries_usd=self._thousand_queries(),
        )

    def _in_force(self, task: str, model: str) -> ModelInForce:
        price = self._prices.get(model)
        return ModelInForce(
            task,
            model,
            self._counters.of(model).encoding,
            ModelPrice(price.input, price.output) if price else None,
        )

    def _grader(self) -> str:
        if self._asked_to_grade:
            return self._tasks["grade"].model
        return self._policy.reader or "local"

    @property
    def _asked_to_grade(self) -> bool:
        return bool(self._tasks) and self._policy.grading is not Grading.LOCAL

    def _thousand_queries(self) -> float | None:
        """None where it is not known: without a price, or where each candidate is graded by itself."""
        if not self._tasks:
            return 0.0
        if self._policy.grading is Grading.EACH:
            return None
        stages = ("grade", "answer") if self._asked_to_grade else ("answer",)
        prices = [self._prices.get(self._tasks[stage].model) for stage in stages]
        costs = [price.of(MEASURED[stage]) for stage, price in zip(stages, prices, strict=True) if price]
        return 1_000 * sum(costs) if len(costs) == len(stages) else None
