"""A sentence beside the one that says a claim, which takes back what it says."""

from __future__ import annotations

import pytest

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.verification.nearest import nearest_to
from tests.unit.nouns import a_chunk

SAID = "The Vendor may audit the Licensee not more than once a year."
CLAIM = "The Vendor may audit the Licensee at most once a year."
LIMITS = (
    "The limit does not apply where an earlier audit found an error.",
    "However, a second visit is allowed where an error was found.",
    "Notwithstanding the foregoing, a regulator may ask for more.",
    "Except in the case of fraud, the Vendor gives its reasons.",
    "This applies only to sites in Norway.",
    "Such an audit is available only to customers of the first class.",
    "An audit of the Licensee is subject to the rules of Schedule 4.",
    "Nothing in this clause keeps a regulator away.",
)
OTHERS = (
    "The Vendor sends its report within ten days.",
    "A report may be sent by post.",
    "Invoices are payable unless they are disputed.",
    "The archive is not available on Sundays.",
)


def chunk(*sentences: str, name: str = "c", numbers: bool = False) -> Chunk:
    told = [f"9.{i} {sentence}" for i, sentence in enumerate(sentences, 1)] if numbers else sentences
    spans, at = [], 0
    for sentence in told:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    text = "\n".join(told)
    return a_chunk(text, chunk_id=name, span=Span(0, len(text)), sentences=tuple(spans))


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("between", [(), OTHERS[:1], OTHERS[:2]])
def test_a_sentence_behind_a_clause_that_takes_it_back_is_told(limit, between):
    found = nearest_to(CLAIM, [chunk(SAID, *between, limit)])

    assert found
    assert not found.supports
    assert found.found
    assert not found.comparison.contradicted
    assert [difference.text for difference in found.comparison.differences] == [limit]


@pytest.mark.parametrize("limit", LIMITS[4:6])
def test_a_sentence_before_it_may_limit_as_well(limit):
    found = nearest_to(CLAIM, [chunk(limit, SAID)])

    assert found
    assert not found.supports


@pytest.mark.parametrize("other", OTHERS)
def test_a_sentence_about_something_else_limits_nothing(other):
    found = nearest_to(CLAIM, [chunk(SAID, other)])

    assert found
    assert found.supports


def test_a_limit_on_how_often_is_none_on_notice():
    said = "The Vendor audits on at least 30 days’ notice."
    found = nearest_to("An audit by the Vendor takes at least 30 days' notice.", [chunk(said, LIMITS[0])])

    assert found
    assert found.supports


def test_another_clause_limits_where_it_names_the_first():
    beside = chunk(
        SAID, "The report is sent by post.", "Clause 9.1 does not apply after fraud.", numbers=True
    )
    other = chunk(SAID, "The report is sent by post.", "Clause 9.2 does not apply after fraud.", numbers=True)

    limited, free = nearest_to(CLAIM, [beside]), nearest_to(CLAIM, [other])

    assert limited
    assert free
    assert (limited.supports, free.supports) == (False, True)


def test_a_claim_that_tells_the_limit_is_not_limited():
    said = "An enabled device counts. A device does not count where it is broken."
    first, second = said.split(". ")
    found = nearest_to(
        "An enabled device counts, but a broken device does not count.", [chunk(f"{first}.", second)]
    )

    assert found
    assert LIMITS[0] not in [difference.text for difference in found.comparison.differences]
