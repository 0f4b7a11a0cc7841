"""Answers of several documents, put one behind the other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from services.answer.answers import Answer, Note, NoteKind, Statement
from services.answer.query.events import numbers_of, unfold
from services.answer.query.merging import merged
from tests.unit.answer.test_events import answers, citation, fold


def of_document(place: int, answer: Answer) -> Answer:
    """The answer with citations that tell which document they are of."""
    return replace(
        answer,
        citations=tuple(replace(cited, document=f"cme/{place}.txt") for cited in answer.citations),
        documents=(),
    )


def contents(answer: Answer):
    return [*answer.statements, *answer.definitions, *answer.notes]


SEVERAL = st.lists(answers(), min_size=1, max_size=4).map(
    lambda drawn: [of_document(place, answer) for place, answer in enumerate(drawn)]
)


@settings(deadline=None)
@given(SEVERAL)
def test_statements_keep_their_order_and_cite_what_they_cited(parts):
    whole = merged(parts)
    cited = {each.number: each for each in whole.citations}
    before = [(part, statement) for part in parts for statement in part.statements]

    assert [statement.text for statement in whole.statements] == [statement.text for _, statement in before]
    for statement, (part, old) in zip(whole.statements, before, strict=True):
        by_number = {each.number: each for each in part.citations}
        assert [replace(cited[number], number=0) for number in statement.citation_numbers] == [
            replace(by_number[number], number=0) for number in old.citation_numbers
        ]


@settings(deadline=None)
@given(SEVERAL)
def test_citations_are_numbered_by_first_use_and_none_is_lost(parts):
    whole = merged(parts)
    used = [number for part in contents(whole) for number in numbers_of(part)]

    assert [each.number for each in whole.citations] == list(range(1, len(whole.citations) + 1))
    assert len(whole.citations) == sum(len(part.citations) for part in parts)
    assert list(dict.fromkeys(used)) == sorted(set(used))
    assert fold(unfold(whole)) == whole


@settings(deadline=None)
@given(answers())
def test_a_single_answer_stays_as_it_is(answer):
    alone = of_document(0, answer)
    assert merged([alone]) == replace(alone, notes=tuple(dict.fromkeys(alone.notes)))


def test_a_note_that_cites_nothing_is_told_once():
    note = Note(NoteKind.UNCALIBRATED, "Not calibrated.")
    part = Answer(citations=(citation(1),), statements=(Statement("x", ("CME",), (1,)),), notes=(note,))
    assert merged([part, part]).notes == (note,)
