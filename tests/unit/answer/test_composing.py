from __future__ import annotations

import dataclasses

import pytest

from corpus.chunks import Chunk, TextDoubt, TextDoubtKind
from corpus.definitions import Definition
from corpus.spans import Span
from services.answer.answers import NoteKind, Outcome
from services.answer.corpus import Candidate, ResolvedDefinition
from services.answer.evidence.grading import GradedCandidate
from services.answer.query.composing import Draft, compose
from services.answer.query.stating import extracted
from services.answer.sentences import sentences_of
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.signing import Signer
from tests.unit.answer.listed import CONSENT, COPY, LEAD_IN, SHARE, items, span_of
from tests.unit.nouns import a_chunk, a_definition, a_document

FEE = "The licensee shall pay a monthly fee of USD 100 for each Device."
NOTICE = "Either party may terminate as set out in Section 9 of the agreement."
TERM = "“Device” means any unit that displays market data."


def chunk(name: str, document: str, *sentences: str) -> Chunk:
    text, spans, at = " ".join(sentences), [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    source = document.split("/")[0]
    return a_chunk(
        text,
        chunk_id=name,
        alias=name,
        document_id=document,
        source=source,
        title=document,
        sentences=tuple(spans),
    )


def definition(part: Chunk, text: str = TERM) -> Definition:
    start = part.text.index(text)
    return a_definition(
        "Device",
        text,
        span=Span(start, start + len(text)),
        chunk_id=part.chunk_id,
        document_id=part.document_id,
        source=part.source,
    )


CLAUSES = chunk("clauses", "cme/a.txt", FEE, NOTICE)
TERMS = chunk("terms", "cme/b.txt", TERM)
FOREIGN = chunk("foreign", "opra/c.txt", TERM.replace("unit", "screen"))
ALL = (CLAUSES, TERMS, FOREIGN)


def kept(part: Chunk, grade: int = 3) -> GradedCandidate:
    return GradedCandidate(Candidate(part, 0.5, 0.0, 0.9, ()), 0.6, 0.9, grade=grade, probability=0.7)


def draft(question: str = "What is the fee?", *, grade: int = 3, calibrated: bool = True) -> Draft:
    foreign = definition(FOREIGN, TERM.replace("unit", "screen"))
    return Draft(
        question=question,
        kept=(kept(CLAUSES, grade),),
        definitions=(ResolvedDefinition(definition(TERMS), 1, "", (foreign,)),),
        calibrated=calibrated,
    )


def answer(of: Draft, live: tuple[Chunk, ...] = ALL, **told):
    chunks = {one.chunk_id: one for one in live}
    documents = {
        one.document_id: a_document(one.document_id, title=one.title, **{"unreadable_pages": ()} | told)
        for one in live
    }
    citations = Citations(chunks, documents, Origin("c" * 64), Signer())
    statements = extracted(of, tuple(sentences_of(CLAUSES)), citations)
    return compose(of, statements, citations, chunks, documents)


def test_statements_definitions_and_conflicts_are_numbered_in_order_of_use():
    composed = answer(draft())
    assert [one.citation_numbers for one in composed.statements] == [(1,), (2,)]
    (in_use,) = composed.definitions
    assert (in_use.citation_number, in_use.conflicting_citation_numbers) == (3, (4,))
    assert [one.source for one in composed.citations] == ["cme", "cme", "cme", "opra"]


def test_a_statement_whose_chunk_is_gone_is_dropped_and_leaves_no_citation():
    composed = answer(draft(), live=(TERMS,))
    assert composed.statements == ()
    assert composed.supporting_clauses == ()


def test_a_statement_whose_words_changed_is_dropped():
    changed = dataclasses.replace(CLAUSES, text=CLAUSES.text.replace("USD 100", "USD 900"))
    assert [one.text for one in answer(draft(), live=(changed, TERMS)).statements] == [NOTICE]


def test_a_term_that_is_asked_for_is_answered_by_all_its_definitions_first():
    composed = answer(draft("What is a Device?"))
    assert [one.text for one in composed.statements] == [TERM, TERM.replace("unit", "screen"), FEE]
    assert [one.source_prefixes for one in composed.statements] == [("CME",), ("OPRA",), ("CME",)]


def test_what_is_quoted_is_marked_in_its_passage():
    (clause,) = answer(draft()).supporting_clauses
    assert [CLAUSES.text[span.start : span.end] for span in clause.quoted] == [FEE, NOTICE]


@pytest.mark.parametrize(
    ("of", "told", "kind"),
    [
        (draft(), {}, NoteKind.DEFINITION_CONFLICT),
        (draft(), {}, NoteKind.CROSS_REFERENCE),
        (draft(), {"unreadable_pages": (4, 5)}, NoteKind.UNREADABLE_PAGES),
        (draft(), {"hidden_characters": 1}, NoteKind.HIDDEN_TEXT),
        (draft(), {"reference_marks": 3, "running_lines": 1}, NoteKind.LEFT_OUT),
        (draft(calibrated=False), {}, NoteKind.UNCALIBRATED),
        (draft(grade=1), {}, NoteKind.WEAK_EVIDENCE),
    ],
)
def test_a_reader_is_told_what_limits_the_answer(of, told, kind):
    assert kind in [note.kind for note in answer(of, **told).notes]


def test_a_reader_is_told_that_a_quote_begins_in_an_earlier_chunk():
    item = chunk("item", "cme/d.txt", "(q) share the Data with any Affiliate of the Licensee;")
    behind = Span(900, 900 + len(item.text))
    item = dataclasses.replace(item, span=behind, sentences=(behind,))
    chunks = {"item": item}
    documents = {"cme/d.txt": a_document("cme/d.txt")}
    citations = Citations(chunks, documents, Origin("c" * 64), Signer())
    asked = dataclasses.replace(draft(), kept=(kept(item),), definitions=())
    statements = extracted(asked, tuple(sentences_of(item)), citations)
    (note,) = compose(asked, statements, citations, chunks, documents).notes
    assert (note.kind, note.citation_numbers) == (NoteKind.CUT_QUOTE, (1,))


@pytest.mark.parametrize("kind", list(TextDoubtKind))
def test_a_statement_in_doubt_comes_last_and_is_never_headed_as_an_answer(kind):
    part = dataclasses.replace(CLAUSES, doubts=(TextDoubt(Span(3, 5), kind),))
    chunks = {part.chunk_id: part}
    documents = {part.document_id: a_document(part.document_id)}
    citations = Citations(chunks, documents, Origin("c" * 64), Signer())
    asked = dataclasses.replace(draft(), kept=(kept(part),), definitions=())
    statements = extracted(asked, tuple(sentences_of(part)), citations)
    composed = compose(asked, statements, citations, chunks, documents)
    assert [(one.text, one.possibly_related) for one in composed.statements] == [(NOTICE, False), (FEE, True)]
    (note,) = [one for one in composed.notes if "compare with the original" in one.text]
    assert note.citation_numbers == (2,)


def test_a_clause_marks_the_lead_in_of_its_quote_and_has_what_stands_elsewhere():
    part = items(LEAD_IN, COPY, SHARE)
    chunks = {part.chunk_id: part}
    documents = {part.document_id: a_document(part.document_id)}
    citations = Citations(chunks, documents, Origin("c" * 64), Signer())
    asked = dataclasses.replace(draft(), kept=(kept(part),), definitions=())
    share = next(one for one in sentences_of(part) if one.text == SHARE)
    (clause,) = compose(
        asked, extracted(asked, (share,), citations), citations, chunks, documents
    ).supporting_clauses
    assert clause.quoted == (span_of(LEAD_IN), span_of(SHARE))
    assert (clause.context_before, [one.text for one in clause.context_after]) == ((), [CONSENT])


def test_a_reader_is_told_that_a_definition_goes_on_in_another_chunk():
    rest = " A wall board is none."
    cut = definition(TERMS)
    whole = dataclasses.replace(cut, text=TERM + rest, span=Span(cut.span.start, cut.span.end + len(rest)))
    asked = dataclasses.replace(draft(), definitions=(ResolvedDefinition(whole, 1, "", ()),))
    (note,) = [one for one in answer(asked).notes if one.kind is NoteKind.CUT_QUOTE]
    assert "The definition of “Device” goes on in the next passage" in note.text


def test_strong_calibrated_evidence_needs_no_caveat():
    kinds = {note.kind for note in answer(draft()).notes}
    assert kinds == {NoteKind.DEFINITION_CONFLICT, NoteKind.CROSS_REFERENCE}


def test_every_citation_is_used():
    composed = answer(draft(grade=1, calibrated=False), unreadable_pages=(1,))
    used = {number for one in composed.statements for number in one.citation_numbers}
    used |= {one.citation_number for one in composed.definitions}
    used |= {number for one in composed.definitions for number in one.conflicting_citation_numbers}
    assert used == {one.number for one in composed.citations}


def test_an_improbable_answer_is_only_related_and_says_so_in_words():
    composed = answer(dataclasses.replace(draft(), is_answer=False))
    (note,) = [note for note in composed.notes if note.kind is NoteKind.WEAK_EVIDENCE]
    assert "possibly related; they may not answer the question" in note.text
    assert composed.outcome is Outcome.RELATED


def test_a_probable_answer_is_one_whatever_its_passages_are_graded():
    composed = answer(dataclasses.replace(draft(grade=1), is_answer=True))
    assert composed.outcome is Outcome.ANSWERED


def test_passages_that_were_graded_low_without_a_model_are_called_weak_in_words():
    (note,) = [one for one in answer(draft(grade=1)).notes if one.kind is NoteKind.WEAK_EVIDENCE]
    assert "none of them comes close to the question" in note.text


def test_passages_that_a_model_graded_low_are_called_weak_without_a_probability():
    (graded,) = draft(grade=1).kept
    weak = dataclasses.replace(draft(grade=1), kept=(dataclasses.replace(graded, probability=None),))
    (note,) = [one for one in answer(weak).notes if one.kind is NoteKind.WEAK_EVIDENCE]
    assert "the model that graded them does not find them relevant" in note.text
