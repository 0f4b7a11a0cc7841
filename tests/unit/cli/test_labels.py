"""Documents are called by the names that people know them by, in lists as in answers."""

from __future__ import annotations

import io

from rich.console import Console

from clausegate.answer.v1 import debug_pb2
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.definition_pb2 import Definition
from clausegate.retrieval.v1.retrieval_service_pb2 import Candidate, ResolvedDefinition
from cli.explaining import documents_of, print_explanation
from cli.tables import every_definition, print_candidates, print_definitions

FEES, RULES = "deals/a_very_long_name_2019_EX-10.1.txt", "deals/rules.txt"
LABELS = {FEES: "Fee Agreement · Acme / Globex · 1 July 2019"}


def printed(print_them, *values) -> str:
    written = io.StringIO()
    print_them(Console(file=written, width=200), *values)
    return written.getvalue()


def test_a_search_shows_labels_and_the_id_of_a_document_that_is_gone():
    found = [
        Candidate(chunk=Chunk(document_id=document, section="2. Fees", text="Fees are due."))
        for document in (FEES, RULES)
    ]
    text = printed(print_candidates, found, LABELS)
    assert "Fee Agreement · Acme / Globex · 1 July 2019 › 2. Fees" in text
    assert f"{RULES} › 2. Fees" in text
    assert FEES not in text


def test_definitions_stand_below_labels_each_once():
    definition = Definition(
        definition_id="d1", document_id=FEES, term="Fee", text="a sum", section="1. Terms"
    )
    other = Definition(definition_id="d2", document_id=RULES, term="Fee", text="a price", section="1. Terms")
    found = [
        ResolvedDefinition(definition=definition, conflicting=[other]),
        ResolvedDefinition(definition=other),
    ]
    text = printed(print_definitions, found, LABELS)
    assert "Fee Agreement · Acme / Globex · 1 July 2019 › 1. Terms" in text
    assert text.count("a price") == 1
    assert text.count("other documents say otherwise") == 2
    assert [each.document_id for each in every_definition(found)] == [FEES, RULES]


def test_an_explanation_calls_every_document_that_it_speaks_of_by_its_label():
    why = debug_pb2.DebugExplanation(
        routed=[debug_pb2.DebugRoute(document_id=FEES, share=1)],
        candidates=[debug_pb2.DebugCandidate(document_id=FEES, section="2. Fees")],
        definitions=[debug_pb2.DebugDefinition(document_id=RULES, term="Fee")],
    )
    response = QueryResponse(debug=debug_pb2.DebugRecord(explanation=why))
    text = printed(print_explanation, response, LABELS)
    assert documents_of(why) == {FEES, RULES}
    assert "the question names Fee Agreement" in text
    assert FEES not in text
