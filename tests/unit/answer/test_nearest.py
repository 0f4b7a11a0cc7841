"""The clause that comes nearest to a claim, of sentences, neighbours, and values of tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.verification.nearest import Nearest, nearest_to
from services.answer.verification.passages import passages_of
from tests.unit.nouns import a_chunk


def chunk(*sentences: str, name: str = "c") -> Chunk:
    text, spans, at = "\n".join(sentences), [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    return a_chunk(text, chunk_id=name, document_id=name, span=Span(0, len(text)), sentences=tuple(spans))


FEES = chunk(
    "The following fees are payable per device and month.",
    "Product | Internal, USD | External, USD",
    "Top | 1,500 | 2,750",
    "Depth | 3,200 | 5,400",
)
TERMS = chunk(
    "Either party may terminate this Agreement on ninety (90) days’ written notice.",
    "The application fee is USD 80; no fee is charged for renewal.",
    "The Vendor keeps records of each trial for five years.",
    "They are kept at its own premises.",
    name="t",
)


def nearest(claim: str) -> Nearest:
    found = nearest_to(claim, [FEES, TERMS])
    assert found
    return found


def test_each_value_of_a_row_is_read_under_its_own_header():
    said = [reading for passage in passages_of(FEES) for reading in passage.readings]

    assert "Product Top; Internal, USD 1,500" in said
    assert "Product Top; External, USD 2,750" in said


@pytest.mark.parametrize(
    ("claim", "supports", "contradicted"),
    [
        ("External use of Depth costs USD 5,400 per month.", True, False),
        ("External use of Depth costs USD 3,200 per month.", False, True),
        ("Top costs USD 3,200 internally.", False, True),
        ("The contract can be ended with 90 days' notice in writing.", True, False),
        ("The contract can be ended with 30 days' notice in writing.", False, True),
        ("An application costs a fee of USD 80.", True, False),
        ("The Vendor keeps records of trials for five years at its premises.", True, False),
        ("The Vendor keeps records of trials for five years in a vault.", False, False),
    ],
)
def test_a_claim_is_held_to_the_clause_that_speaks_of_the_same(claim, supports, contradicted):
    found = nearest(claim)

    assert (found.supports, found.comparison.contradicted, found.found) == (supports, contradicted, True)


def test_what_nothing_speaks_of_is_not_found_and_has_a_nearest_clause():
    found = nearest("The canteen serves vegetarian meals on weekdays.")

    assert not found.found
    assert found.comparison.passage.sentences


def test_a_nearer_clause_that_says_otherwise_stands_against_one_that_has_all_words():
    loose = chunk("Rights in confidential records, and in the logs of a party, are kept apart.", name="l")
    denial = chunk("The logs are not confidential.", name="d")
    found = nearest_to("The logs are confidential.", [loose, denial])

    assert found
    assert not found.supports
    assert found.comparison.passage.chunk == denial


def test_without_sentences_nothing_is_near():
    assert nearest_to("The fee is due.", []) is None


STAGES = chunk(
    "Stage | Time allowed | Responsible",
    "Reply to questions | 10 days | Licensee",
    "Review of the plan | 20 days | Acme",
    name="s",
)
PRICES = chunk(
    "Product | Internal | External | From",
    "Top | USD 1,500 per month | USD 2,750 per month | 1 May 2026",
    name="p",
)
BARE = chunk("These prices are in USD.", "Depth | 3,200 | 2,985 | 5,400", "Top | 900 | 800 | 700", name="b")


@pytest.mark.parametrize(
    ("claim", "supports"),
    [
        ("The Licensee has 10 days to reply to questions.", True),
        ("Acme has 10 days to reply to questions.", False),
        ("Acme has 10 days to reply to the Licensee's questions.", False),
        ("Acme has 20 days for the review of the plan.", True),
        ("The Licensee has 20 days for the review of the plan.", False),
        ("The review of the plan is allowed a time of 20 days.", True),
        ("Externally Top costs USD 2,750 per month.", True),
        ("Externally Top costs USD 1,500 per month.", False),
        ("From 1 May 2026 external Top costs USD 2,750 per month.", True),
        ("Depth costs USD 2,985.", False),
    ],
)
def test_parties_and_values_of_a_claim_are_those_of_its_row_and_column(claim, supports):
    tables = [replace(table, source="acme") for table in (STAGES, PRICES, BARE)]
    found = nearest_to(claim, tables)

    assert found
    assert found.supports is supports
