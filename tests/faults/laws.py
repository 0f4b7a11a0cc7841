"""What has to hold when everything is calm again."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

from clausegate import ClausegateError
from clausegate.corpus.v1.document_pb2 import Document as Listed
from services.answer.records.rotation import segments
from tests.e2e.processes import clausegate
from tests.faults.load import ABSENT, Users
from tests.faults.stack import Process, Stack
from tests.faults.truth import Document

MAX_MEMORY_BYTES = 700 << 20
MAX_FILES = 200
MAX_THREADS = 120
SPOOLED_SECONDS = 20.0


async def documents_are_what_was_acknowledged(users: Users) -> list[str]:
    """Each is there, whole, once, and answers; or it is gone, and stays so."""
    wrong = []
    listed = {document.document_id: document async for document in users.grpc.documents(deadline_seconds=60)}
    there = {each.document_id for each in users.library.documents if each.acknowledged is not None}
    if listed.keys() != there:
        wrong.append(
            f"listed but removed: {listed.keys() - there}; "
            f"acknowledged but not listed: {there - listed.keys()}"
        )
    for document in users.library.documents:
        text = document.acknowledged
        if text is None:
            wrong += await _is_gone(users, document.document_id)
            continue
        original = b"".join([part async for part in users.grpc.get_original(document.document_id)]).decode()
        if original != text:
            wrong.append(f"{document.document_id}: its original is not what was acknowledged")
        wrong += await _is_whole(users, document, listed.get(document.document_id))
        if why := await users.why_no_answer(document):
            wrong.append(f"{document.document_id} does not answer in calm: {why}")
    return wrong


async def _is_whole(users: Users, document: Document, found: Listed | None) -> list[str]:
    """Its chunks are as many as were acknowledged, and hold every word of it, in order."""
    chunks = [chunk async for chunk in users.grpc.chunks(document.document_id)]
    counts = {len(chunks), document.chunks, found.chunk_count if found else 0}
    if len(counts) != 1 or [chunk.ordinal for chunk in chunks] != list(range(len(chunks))):
        return [f"{document.document_id}: {counts} chunks, numbered {[chunk.ordinal for chunk in chunks]}"]
    text, at = document.acknowledged or "", 0
    for chunk in chunks:
        if text[chunk.span.start : chunk.span.end] != chunk.text or text[at : chunk.span.start].strip():
            return [f"{document.document_id}: chunk {chunk.ordinal} is not the slice that it says"]
        at = max(at, chunk.span.end)
    return [f"{document.document_id}: its end is in no chunk"] if text[at:].strip() else []


async def _is_gone(users: Users, document_id: str) -> list[str]:
    try:
        await users.grpc.get_document(document_id)
    except ClausegateError as error:
        return [] if error.reason in ABSENT else [f"{document_id}: {error}"]
    return [f"{document_id} was removed, and is there"]


def the_audit_log_is_whole(stack: Stack, answered: set[str]) -> list[str]:
    """Its chain verifies, and it holds a record of every answer that left."""
    logs = stack.processes["answer"].folder / "data" / "logs"
    verified = clausegate("audit", "verify", str(logs))
    wrong = [] if verified.returncode == 0 else [f"audit verify: {verified.stdout}{verified.stderr}"]
    recorded = {record["query_id"] for record in _records(logs)}
    missing = answered - recorded
    return [*wrong, *([f"{len(missing)} of {len(answered)} answers have no audit record"] if missing else [])]


def _records(logs: Path) -> Iterator[dict]:
    for file in segments(logs):
        for line in file.read_bytes().splitlines():
            yield json.loads(line)


async def nothing_is_left_over(stack: Stack) -> list[str]:
    """No temporary file stays, and no process has grown beyond bounds."""
    wrong = [f"{name}: {each}" for name, process in stack.processes.items() for each in _size(process)]
    spools = [
        stack.processes["ingest"].folder / "data" / "archive" / ".spool",
        stack.processes["gateway"].folder,
    ]
    for _ in range(int(SPOOLED_SECONDS)):
        left = [file for folder in spools if folder.is_dir() for file in folder.rglob("*") if file.is_file()]
        if not left:
            return wrong
        await asyncio.sleep(1)
    return [*wrong, f"temporary files are left: {left[:5]}"]


def _size(process: Process) -> Iterator[str]:
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
    )
    memory, threads = int(status["VmRSS"].split()[0]) * 1024, int(status["Threads"])
    files = len(os.listdir(f"/proc/{process.pid}/fd"))
    if memory > MAX_MEMORY_BYTES or threads > MAX_THREADS or files > MAX_FILES:
        yield f"{memory >> 20} MB, {threads} threads, {files} open files"


def sizes(stack: Stack) -> str:
    """What the processes take, on one line."""
    shown = []
    for name, process in stack.processes.items():
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = int(status.split("VmRSS:")[1].split()[0]) >> 10
        threads = status.split("Threads:")[1].split()[0]
        shown.append(
            f"{name} {memory} MB, {threads} threads, {len(os.listdir(f'/proc/{process.pid}/fd'))} files"
        )
    return "; ".join(shown)
