"""The faults, each with what it hurts and for how long, drawn by a seed."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.faults.load import Tally
from tests.faults.stack import PROCESSES, WIRES, Stack

MAX_FAULT_SECONDS = 8.0
"""Some outlast half a deadline, none a whole one."""
MAX_CALM_SECONDS = 3.0
DOUBLE = 0.25
"""Chance of a second fault at the same time."""
AFTERMATH_SECONDS = 3.0
"""For as long after a gateway is there again a connection to it may still be found broken."""


@dataclass(frozen=True)
class Fault:
    """One kind of harm to one part."""

    kind: str
    part: str
    """A process, or two with a wire between."""

    def __str__(self) -> str:
        return f"{self.kind} {self.part}"


def faults(disks: bool) -> list[Fault]:
    """Every fault there is; disks can be filled only where each process has one of its own."""
    of_processes = ["killed", "paused", *(["disk full"] if disks else [])]
    of_wires = ["refused", "reset", "silent", "half open"]
    return [
        *(Fault(kind, process) for kind in of_processes for process in PROCESSES),
        *(Fault(kind, f"{caller} → {called}") for kind in of_wires for caller, called in WIRES),
    ]


@dataclass
class Injector:
    """Hurts the stack, one fault after the other, and waits for it to recover by itself."""

    stack: Stack
    tally: Tally
    chance: random.Random
    survived: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "none")
    _gateway_hurt: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tally.excused = self._excused

    def plan(self) -> Iterator[list[Fault]]:
        """All faults in a random order, again and again; some with another part hurt at the same time."""
        while True:
            known = faults(self.stack.disks)
            self.chance.shuffle(known)
            for fault in known:
                others = [other for other in known if other.part != fault.part]
                yield [fault, *([self.chance.choice(others)] if self.chance.random() < DOUBLE else [])]

    async def inject(self, together: list[Fault]) -> None:
        """Hurt, heal, and wait until all is ready. Raises `AssertionError` when it never is."""
        said = " and ".join(map(str, together))
        async with self._noted(together):
            await asyncio.gather(*map(self._hurt, together))
            took = await self.stack.ready()
        self.survived.update(fault.kind for fault in together)
        self.slowest = max(self.slowest, (took, said))
        print(f"{time.strftime('%H:%M:%S')} {said}; ready after {took:.1f} s", flush=True)
        await asyncio.sleep(self.chance.uniform(0, MAX_CALM_SECONDS))

    async def _hurt(self, fault: Fault) -> None:
        seconds = self.chance.uniform(0.2, MAX_FAULT_SECONDS)
        if fault.part in PROCESSES:
            await self._hurt_process(fault, seconds)
        else:
            await self._hurt_wire(fault, seconds)

    async def _hurt_process(self, fault: Fault, seconds: float) -> None:
        process = self.stack.processes[fault.part]
        if fault.kind == "killed":
            await asyncio.to_thread(process.kill)
            await asyncio.sleep(self.chance.uniform(0, 1))
            process.start()
        elif fault.kind == "paused":
            process.send(signal.SIGSTOP)
            await asyncio.sleep(seconds)
            process.send(signal.SIGCONT)
        else:
            await asyncio.to_thread(process.fill)
            await asyncio.sleep(seconds)
            process.free()

    async def _hurt_wire(self, fault: Fault, seconds: float) -> None:
        caller, _, called = fault.part.partition(" → ")
        wire = self.stack.wires[caller, called]
        if fault.kind == "reset":
            await wire.reset()
        elif fault.kind == "refused":
            await wire.cut()
            await asyncio.sleep(seconds)
            await wire.mend()
        else:
            (wire.hold if fault.kind == "silent" else wire.deafen)()
            await asyncio.sleep(seconds)
            wire.release()

    @asynccontextmanager
    async def _noted(self, together: list[Fault]) -> AsyncIterator[None]:
        """Calls of a gateway that is killed or paused may fail as calls of nobody do."""
        if not any(fault.part == "gateway" and fault.kind != "disk full" for fault in together):
            yield
            return
        times = [time.monotonic(), float("inf")]
        self._gateway_hurt.append(times)
        yield
        times[1] = time.monotonic() + AFTERMATH_SECONDS

    def _excused(self, since: float, until: float) -> bool:
        return any(begin <= until and end >= since for begin, end in self._gateway_hurt)
