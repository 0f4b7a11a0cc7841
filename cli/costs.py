"""What models cost, in words, and what a reader should know of how they did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from clausegate.answer.v1.answer_pb2 import DryRun, Metadata, StageUsage
from cli.output import counted
from cli.tables import print_table


def cost(usage: Sequence[StageUsage]) -> str:
    """Calls, tokens and dollars of all stages; empty when no model was called."""
    if not usage:
        return ""
    calls, sent = sum(stage.calls for stage in usage), sum(stage.prompt_tokens for stage in usage)
    received = sum(stage.completion_tokens for stage in usage)
    return f"{counted(calls, 'call')}, {sent:,} tokens sent, {received:,} received, {_dollars(usage)}"


def _dollars(usage: Sequence[StageUsage]) -> str:
    unpriced = sorted({stage.model for stage in usage if not stage.priced})
    known = dollars(sum(stage.cost_usd for stage in usage))
    if not unpriced:
        return known
    missing = f"no price for {', '.join(unpriced)}"
    return missing if not any(stage.priced for stage in usage) else f"{known} and {missing}"


def dollars(amount: float) -> str:
    """Four decimals: most questions cost less than a cent."""
    return f"${amount:,.4f}"


def footer(metadata: Metadata, usage: Sequence[StageUsage]) -> str:
    """Who did it, at what cost, and how long it took."""
    return " · ".join(part for part in (metadata.model, cost(usage), latency(metadata)) if part)


def latency(metadata: Metadata) -> str:
    """Milliseconds from the call to the finished answer."""
    return f"{metadata.latency.ToTimedelta().total_seconds() * 1000:,.0f} ms"


def model_notes(metadata: Metadata) -> Iterator[str]:
    """What went wrong with a model without making the answer fail."""
    if metadata.grading_failure:
        yield f"the model's grading failed ({metadata.grading_failure}); clauses were graded locally"
    if metadata.dropped_statements:
        quotes = counted(metadata.dropped_statements, "quote")
        yield f"{quotes} of the model left out: not in the documents, or a heading"
    if metadata.dropped_summary_sentences:
        sentences = counted(metadata.dropped_summary_sentences, "sentence")
        yield f"{sentences} of the model's summary left out: the quotes do not carry what was said"


def print_dry_run(console: Console, dry_run: DryRun) -> None:
    """What would be sent to models, one line a stage, and the sum."""
    rows = (
        (
            stage.stage,
            stage.model,
            f"{stage.prompt_tokens:,}",
            f"{stage.max_completion_tokens:,}",
            dollars(stage.max_cost_usd) if stage.priced else "no price",
        )
        for stage in dry_run.stages
    )
    if dry_run.stages:
        print_table(console, ("Stage", "Model", "Tokens sent#", "Received at most#", "Cost at most#"), rows)
        console.print(f"at most {dollars(dry_run.max_cost_usd)}; nothing was sent", markup=False)
    else:
        console.print("no model is configured: nothing would be sent", markup=False)
