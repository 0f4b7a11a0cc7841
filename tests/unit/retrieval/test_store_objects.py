import json
from dataclasses import replace
from datetime import UTC, datetime

from services.retrieval.store.weaviate.objects import (
    chunk_object,
    definition_object,
    document_object,
    read_chunk,
    read_definition,
    read_document,
)
from tests.contract.store.drafts import Draft


def test_a_document_that_was_stored_before_hidden_text_was_kept_has_none():
    document = replace(Draft("cme/a.pdf", unreadable_pages=(2,)).document, indexed_at=datetime.now(UTC))
    properties = document_object(document, 1, ()).properties
    record = json.loads(properties["record"])
    del record["hidden_characters"], record["scanned_pages"]
    del record["reference_marks"], record["running_lines"], record["profile"]

    assert read_document({**properties, "record": json.dumps(record)}) == document


def test_a_chunk_that_was_stored_before_lead_ins_were_kept_has_none():
    (draft,) = Draft("cme/a.txt", ["Fees are due."]).chunks
    properties = chunk_object(draft).properties
    record = json.loads(properties["record"])
    del record["context_before"], record["context_after"], record["doubts"]

    assert read_chunk({**properties, "record": json.dumps(record)}) == draft.chunk


def test_what_a_later_release_keeps_as_well_is_passed_over():
    draft = Draft("cme/a.txt", ["Fees are due."], terms=["Fee"])
    document = replace(draft.document, indexed_at=datetime.now(UTC))
    for read, stored, value in (
        (read_document, document_object(document, 1, ()), document),
        (read_chunk, chunk_object(draft.chunks[0]), draft.chunks[0].chunk),
        (read_definition, definition_object(draft.definitions[0]), draft.definitions[0]),
    ):
        record = {**json.loads(stored.properties["record"]), "of_a_later_release": 1}
        assert read({**stored.properties, "record": json.dumps(record)}) == value
