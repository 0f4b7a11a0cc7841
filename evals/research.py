"""Measures research snippets: what the model said before anything was checked, and what was delivered.

Raw rates come from the product's own recording of model calls, and from asking with `FLAG`, which delivers
unverified snippets as such. What was delivered is compared with the chunks that the index holds, anew.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from clausegate import ClausegateError, Client
from clausegate.answer.v1.research_service_pb2 import UNVERIFIED_SNIPPETS_FLAG, Snippet, SnippetsDone
from clausegate.corpus.v1.chunk_pb2 import Chunk
from evals.asking import NO_MODEL, cost_of
from evals.corpora import EXAMPLES, Kind, ResearchQuestion, tree_files, unruled
from evals.experiments import COST
from evals.metrics import mean
from evals.reference import RESEARCH_TARGET
from evals.reports import Report
from evals.stack import fill, running_stack
from services.answer.contracts.completion import Strategy, read_json
from services.answer.contracts.snippets import SnippetsReply, broken_rules

Chunks = Mapping[str, Chunk]
"""Everything that the index holds, by chunk id."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to get snippets."""

    name: str
    strategy: Strategy | None = None
    """How a model is asked; None without a model."""

    def settings(self, recording: Path) -> list[str]:
        """Settings of the process, each `NAME=value`."""
        settings = ["CLAUSEGATE_SNIPPETS_CACHE_SECONDS=0"]
        if self.strategy:
            settings += [
                f"CLAUSEGATE_JSON_STRATEGY={self.strategy.value}",
                "CLAUSEGATE_JSON_STRATEGIES={}",
                f"CLAUSEGATE_RECORD_MODEL_CALLS={recording}",
            ]
        return settings


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question."""

    question: ResearchQuestion
    seconds: float
    done: SnippetsDone | None
    """None when the call failed."""
    error: str = ""
    replies: tuple[str, ...] = ()
    """Replies of the model, in order: a second one is a repair, or follows another search."""


EXTRACTIVE = Way("extractive")


def strategies() -> list[Way]:
    """The ways to make a model return JSON."""
    return [Way(strategy.value, strategy) for strategy in Strategy]


async def measure(
    folder: Path, questions: Sequence[ResearchQuestion], ways: Sequence[Way], server: str
) -> AsyncIterator[Report]:
    """A report for each way. Questions are asked one by one, so that latencies are those of one user.

    `server` says where the models are that answer.
    """
    for way in ways:
        recording = folder / f"{way.name}.model-calls.jsonl"
        recording.unlink(missing_ok=True)
        async with running_stack(folder, way.settings(recording)) as client:
            await fill(client, tree_files(EXAMPLES), concurrency=1)
            chunks = {chunk.chunk_id: chunk async for chunk in _all_chunks(client)}
            outcomes = [await _ask(client, question, recording) for question in questions]
        _keep(outcomes, folder / f"{way.name}.jsonl")
        yield Report(
            name=f"snippets-{way.name}",
            title=f"Research snippets, {way.name}",
            questions=len(questions),
            figures=figures(outcomes, chunks),
            marks=(RESEARCH_TARGET,),
            by=_models(outcomes, server),
        )


def _models(outcomes: Sequence[Outcome], server: str) -> str:
    """Who found the snippets, and where."""
    names = sorted({outcome.done.metadata.model for outcome in outcomes if outcome.done} - {""})
    return f"{', '.join(names) or 'a model that never answered'} of {server}" if server else NO_MODEL


def figures(outcomes: Sequence[Outcome], chunks: Chunks) -> dict[str, float]:
    """All rates, and latencies in milliseconds; figures of the model are missing when none replied."""
    done = [outcome.done for outcome in outcomes if outcome.done]
    delivered = [snippet for response in done for snippet in response.snippets if snippet.verified]
    asked = [outcome for outcome in outcomes if outcome.question.expected]
    silent = [outcome for outcome in outcomes if outcome.question.kind is Kind.NEGATIVE]
    milliseconds = sorted(outcome.seconds * 1000 for outcome in outcomes)
    return {
        **_of_model(outcomes, chunks),
        "verbatim": mean(_is_verbatim(snippet, chunks) for snippet in delivered),
        "attribution": mean(_is_attributed(snippet, chunks) for snippet in delivered),
        "negatives": mean(bool(outcome.done and outcome.done.no_results) for outcome in silent),
        "documents": mean(hit for outcome in asked for hit in _documents_found(outcome)),
        "phrases": mean(hit for outcome in asked for hit in _phrases_found(outcome)),
        "failed": mean(outcome.done is None for outcome in outcomes),
        "p50 ms": percentile(milliseconds, 0.50),
        "p95 ms": percentile(milliseconds, 0.95),
    }


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed; not a number without values."""
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan


