"""How things end when they are asked to: an operator's SIGTERM drains, a user's Ctrl-C cancels downstream."""

import asyncio
import signal
import subprocess
import sys
from functools import partial

import pytest

import clausegate as public
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome
from tests.e2e.corpus import long_text
from tests.e2e.processes import ROOT, STOP_SECONDS, clausegate, embedded_stack, environment, wait_until

CLAUSES = 25


@pytest.fixture
def own(tmp_path, socket_dirs, free_port):
    seconds = {"CLAUSEGATE_DRAIN_SECONDS": f"{STOP_SECONDS:g}"}
    with embedded_stack(tmp_path / "data", socket_dirs(), free_port(), **seconds) as stack:
        yield stack


async def test_a_stop_lets_a_running_upload_end_and_then_ends_the_process(own):
    stopped = []

    def stop_once(progress):
        if not stopped:
            stopped.append(progress)
            own.process.send_signal(signal.SIGTERM)

    async with public.connect(own.grpc) as client:
        receipt = await client.ingest(
            long_text(5, "amber").encode(), source="drain", path="notice.txt", progress=stop_once
        )
        code = await asyncio.to_thread(own.process.wait, 2 * STOP_SECONDS)

    assert stopped
    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_CREATED
    assert code == 0
    assert "Traceback" not in own.log.read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_an_interrupted_upload_is_cancelled_downstream(own, tmp_path, number):
    folder = tmp_path / "files" / "slow"
    folder.mkdir(parents=True)
    (folder / "long.txt").write_text(long_text(CLAUSES * 8, "amber"))
    command = [sys.executable, "-m", "cli", "ingest", str(folder.parent), "--server", own.grpc]
    spool = own.log.with_name("data") / "archive" / ".spool"

    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment({}),
        stderr=subprocess.PIPE,
        text=True,
        # What a shell runs in the background, these tests perhaps, ignores SIGINT, and so would the command.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        wait_until(lambda: spool.is_dir() and any(spool.iterdir()), STOP_SECONDS)
        process.send_signal(number)
        _, errors = process.communicate(timeout=STOP_SECONDS)
    (folder / "long.txt").write_text(long_text(1, "cobalt"))
    repeated = clausegate("ingest", str(folder.parent), "--server", own.grpc)

    assert process.returncode == 130
    assert errors == "note: interrupted: 0 of 1 document stored; the same command goes on from there\n"
    assert repeated.returncode == 0
    assert "CREATED\tslow/long.txt" in repeated.stdout
