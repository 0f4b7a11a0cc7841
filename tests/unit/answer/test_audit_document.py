"""The worked example of `docs/audit.md` is what the service writes."""

from __future__ import annotations

import json
from pathlib import Path

from services.answer.records.lines import NOTHING, RECORD_DOMAIN, Keys, Position, chained, read_entry
from services.answer.verification.signing import SigningKey

DOCUMENT = Path(__file__).parents[3] / "docs" / "audit.md"
KEY = SigningKey("example", bytes(32))
CHAIN_FIELDS = ("chain", "sequence", "previous", "key_id", "seal", "hash")


def test_the_example_of_the_document_is_a_sealed_chain():
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith('{"timestamp"')]
    first, second = (read_entry(line.encode()) for line in lines)
    assert (first.previous, first.position.sequence) == (NOTHING, 1)
    assert (second.previous, second.position.sequence) == (first.position.hash, 2)
    Keys([KEY]).check(first.seal, RECORD_DOMAIN)
    Keys([KEY]).check(second.seal, RECORD_DOMAIN)


def test_the_example_of_the_document_is_written_again_byte_for_byte():
    line = next(line for line in DOCUMENT.read_text().splitlines() if line.startswith('{"timestamp"'))
    fields = {name: value for name, value in json.loads(line).items() if name not in CHAIN_FIELDS}
    written, _ = chained(fields, "answer-0-6f1d0c2b9a8e7354", Position(), KEY)
    assert written.decode() == line + "\n"