def _of_model(outcomes: Sequence[Outcome], chunks: Chunks) -> dict[str, float]:
    """What the model's first replies were worth before anything was repaired, checked or dropped."""
    first = [_stages_kept(outcome.replies[0]) for outcome in outcomes if outcome.replies]
    if not first:
        return {}
    said = [snippet for outcome in outcomes if outcome.done for snippet in outcome.done.snippets]
    return {
        "parse": mean(stage >= 1 for stage in first),
        "schema": mean(stage >= 2 for stage in first),
        "rules": mean(stage >= 3 for stage in first),
        "raw verbatim": mean(snippet.verified for snippet in said),
        "raw attribution": mean(_named_right(snippet, chunks) for snippet in said),
        **_cost(outcomes),
    }


def _cost(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What a thousand questions cost, as far as they were answered and models have prices."""
    costs = [
        cost for outcome in outcomes if outcome.done and (cost := cost_of(outcome.done.usage)) is not None
    ]
    return {COST: mean(costs) * 1_000} if costs else {}


def _stages_kept(reply: str) -> int:
    """How far a reply keeps the contract: 0 no JSON, 1 JSON, 2 of its class, 3 and its rules."""
    try:
        value = read_json(reply)
    except ValueError:
        return 0
    try:
        read = SnippetsReply.model_validate(value, extra="ignore")
    except ValueError:
        return 1
    return 2 if broken_rules(read) else 3


def _is_verbatim(snippet: Snippet, chunks: Chunks) -> bool:
    chunk = chunks.get(snippet.chunk_id)
    return chunk is not None and bool(snippet.content) and snippet.content in chunk.text


def _is_attributed(snippet: Snippet, chunks: Chunks) -> bool:
    chunk = chunks.get(snippet.chunk_id)
    if chunk is None:
        return False
    said = (snippet.source_id, snippet.source_title, snippet.source_location)
    return said == (chunk.document_id, chunk.title, _location(chunk, snippet.content))


def _location(chunk: Chunk, content: str) -> str:
    """The headings above words of a chunk: a chunk may run through several sections."""
    at = chunk.span.start + max(0, chunk.text.find(content))
    own = (section.heading_chain for section in chunk.sections if section.span.start <= at < section.span.end)
    return " > ".join(next(own, ()) or chunk.heading_chain) or chunk.section


def _named_right(snippet: Snippet, chunks: Chunks) -> bool:
    """Whether the model named a chunk that it was shown, and no other chunk holds the words instead."""
    if snippet.verified or not snippet.chunk_id:
        return snippet.verified
    words = _folded(snippet.content)
    return not any(words in _folded(chunk.text) for chunk in chunks.values())


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _documents_found(outcome: Outcome) -> Iterator[bool]:
    found = {snippet.source_id for snippet in _snippets(outcome)}
    for document in {expected.document_id for expected in outcome.question.expected}:
        yield document in found


def _phrases_found(outcome: Outcome) -> Iterator[bool]:
    for expected in outcome.question.expected:
        own = [snippet.content for snippet in _snippets(outcome) if snippet.source_id == expected.document_id]
        # Neighbouring sentences of a passage may come as snippets of their own.
        yield any(unruled(expected.phrase) in unruled(text) for text in (*own, " ".join(own)))


def _snippets(outcome: Outcome) -> Sequence[Snippet]:
    return [snippet for snippet in outcome.done.snippets if snippet.verified] if outcome.done else []


async def _all_chunks(client: Client) -> AsyncIterator[Chunk]:
    async for document in client.documents():
        async for chunk in client.chunks(document.document_id):
            yield chunk


async def _ask(client: Client, question: ResearchQuestion, recording: Path) -> Outcome:
    said = len(_replies(recording))
    start = time.monotonic()
    try:
        async for event in client.snippets(question.text, unverified=UNVERIFIED_SNIPPETS_FLAG):
            last = event
    except ClausegateError as error:
        seconds = time.monotonic() - start
        return Outcome(question, seconds, None, f"{error.reason}: {error}", _replies(recording)[said:])
    seconds = time.monotonic() - start
    return Outcome(question, seconds, last.done, replies=_replies(recording)[said:])


def _replies(recording: Path) -> tuple[str, ...]:
    """What the model said so far; no replies where the call itself failed."""
    lines = recording.read_text("utf-8").splitlines() if recording.exists() else []
    calls = [entry for line in lines if (entry := json.loads(line))["kind"] == "chat"]
    return tuple(call["reply"]["text"] for call in calls if "reply" in call)


def _keep(outcomes: Sequence[Outcome], file: Path) -> None:
    """The raw results as data, a line each."""
    with file.open("w", encoding="utf-8") as lines:
        for outcome in outcomes:
            entry = {
                "id": outcome.question.question_id,
                "kind": outcome.question.kind.value,
                "question": outcome.question.text,
                "seconds": round(outcome.seconds, 4),
                "error": outcome.error,
                "replies": outcome.replies,
                "done": MessageToDict(outcome.done) if outcome.done else None,
            }
            lines.write(json.dumps(entry, ensure_ascii=False) + "\n")
