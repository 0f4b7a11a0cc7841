"""One run: a stack under load is hurt for a while, then everything that was promised is looked at."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults import laws
from tests.faults.injecting import Injector
from tests.faults.load import DEADLINE_SECONDS, MARGIN_SECONDS, Tally, Users
from tests.faults.stack import Stack, stack
from tests.faults.truth import Library

DOCUMENTS = 36
WRITERS = 3
READERS = 4


@dataclass(frozen=True)
class Report:
    """What a run has found."""

    violations: list[str]
    text: str
    """For people."""


async def run(folder: Path, *, seconds: float, seed: int) -> Report:
    """Hurt the stack for as long, at least once, each fault drawn by `seed`."""
    began, tally, library = time.monotonic(), Tally(), Library(seed, DOCUMENTS)
    async with stack(folder) as hurt:
        patience = DEADLINE_SECONDS + MARGIN_SECONDS
        async with hurt.http(patience) as http, hurt.grpc() as grpc:
            users = Users(hurt, library, tally, http, grpc)
            injector = Injector(hurt, tally, random.Random(seed))
            async with asyncio.TaskGroup() as using:
                for number in range(WRITERS):
                    using.create_task(users.write(library.documents[number::WRITERS], seed + number))
                for number in range(READERS):
                    using.create_task(users.read(seed + 100 + number))
                await _injected(injector, began + seconds)
                users.stop.set()
            tally.violations += await laws.documents_are_what_was_acknowledged(users)
        tally.violations += await laws.nothing_is_left_over(hurt)
        sizes = laws.sizes(hurt)
        for process in reversed(hurt.processes.values()):
            await asyncio.to_thread(process.stop)
        tally.violations += laws.the_audit_log_is_whole(hurt, tally.answered)
        tally.violations += _ends(hurt)
    return Report(tally.violations, _text(injector, tally, sizes, time.monotonic() - began, seed))


async def _injected(injector: Injector, until: float) -> None:
    await asyncio.sleep(1)
    for together in injector.plan():
        await injector.inject(together)
        if time.monotonic() >= until:
            return


def _ends(hurt: Stack) -> list[str]:
    left = hurt.orphans()
    ends = [end for process in hurt.processes.values() for end in process.ends]
    return [*ends, *([f"processes are left: {left}"] if left else [])]


def _text(injector: Injector, tally: Tally, sizes: str, seconds: float, seed: int) -> str:
    survived = ", ".join(f"{count} {kind}" for kind, count in injector.survived.most_common())
    calls = ", ".join(f"{count} {call}" for call, count in tally.calls.most_common())
    failures = ", ".join(f"{count} {reason}" for reason, count in tally.failures.most_common())
    lines = [
        f"seed {seed}, {seconds:.0f} s: {injector.survived.total()} faults survived: {survived}",
        f"{tally.calls.total()} calls: {calls}",
        f"{tally.failures.total()} failed: {failures}",
        f"{len(tally.answered)} answers, each in the audit log; slowest to be ready again: "
        f"{injector.slowest[0]:.1f} s after {injector.slowest[1]}",
        f"at the end {sizes}",
        *(["disks were not filled: mounting one takes root"] if not injector.stack.disks else []),
        *(f"VIOLATION {each}" for each in tally.violations),
    ]
    return "\n".join(lines)
