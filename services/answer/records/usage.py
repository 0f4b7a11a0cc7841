"""Counts what models cost, and stops a call that could cost more than is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import BaseModel, ConfigDict, Field

from chassis.errors import Precondition
from inference.chat.model import TokenUsage

MILLION = 1_000_000


class BudgetExceeded(Precondition):
    """The next call could cost more than the caller allows."""

    reason = "BUDGET_EXCEEDED"


class Price(BaseModel):
    """What a model costs; part of the settings."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    input: float = Field(ge=0, description="US dollars for a million tokens sent.")
    output: float = Field(ge=0, description="US dollars for a million tokens received.")

    def of(self, usage: TokenUsage) -> float:
        """US dollars."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class StageUsage:
    """Tokens and cost of one stage with one model, see `clausegate.answer.v1.StageUsage`."""

    stage: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    priced: bool = False
    calls: int = 0
    repairs: int = 0


@dataclass(slots=True)
class Ledger:
    """What one request has spent on models, by stage, and what it may spend yet."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost_usd: float | None = None
    """None means no limit."""
    _stages: dict[tuple[str, str], StageUsage] = field(default_factory=dict)
    _running_usd: float = 0.0
    """The most that calls which have not returned could cost."""

    @property
    def stages(self) -> tuple[StageUsage, ...]:
        """What each stage and model took, in the order of their first replies."""
        return tuple(self._stages.values())

    @property
    def limited(self) -> bool:
        """Whether calls are held to a limit, so that `reserve` has to know what they may take."""
        return self.max_cost_usd is not None

    @property
    def cost_usd(self) -> float:
        """What all replies cost, as far as the models have prices."""
        return sum(stage.cost_usd for stage in self.stages)

    @property
    def tokens(self) -> TokenUsage:
        """The tokens of all replies."""
        stages = self.stages
        return TokenUsage(
            sum(stage.prompt_tokens for stage in stages), sum(stage.completion_tokens for stage in stages)
        )

    def most(self, model: str, usage: TokenUsage) -> float:
        """What a call may cost at most, in US dollars; 0 for a model without a price."""
        price = self.prices.get(model)
        return price.of(usage) if price else 0.0

    def reserve(self, model: str, usage: TokenUsage) -> float:
        """Set aside what a call may cost at most. Raises `BudgetExceeded` when that is more than is left."""
        most = self.most(model, usage)
        if self.max_cost_usd is not None:
            self._check(model, most, self.max_cost_usd - self.cost_usd - self._running_usd)
        self._running_usd += most
        return most

    def release(self, reserved_usd: float) -> None:
        """Take back what was set aside, when the call has ended."""
        self._running_usd -= reserved_usd

    def record(self, stage: str, model: str, usage: TokenUsage, *, repair: bool) -> float:
        """Count a reply; what it cost in US dollars, 0 for a model without a price."""
        cost = self.most(model, usage)
        before = self._stages.get((stage, model), StageUsage(stage, model, priced=model in self.prices))
        self._stages[stage, model] = replace(
            before,
            prompt_tokens=before.prompt_tokens + usage.prompt_tokens,
            completion_tokens=before.completion_tokens + usage.completion_tokens,
            cost_usd=before.cost_usd + cost,
            calls=before.calls + 1,
            repairs=before.repairs + repair,
        )
        return cost

    def _check(self, model: str, most: float, left: float) -> None:
        if model not in self.prices:
            message = f"max_cost_usd needs a price for {model}: set CLAUSEGATE_PRICES."
            raise BudgetExceeded(message, field="max_cost_usd")
        if most > left:
            message = f"The next call of {model} may cost {most:.6f} dollars; {max(0.0, left):.6f} are left."
            raise BudgetExceeded(message, field="max_cost_usd")
