"""The laws of the codec, for every pair of a class and a message, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import ClassVar

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from clausegate.corpus.v1 import chunk_pb2, citation_pb2, document_pb2, span_pb2
from corpus.chunks import Chunk, TextDoubt, TextDoubtKind
from corpus.citations import Citation, MatchLevel, QuotePart
from corpus.codec import from_message, to_message
from corpus.documents import Document
from corpus.spans import PageSpan, Span
from corpus.wire import Wire
from tests.unit.corpus.pairs import (
    PAIRS,
    converted_in_services,
    derives,
    exceptions_of,
    messages_of,
    values_of,
)

PAIRED = pytest.mark.parametrize(("of", "message"), PAIRS, ids=[of.__name__ for of, _ in PAIRS])
FREE = [(of, message) for of, message in PAIRS if not derives(of, message.DESCRIPTOR)]
"""Pairs whose messages hold nothing that follows from the rest."""


@PAIRED
@given(data=st.data())
def test_a_value_comes_back_from_its_message(of, message, data):
    value = data.draw(values_of(of, message.DESCRIPTOR))

    assert from_message(to_message(value, message), of) == value


@pytest.mark.parametrize(("of", "message"), FREE, ids=[of.__name__ for of, _ in FREE])
@given(data=st.data())
def test_a_message_comes_back_from_its_value(of, message, data):
    sent = data.draw(messages_of(of, message.DESCRIPTOR))

    assert to_message(from_message(sent, of), message) == sent


@PAIRED
def test_an_exception_names_fields_that_there_are(of, message):
    ours, theirs = exceptions_of(of)

    assert ours <= {field.name for field in fields(of)}
    assert theirs <= {field.name for field in message.DESCRIPTOR.fields}


def test_every_class_and_message_that_services_convert_is_among_the_pairs():
    assert converted_in_services() <= {each for pair in PAIRS for each in pair}


@dataclass(frozen=True, slots=True)
class Short:
    start: int


@dataclass(frozen=True, slots=True)
class Long:
    start: int
    end: int
    middle: int


@dataclass(frozen=True, slots=True)
class Wordy:
    start: int
    end: str


@dataclass(frozen=True, slots=True)
class Doubtful:
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Listed:
    start: int
    end: tuple[int, ...]


@pytest.mark.parametrize("of", [Short, Long, Wordy, Doubtful, Listed])
def test_a_class_that_does_not_fit_its_message_is_refused(of):
    with pytest.raises(TypeError):
        from_message(span_pb2.Span(), of)


@dataclass(frozen=True, slots=True)
class Insisting:
    span: Span
    text: str
    page: int
    last_page: int | None


def test_a_field_that_may_be_unset_must_be_one_that_may_be_none():
    with pytest.raises(TypeError, match="page"):
        from_message(citation_pb2.QuotePart(), Insisting)


@dataclass(frozen=True, slots=True)
class Renamed:
    WIRE: ClassVar = Wire(
        names={"first": "start"}, only_here=frozenset({"note"}), only_there=frozenset({"end"})
    )

    note: str = "none"
    first: int = 0


def test_what_a_class_names_as_its_exceptions_is_converted_so():
    assert to_message(Renamed(first=3), span_pb2.Span) == span_pb2.Span(start=3)
    assert from_message(span_pb2.Span(start=3, end=9), Renamed) == Renamed(first=3)


@dataclass(frozen=True, slots=True)
class Measured:
    WIRE: ClassVar = Wire(derived=frozenset({"end"}))

    start: int

    @property
    def end(self) -> int:
        return self.start + 1


def test_what_a_class_works_out_is_written_and_not_read():
    assert to_message(Measured(3), span_pb2.Span) == span_pb2.Span(start=3, end=4)
    assert from_message(span_pb2.Span(start=3, end=9), Measured) == Measured(3)


class OneLevel(StrEnum):
    EXACT = "exact"


class AllLevels(StrEnum):
    EXACT = "exact"
    NORMALISED = "normalised"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Level:
    WIRE: ClassVar = Wire(
        only_there=frozenset(set(citation_pb2.Citation.DESCRIPTOR.fields_by_name) - {"match_level"})
    )

    match_level: OneLevel


@dataclass(frozen=True, slots=True)
class Strict(Level):
    match_level: AllLevels


def test_an_enum_that_lacks_a_name_is_refused():
    with pytest.raises(TypeError, match="FOLDED"):
        from_message(citation_pb2.Citation(), Level)


@pytest.mark.parametrize("number", [0, 99])
def test_a_number_without_a_member_is_refused_with_the_name_of_its_field(number):
    with pytest.raises(ValueError, match=r"Citation\.match_level"):
        from_message(citation_pb2.Citation(match_level=number), Strict)


@pytest.mark.parametrize("number", [0, 99])
def test_a_number_without_a_member_is_unknown_where_the_class_can_say_so(number):
    doubt = from_message(chunk_pb2.TextDoubt(kind=number), TextDoubt)

    assert doubt.kind is TextDoubtKind.UNKNOWN
    assert to_message(doubt, chunk_pb2.TextDoubt).kind == 0


def test_a_number_without_a_member_is_unspecified_where_the_class_can_say_that_alone():
    citation = from_message(citation_pb2.Citation(match_level=99), Citation)

    assert citation.match_level is MatchLevel.UNSPECIFIED


def test_a_field_that_is_not_set_is_none_and_zero_is_zero():
    message = citation_pb2.QuotePart(page=0)

    part = from_message(message, QuotePart)

    assert (part.page, part.last_page) == (0, None)
    assert to_message(part, citation_pb2.QuotePart).HasField("page")
    assert not to_message(part, citation_pb2.QuotePart).HasField("last_page")


def test_a_message_that_is_not_set_is_read_as_an_empty_one():
    assert from_message(span_pb2.PageSpan(page=4), PageSpan) == PageSpan(4, Span(0, 0))


def test_an_instant_has_its_zone():
    instant = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)
    message = document_pb2.Document(indexed_at=Timestamp(seconds=int(instant.timestamp())))

    assert from_message(message, Document).indexed_at == instant


def test_an_instant_that_no_calendar_has_is_refused():
    with pytest.raises(ValueError, match="Timestamp"):
        from_message(chunk_pb2.Chunk(indexed_at=Timestamp(seconds=2**60)), Chunk)
