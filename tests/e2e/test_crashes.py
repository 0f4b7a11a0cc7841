"""A stack killed with -9 at any moment of an ingestion: the old version answers, a repeat completes."""

import asyncio
import random

import pytest

import clausegate
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome
from tests.e2e.corpus import long_text
from tests.e2e.processes import STOP_SECONDS, embedded_stack

QUESTION = "What is the remark of this version?"
KILLS = 20
CLAUSES = 16


async def ingest(client, remark, progress=None):
    content = long_text(CLAUSES, remark).encode()
    return await client.ingest(content, source="crash", path="long.txt", progress=progress)


async def killed_while_ingesting(stack, remark, after):
    """Kill the stack when it reports that `after` elements are read, or chunks stored."""

    def kill_in_time(progress):
        if progress.done >= after:
            stack.process.kill()

    async with clausegate.connect(stack.grpc) as client:
        with pytest.raises(clausegate.ClausegateError) as failure:
            await ingest(client, remark, kill_in_time)
    await asyncio.to_thread(stack.process.wait, STOP_SECONDS)
    assert failure.value.code in ("UNAVAILABLE", "CANCELLED")


async def answered(stack):
    async with clausegate.connect(stack.grpc) as client:
        return (await client.query(QUESTION, gate=False)).answer


@pytest.mark.soak
async def test_a_stack_killed_during_ingestion_recovers(tmp_path, socket_dirs, free_port):
    data, sockets, port, chance = tmp_path / "data", socket_dirs(), free_port(), random.Random(KILLS)
    with embedded_stack(data, sockets, port) as stack:
        async with clausegate.connect(stack.grpc) as client:
            await ingest(client, "amber")
        await killed_while_ingesting(stack, "cobalt", chance.randrange(1, 12))
    for _ in range(1, KILLS):
        with embedded_stack(data, sockets, port) as stack:
            await killed_while_ingesting(stack, "cobalt", chance.randrange(1, 12))

    with embedded_stack(data, sockets, port) as stack:
        before = await answered(stack)
        async with clausegate.connect(stack.grpc) as client:
            receipt = await ingest(client, "cobalt")
            repeated = await ingest(client, "cobalt")
            documents = [document async for document in client.documents()]
        after = await answered(stack)

    assert "amber" in before
    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_UPDATED
    assert repeated.outcome == IngestOutcome.INGEST_OUTCOME_UNCHANGED
    assert [document.chunk_count for document in documents] == [receipt.document.chunk_count]
    assert "cobalt" in after
