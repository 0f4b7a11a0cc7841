"""The four processes of the product, with wires between them, each on a disk of its own that can be full."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx

import clausegate
from chassis.access import Scope
from chassis.api_keys import new_key, to_json
from chassis.auth import Caller
from tests.contract.wires import Wire
from tests.e2e.processes import ROOT, environment
from tests.ports import free_port

PROCESSES = ("retrieval", "ingest", "answer", "gateway")
WIRES = (
    ("ingest", "retrieval"),
    ("answer", "retrieval"),
    ("gateway", "retrieval"),
    ("gateway", "ingest"),
    ("gateway", "answer"),
)
DISK_BYTES = {"retrieval": 128 << 20, "ingest": 32 << 20, "answer": 32 << 20, "gateway": 16 << 20}
READY_SECONDS = 60.0


@dataclass
class Process:
    """One process of the product, started again after each of its ends."""

    name: str
    settings: dict[str, str]
    folder: Path
    """Its disk: data and temporary files."""
    log: Path
    running: subprocess.Popen[bytes] | None = None
    ends: list[str] = field(default_factory=list)
    """Ends that nobody asked for."""

    @property
    def pid(self) -> int:
        assert self.running
        return self.running.pid

    def start(self) -> None:
        module = self.name if self.name == "gateway" else f"services.{self.name}"
        with self.log.open("ab") as output:
            self.running = subprocess.Popen(
                [sys.executable, "-m", module],
                cwd=ROOT,
                env=environment({"TMPDIR": str(self.folder), **self.settings}),
                stdout=output,
                stderr=output,
            )

    def kill(self) -> None:
        assert self.running
        self.running.kill()
        self.running.wait()

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def revive(self) -> None:
        """Start it again when it has ended by itself, which is noted."""
        if self.running and self.running.poll() is not None:
            self.ends.append(f"{self.name} ended by itself with {self.running.returncode}")
            self.start()

    def stop(self) -> None:
        if not self.running or self.running.poll() is not None:
            return
        self.send(signal.SIGCONT)
        self.running.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.running.wait(20)
            return
        self.running.kill()
        self.running.wait()
        self.ends.append(f"{self.name} did not stop when asked to")

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Leave no byte free on its disk."""
        with self.ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        file.write(b"\0" * size)

    def free(self) -> None:
        self.ballast.unlink(missing_ok=True)


@dataclass
class Stack:
    """Everything that runs."""

    processes: dict[str, Process]
    wires: dict[tuple[str, str], Wire]
    disks: bool
    """Whether each process has a disk of its own."""
    url: str
    addresses: clausegate.Addresses
    key: str

    def http(self, seconds: float) -> httpx.AsyncClient:
        """A client of the gateway."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=seconds, trust_env=False)

    def grpc(self) -> clausegate.Client:
        """A client of the services, past the gateway and the wires."""
        return clausegate.connect(self.addresses, credential=self.key)

    async def ready(self) -> float:
        """Seconds until all services serve, through the gateway; processes that ended are started again."""
        began = time.monotonic()
        async with self.http(3) as http:
            while time.monotonic() - began < READY_SECONDS:
                for process in self.processes.values():
                    process.revive()
                with suppress(httpx.TransportError):
                    if (await http.get("/readyz")).status_code == 200:
                        return time.monotonic() - began
                await asyncio.sleep(0.05)
        raise AssertionError(f"not ready within {READY_SECONDS} s after a fault")

    def orphans(self) -> list[int]:
        """Processes that still work on our folders though all of ours have ended."""
        folders = [str(process.folder).encode() for process in self.processes.values()]
        return [pid for pid, own in _environments() if any(b"=" + folder in own for folder in folders)]


def _environments() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                yield int(entry.name), (entry / "environ").read_bytes()


@asynccontextmanager
async def stack(folder: Path) -> AsyncIterator[Stack]:
    """Run it; it is ready when this yields. Disks of their own take the right to mount."""
    key, secret = new_key(
        Caller("acme", "load", scopes=frozenset({Scope.QUERY, Scope.INGEST})), datetime.now(UTC)
    )
    keys = folder / "keys.json"
    keys.write_text(to_json([key]))
    listening = {name: free_port() for name in PROCESSES}
    async with AsyncExitStack() as running:
        disks = running.enter_context(_disks(folder))
        wires = {pair: await running.enter_async_context(Wire(listening[pair[1]])) for pair in WIRES}
        processes = {}
        for name in PROCESSES:
            settings = {f"CLAUSEGATE_{name.upper()}_ADDRESS": f"127.0.0.1:{listening[name]}"}
            for (caller, called), wire in wires.items():
                if caller == name:
                    settings[f"CLAUSEGATE_{called.upper()}_ADDRESS"] = f"127.0.0.1:{wire.port}"
            settings |= {
                "CLAUSEGATE_API_KEYS_FILE": str(keys),
                "CLAUSEGATE_DATA_DIR": str(folder / name / "data"),
            }
            processes[name] = Process(name, settings, folder / name, folder / f"{name}.log")
        addresses = clausegate.Addresses(
            *(f"127.0.0.1:{listening[name]}" for name in ("ingest", "retrieval", "answer"))
        )
        found = Stack(processes, wires, disks, f"http://127.0.0.1:{listening['gateway']}", addresses, secret)
        for process in processes.values():
            running.callback(process.stop)
            process.start()
        await found.ready()
        yield found


@contextmanager
def _disks(folder: Path) -> Iterator[bool]:
    mounted = []
    for name, size in DISK_BYTES.items():
        (folder / name).mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder / name)]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            mounted.append(folder / name)
    try:
        yield len(mounted) == len(DISK_BYTES)
    finally:
        for each in mounted:
            subprocess.run(["umount", "--lazy", str(each)], check=False)
