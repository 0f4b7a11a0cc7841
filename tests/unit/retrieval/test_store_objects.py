import json
from dataclasses import replace
from datetime import UTC, datetime

from services.retrieval.store.weaviate.objects import document_object, read_document
from tests.contract.store.drafts import Draft


def test_a_document_that_was_stored_before_hidden_text_was_kept_has_none():
    document = replace(Draft("cme/a.pdf", unreadable_pages=(2,)).document, indexed_at=datetime.now(UTC))
    properties = document_object(document, 1, ()).properties
    record = json.loads(properties["record"])
    del record["hidden_characters"], record["scanned_pages"]

    assert read_document({**properties, "record": json.dumps(record)}) == document
