"""A copy of the data folder, made while the product runs, answers like the original."""

import asyncio
import subprocess
import sys

import clausegate
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome
from services.answer.records.lines import Keys
from services.answer.records.verification import verify
from tests.e2e.corpus import long_text
from tests.e2e.processes import ROOT, embedded_stack


async def back_up(data, folder):
    command = [sys.executable, ROOT / "deploy/backup.py", data, folder]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)


async def test_backup_of_a_running_stack_answers_and_knows_its_files(tmp_path, socket_dirs, free_port):
    text = long_text(4, "amber").encode()
    with embedded_stack(tmp_path / "data", socket_dirs(), free_port()) as stack:
        async with clausegate.connect(stack.grpc) as client:
            await client.ingest(text, source="kept", path="long.txt")
            await client.query("What is the remark of this version?")
            copied = await back_up(tmp_path / "data", tmp_path / "copy")
            await client.remove_document("kept/long.txt")

    with embedded_stack(tmp_path / "copy", socket_dirs(), free_port()) as stack:
        async with clausegate.connect(stack.grpc) as client:
            answer = (await client.query("What is the remark of this version?", gate=False)).answer
            again = await client.ingest(text, source="kept", path="long.txt")

    assert copied.returncode == 0, copied.stderr
    assert verify([tmp_path / "copy"], Keys()).whole
    assert "amber" in answer
    assert again.outcome == IngestOutcome.INGEST_OUTCOME_UNCHANGED


async def test_backup_never_writes_over_another(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "copy").mkdir()

    copied = await back_up(tmp_path / "data", tmp_path / "copy")

    assert copied.returncode == 1
    assert "exists" in copied.stderr
