"""The judge of the load: it has to see what is wrong, or nothing that it passes means anything."""

import time

import pytest

from tests.faults.truth import FEE, Library


@pytest.fixture
def library():
    return Library(seed=1, size=3)


def acknowledged(library, document):
    """A version that is live from now on."""
    text = library.version(document)
    document.begin(text)
    document.settle()
    return text


def fee_of(document, text):
    """The sentence that answers the document's question."""
    return next(line for line in text.splitlines() if document.name in line and FEE.search(line))


def judged(library, document, *quotes, asked=None):
    now = time.monotonic()
    pairs = [(document.document_id, quote) for quote in quotes]
    return list(library.judge_answer(pairs, asked or document, now, now))


def test_the_fee_of_the_live_version_is_right(library):
    document = library.documents[0]
    assert judged(library, document, fee_of(document, acknowledged(library, document))) == []


def test_the_fee_of_a_version_that_was_replaced_is_wrong(library):
    document = library.documents[0]
    old = fee_of(document, acknowledged(library, document))
    acknowledged(library, document)
    assert len(judged(library, document, old)) == 2


def test_either_version_is_right_while_one_replaces_the_other(library):
    document = library.documents[0]
    old = fee_of(document, acknowledged(library, document))
    text = library.version(document)
    document.begin(text)
    assert judged(library, document, old) == judged(library, document, fee_of(document, text)) == []


def test_words_that_no_version_has_are_wrong(library):
    document = library.documents[0]
    said = fee_of(document, acknowledged(library, document))
    assert judged(library, document, said.replace("month", "year"))
    assert judged(library, document, said, "Display is free.")


def test_an_answer_that_does_not_say_what_is_asked_is_wrong(library):
    document = library.documents[0]
    text = acknowledged(library, document)
    assert judged(library, document, text.splitlines()[0])


def test_words_of_another_document_are_wrong(library):
    document, other = library.documents[:2]
    acknowledged(library, document)
    assert judged(library, document, fee_of(other, acknowledged(library, other)))


def test_absence_is_right_only_when_the_document_may_have_been_gone(library):
    document = library.documents[0]
    before = time.monotonic()
    assert not list(library.judge_absence(document, before, before))
    acknowledged(library, document)
    now = time.monotonic()
    assert list(library.judge_absence(document, now, now))
    assert not list(library.judge_absence(document, before, now))
    document.begin(None)
    assert not list(library.judge_absence(document, now, time.monotonic()))
