"""Terms are resolved to the right definition."""

from __future__ import annotations

from corpus.chunks import ChunkId
from corpus.documents import DocumentId, Generation
from corpus.spans import Span
from services.retrieval.definitions import MAX_CONFLICTING, Passage, Reading, conflicting
from services.retrieval.terms import DefinedTerms, fold_term
from tests.unit.nouns import a_definition


def definition(document, text, term="Subscriber", start=0):
    return a_definition(
        term,
        text,
        definition_id=f"{document}:{start}:{term}",
        document_id=DocumentId(document),
        generation=Generation("1"),
        span=Span(start, start + len(text)),
        chunk_id=ChunkId(""),
        source=document.partition("/")[0],
    )


def meaning(passage, known):
    terms = DefinedTerms.of([fold_term("Subscriber")])
    [use] = terms.uses(passage.text)
    return Reading(passage, "").meaning(use, known)


OWN = definition("cme/a.pdf", "“Subscriber” means a payer.")
SAME_SOURCE = definition("cme/b.pdf", "“Subscriber” means a reader.")
OTHER_SOURCE = definition("opra/c.pdf", "“Subscriber” means a person.")
KNOWN = [OWN, SAME_SOURCE, OTHER_SOURCE]


def test_a_passage_gets_the_definition_of_its_document():
    assert meaning(Passage("each Subscriber pays", DocumentId("cme/b.pdf")), KNOWN) == [SAME_SOURCE]


def test_else_that_of_its_source():
    assert meaning(Passage("each Subscriber pays", DocumentId("cme/z.pdf")), KNOWN) == [OWN]


def test_else_none():
    assert meaning(Passage("each Subscriber pays", DocumentId("ice/z.pdf")), KNOWN) == []


def test_a_question_gets_one_of_every_source():
    assert meaning(Passage("what does a subscriber pay?"), KNOWN) == [OWN, OTHER_SOURCE]


def test_a_document_means_a_common_word_where_it_writes_it_small():
    assert meaning(Passage("each subscriber pays", DocumentId("cme/a.pdf")), KNOWN) == []


def test_a_document_that_defines_a_term_twice_in_other_words_gives_both():
    again = definition("cme/a.pdf", "“Subscriber” means a licensee.", start=900)
    same = definition("cme/a.pdf", "'Subscriber' means  a PAYER", start=1800)
    assert meaning(Passage("a Subscriber", DocumentId("cme/a.pdf")), [OWN, again, same]) == [OWN, again]


def test_other_documents_with_other_words_conflict_other_sources_first():
    assert conflicting(OWN, KNOWN) == (OTHER_SOURCE, SAME_SOURCE)


def test_the_same_words_do_not_conflict():
    copy = definition("opra/d.pdf", "'Subscriber' means a PAYER")
    assert conflicting(OWN, [OWN, copy]) == ()


def test_conflicts_are_bounded():
    others = [definition(f"x{number}/a.pdf", f"means {number}") for number in range(MAX_CONFLICTING * 2)]
    assert len(conflicting(OWN, [OWN, *others])) == MAX_CONFLICTING
