"""What people call documents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.labels import MAX_LABEL, label_of, labels_of
from corpus.profiles import (
    DatePrecision,
    DocumentKind,
    DocumentProfile,
    OtherName,
    OtherNameKind,
    Party,
    ProfileTitle,
    StatedDate,
)
from corpus.spans import Span
from tests.cards import WHOLE
from tests.unit.nouns import a_document

NOWHERE = Span(0, 1)
EMPTY = DocumentProfile(None, DocumentKind.OTHER, (), None, None, None, None)
MADE = StatedDate("2020-07-01", DatePrecision.DAY, NOWHERE)
FROM = StatedDate("2021", DatePrecision.YEAR, NOWHERE)


def a_card(title: str = "", *names: str, dated: StatedDate | None = None, **told: object) -> DocumentProfile:
    return replace(
        EMPTY,
        title=ProfileTitle(title, NOWHERE) if title else None,
        parties=tuple(Party(name, NOWHERE) for name in names),
        dated=dated,
        **told,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("card", "label"),
    [
        (None, "Fees"),
        (EMPTY, "Fees"),
        (WHOLE, "First Amendment · Acme, Inc. / Größe GmbH · 1 July 2020"),
        (a_card("Consulting Agreement", "A", "B", dated=MADE), "Consulting Agreement · A / B · 1 July 2020"),
        (a_card("Lease", "A", effective=FROM), "Lease · A · 2021"),
        (a_card("Lease", dated=MADE, effective=FROM), "Lease · 1 July 2020"),
        (a_card("Lease", dated=StatedDate("2020-12", DatePrecision.MONTH, NOWHERE)), "Lease · December 2020"),
        (a_card("", "A", "B"), "Fees · A / B"),
    ],
)
def test_a_label_is_what_the_card_says_and_else_the_title(card: DocumentProfile | None, label: str) -> None:
    assert label_of(a_document("cme/a.txt", title="Fees", profile=card)) == label


def test_the_name_of_a_file_is_left_out_where_the_parties_are_known() -> None:
    assert label_of(a_document("cme/2020/x.txt", title="x.txt", profile=a_card("", "A", dated=MADE))) == (
        "A · 1 July 2020"
    )
    assert label_of(a_document("cme/2020/x.txt", title="x.txt", profile=EMPTY)) == "x.txt"


def test_a_long_label_drops_company_forms_then_parties_and_at_last_cuts_the_title() -> None:
    names = ("Universal Hospital Services, Inc.", "J.W. Childs Equity Partners III, L.P.")
    parties = tuple(
        Party(name, NOWHERE, (OtherName(name.split(",")[0], OtherNameKind.PLAIN, NOWHERE),)) for name in names
    )
    card = a_card("Agreement", dated=MADE)
    assert label_of(a_document(profile=replace(card, parties=parties))) == (
        "Agreement · Universal Hospital Services / J.W. Childs Equity Partners III · 1 July 2020"
    )
    assert label_of(a_document(profile=replace(card, parties=parties * 2))) == (
        "Agreement · Universal Hospital Services and 3 others · 1 July 2020"
    )
    long = a_card("Word " * 30 + "end", "A", dated=MADE)
    assert label_of(a_document(profile=long)) == "Word " * 14 + "Word… · 1 July 2020"


def test_documents_that_would_be_called_the_same_name_their_files() -> None:
    lease = a_card("Lease", dated=MADE)
    documents = [a_document(name, title="T", profile=lease) for name in ("cme/a.txt", "cme/b.txt")]
    other = a_document("cme/c.txt", title="Fees")
    assert labels_of([*documents, other]) == {
        "cme/a.txt": "Lease · 1 July 2020 (a.txt)",
        "cme/b.txt": "Lease · 1 July 2020 (b.txt)",
        "cme/c.txt": "Fees",
    }


def test_files_of_one_name_are_told_apart_by_their_ids() -> None:
    assert labels_of([a_document("cme/1/a.txt"), a_document("cme/2/a.txt")]) == {
        "cme/1/a.txt": "T (cme/1/a.txt)",
        "cme/2/a.txt": "T (cme/2/a.txt)",
    }


TEXTS = st.text("ab ,.", min_size=1, max_size=120).filter(str.strip)


@given(TEXTS, st.lists(TEXTS, max_size=4), st.sampled_from([None, MADE, FROM]))
def test_a_label_is_never_empty_nor_longer_than_its_limit(
    title: str, names: list[str], dated: StatedDate | None
) -> None:
    assert 0 < len(label_of(a_document(title=title, profile=a_card("", *names, dated=dated)))) <= MAX_LABEL


@given(st.lists(st.tuples(st.sampled_from(["T", "U"]), st.sampled_from(["a", "b"])), max_size=6))
def test_no_two_documents_have_the_same_label(drawn: list[tuple[str, str]]) -> None:
    documents = [
        a_document(f"cme/{folder}/{name}.txt", title=title) for folder, (title, name) in enumerate(drawn)
    ]
    labels = labels_of(documents)
    assert len(set(labels.values())) == len(documents)
