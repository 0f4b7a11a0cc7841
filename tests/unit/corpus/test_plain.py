"""What JSON keeps of a card is read as the same card."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given

from clausegate.corpus.v1 import profile_pb2
from corpus.plain import from_plain
from corpus.profiles import DocumentProfile, Party
from tests.cards import WHOLE
from tests.unit.corpus.pairs import values_of


@given(values_of(DocumentProfile, profile_pb2.DocumentProfile.DESCRIPTOR))
def test_a_card_comes_back_from_json(card):
    assert from_plain(json.loads(json.dumps(asdict(card))), DocumentProfile) == card


def test_what_a_later_release_keeps_as_well_is_passed_over():
    party = asdict(WHOLE.parties[0])

    assert from_plain({**party, "of_a_later_release": 1}, Party) == WHOLE.parties[0]


@pytest.mark.parametrize(
    "plain", [{}, {"name": "Acme"}, {"name": "Acme", "span": 3}, {"name": "Acme", "span": {"start": "x"}}, 3]
)
def test_what_is_no_card_is_an_error(plain):
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_plain(plain, Party)
