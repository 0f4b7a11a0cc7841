"""Puts an index of another embedding model in place of the old one: `python -m services.retrieval.reindex`.

The settings are those of a retrieval process of the new model. Interrupted and started again, it goes on.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from chassis.errors import CannotStart
from chassis.process import CANNOT_START
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from services.retrieval.reindexing import Progress, Summary, reindex
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import changeover

DROP_OLD = "--drop-old"
SECONDS_A_LINE = 5.0

Say = Callable[[str], None]


class StillCurrent(CannotStart):
    """What is to be dropped is the index that searches see."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to."""

    model: str
    """Embedding model of the index as it is now."""
    replaced: Sequence[str] = ()
    """Models whose index was replaced; empty when there was nothing to do."""
    dropped: Sequence[str] = ()
    """What was deleted for good."""
    summary: Summary = field(default_factory=Summary)
    seconds: float = 0.0

    def __str__(self) -> str:
        """A line for people."""
        if self.dropped:
            return f"dropped {', '.join(self.dropped)}"
        if not self.replaced:
            return f"nothing to do: there is no index but that of {self.model}"
        done = self.summary
        return (
            f"the index is that of {self.model} now, and no longer that of {', '.join(self.replaced)}: "
            f"{done.documents:,} documents with {done.chunks:,} chunks copied, {done.removed:,} removed, "
            f"{done.tenants:,} tenants, {done.rounds:,} rounds, {self.seconds:,.1f} s"
        )

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return asdict(self)


async def run(settings: RetrievalSettings, *, drop_old: bool, say: Say) -> Outcome:
    """Change over to the settings' model, or drop what changes have left behind.

    Raises `StillCurrent` when there is something to drop and to change over, and what `reindex` raises.
    """
    began = time.monotonic()
    async with changeover(settings) as (opened, model):
        name = f"{model.name} ({model.dimension} dimensions)"
        replaced = await opened.open()
        if drop_old and replaced:
            raise StillCurrent(f"The index of now is that of {', '.join(replaced)}: nothing can be dropped.")
        if drop_old:
            return Outcome(name, dropped=await opened.drop_replaced())
        if not replaced:
            return Outcome(name)
        say(f"filling an index of {name} from that of {', '.join(replaced)}")
        summary = await reindex(opened, model, Lines(say, time.monotonic).report)
        return Outcome(name, replaced, summary=summary, seconds=time.monotonic() - began)


class Lines:
    """Says how far a run has come, at most one line every few seconds."""

    def __init__(self, say: Say, clock: Callable[[], float]) -> None:
        self._say = say
        self._clock = clock
        self._last = clock()

    def report(self, tenant: str, progress: Progress) -> None:
        """To be called after every document."""
        if self._clock() - self._last >= SECONDS_A_LINE:
            self._last = self._clock()
            self._say(
                f"{tenant}: {progress.done:,} of {progress.total:,} documents, "
                f"{progress.chunks:,} chunks copied so far"
            )


def main(arguments: Sequence[str]) -> None:
    """Read the settings and run; what keeps it from its end is one line."""
    if set(arguments) - {DROP_OLD}:
        sys.exit(f"usage: python -m services.retrieval.reindex [{DROP_OLD}]")
    with telemetry("retrieval-reindex"):
        try:
            work = run(RetrievalSettings(), drop_old=DROP_OLD in arguments, say=_print)
            _print(str(asyncio.run(work)))
        except CANNOT_START as error:
            sys.exit(f"error: {error}")
        except SETTINGS_ERRORS as error:
            sys.exit(f"error: {settings_problem(error)}")


def _print(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
