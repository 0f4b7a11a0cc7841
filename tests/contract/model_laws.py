"""The laws of what leaves the answer service, whatever a model says. All raise `AssertionError`."""

from __future__ import annotations

import re

import grpc

from tests.contract.model_stack import TEXTS, Failure, Reader, codes_by_reason, failure_of
from tests.fakes.moves import REASONS, SLOW, Played
from tests.fakes.prompts import contracts

PATIENT_SECONDS = 30.0
"""A caller's deadline that only a defect reaches."""
IMPATIENT_SECONDS = 1.2
"""A caller's deadline where the model is slow."""


def deadline(played: Played) -> float:
    """Seconds that a caller gives a call: a few where some move of the model never ends."""
    moves = [move for planned in played.planned.values() for move in planned]
    return IMPATIENT_SECONDS if any(move.name in SLOW for move in moves) else PATIENT_SECONDS


async def outcome(call):
    """The response, or how the call failed."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return failure_of(error)


async def outcomes(call):
    """The events, and how the call failed, if it did."""
    events = []
    try:
        async for event in call:
            events.append(event)  # noqa: PERF401 - what came before a failure counts
    except grpc.aio.AioRpcError as error:
        return events, failure_of(error)
    return events, None


def assert_explained(failure: Failure, played: Played, contract: str) -> None:
    """A failure is typed, and is that of the call that failed."""
    impatient = deadline(played) == IMPATIENT_SECONDS
    if impatient and failure.kind == ("DEADLINE_EXCEEDED", ""):
        return  # gRPC ended it, which comes first where the machine stands still
    assert codes_by_reason().get(failure.reason) == failure.code, failure
    last = played.last(contract)
    assert last is not None, f"{failure} without asking the model for {contract}"
    late = impatient and failure.reason == "UPSTREAM_UNAVAILABLE"
    assert late or failure.reason == REASONS.get(last.name, "CONTRACT_FAILED"), (failure, last)
    assert late or not last.sound, f"{failure} after a sound reply"
    if failure.code in ("UNAVAILABLE", "RESOURCE_EXHAUSTED") and failure.reason != "CONTRACT_FAILED":
        assert failure.retry_after_seconds is not None, failure
    assert_nothing_leaks([failure.message], played)


async def assert_citations(reader: Reader, citations) -> None:
    """Every quote is made of stretches of the text, where it says; its words are those of its chunk."""
    chunks = await reader.chunks([citation.chunk_id for citation in citations])
    for citation in citations:
        start, end, chunk = citation.span.start, citation.span.end, chunks[citation.chunk_id]
        assert citation.quote.strip()
        text = TEXTS[citation.document]
        assert [part.text for part in citation.parts] == [
            text[part.span.start : part.span.end] for part in citation.parts
        ]
        assert citation.quote == " … ".join(part.text for part in citation.parts)
        assert any(part.span.start <= start < end <= part.span.end for part in citation.parts)
        assert text[start:end] == chunk.text[start - chunk.span.start : end - chunk.span.start]
        assert chunk.span.start <= start < end <= chunk.span.end
        assert (citation.document, citation.source) == (chunk.document_id, chunk.source)


NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
DENIALS = re.compile(r"\b(?:not|never|no|neither)\b", re.IGNORECASE)
LOADED = re.compile(
    r"\b(?:typically|likely|shall|must|may|without|monthly|yearly|days|months|years|two|ten|thirty|forty|sixty"
    r"|ninety|[A-Z]{3,}|Licens(?:ee|or)|Vendor|Subscriber|Illinois|Delaware|March|April)\b"
)
"""Words that a statement may not have unless its quotes do: what `SWAPPED` exchanges, and guesses."""


def assert_in_quotes(text: str, quotes, counts=frozenset()) -> None:
    """What is loaded in a text stands in its quotes; numbers may also be `counts` of them."""
    quoted = "\n".join(quotes)
    assert set(NUMBER.findall(text)) <= {*NUMBER.findall(quoted), *counts}, (text, quoted)
    assert set(LOADED.findall(text)) <= set(LOADED.findall(quoted)), (text, quoted)
    assert "evil.example" not in text, text
    if quotes and DENIALS.search(text):
        assert DENIALS.search(quoted), (text, quoted)


def assert_nothing_leaks(texts, played: Played) -> None:
    """Neither the codes of markers nor a line of a system prompt."""
    assert_no_codes(texts, played)
    said = "\n".join(texts)
    for contract in contracts().values():
        for line in contract.system.splitlines():
            assert len(line) <= 30 or line.strip() not in said, line


def assert_no_codes(texts, played: Played) -> None:
    """No code that the markers of a prompt carried."""
    for shown in played.shown:
        assert not [code for code in shown.codes for text in texts if code in text]


def strings(value):
    """All texts of a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in strings(one)]
