"""What a careful reader should know besides the answer, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpus.chunks import Chunk
from corpus.citations import Citation
from corpus.documents import Document
from services.answer.answers import Note, NoteKind, Outcome, SupportingClause
from services.answer.corpus import UnknownName
from services.answer.query.conflicts import ValueConflict
from services.answer.sentences import begins_earlier

WEAK_GRADE = 2
"""Below it a passage is only possibly related."""

_REFERENCE = re.compile(
    r"\b(?:Sections?|Articles?|Clauses?|Schedules?|Exhibits?|Appendix|Annex|Attachment|Addendum)"
    r"\s+(?:[IVXLC]+\b|[A-Z](?:[-.]?\d+)*\b|\d+(?:\.\d+)*)(?:\([A-Za-z0-9]{1,4}\))*"
)


def cross_references(text: str) -> tuple[str, ...]:
    """The clauses and attachments that a quote refers to, as written, each once; its own heading is none."""
    found = (match for match in _REFERENCE.finditer(text) if match.start() > 0)
    return tuple(dict.fromkeys(" ".join(match.group().split()) for match in found))


def cross_reference_notes(citations: Iterable[Citation]) -> tuple[Note, ...]:
    """One note for each quote that refers elsewhere."""
    notes = []
    for citation in citations:
        if references := cross_references(citation.quote):
            text = f"The quoted clause refers to {_listed(references)}."
            notes.append(Note(NoteKind.CROSS_REFERENCE, text, (citation.number,)))
    return tuple(notes)


def unreadable_page_notes(citations: Sequence[Citation], documents: Iterable[Document]) -> tuple[Note, ...]:
    """One note for each cited document some of whose pages could not be read."""
    texts: dict[str, str] = {
        document.document_id: f"{_counted(document.unreadable_pages)} of “{label}” could not be read and may "
        "hold more on this."
        for document, label in _cited(citations, documents)
        if document.unreadable_pages
    }
    return _document_notes(NoteKind.UNREADABLE_PAGES, texts, citations)


def begins_earlier_notes(citations: Iterable[Citation], chunks: Mapping[str, Chunk]) -> tuple[Note, ...]:
    """One note for all quotes whose beginning an earlier chunk holds, and which have no lead-in or header."""
    begun = tuple(
        citation.number
        for citation in citations
        if begins_earlier(chunks[citation.chunk_id], citation.span)
        and not _has_its_beginning(citation, chunks[citation.chunk_id])
    )
    text = (
        "The beginning of the list, sentence or table that is quoted stands in an earlier passage: read it "
        "as well, since it may say that what is quoted does not hold, or is forbidden."
    )
    return (Note(NoteKind.CUT_QUOTE, text, begun),) if begun else ()


def _has_its_beginning(citation: Citation, chunk: Chunk) -> bool:
    """Whether the quote begins in the chunk before."""
    return any(part.span.start < chunk.span.start for part in citation.parts)


def definition_goes_on_note(term: str, citation: Citation) -> Note:
    """A definition whose end another chunk holds."""
    text = (
        f"The definition of “{term}” goes on in the next passage of “{citation.document_label}”: read it as "
        "well, since it may take something out."
    )
    return Note(NoteKind.CUT_QUOTE, text, (citation.number,))


def left_out_notes(citations: Sequence[Citation], documents: Iterable[Document]) -> tuple[Note, ...]:
    """One note for each cited document without some of what its pages show."""
    texts: dict[str, str] = {}
    for document, label in _cited(citations, documents):
        marks = _count(document.reference_marks, "footnote and reference mark")
        lines = _count(document.running_lines, "line", " of running headers and footers")
        if left := " and ".join(filter(None, (marks, lines))):
            were = "was" if document.reference_marks + document.running_lines == 1 else "were"
            texts[document.document_id] = f"From the text of “{label}” {left} {were} left out."
    return _document_notes(NoteKind.LEFT_OUT, texts, citations)


def hidden_text_notes(citations: Sequence[Citation], documents: Iterable[Document]) -> tuple[Note, ...]:
    """One note for each cited document that holds text which its readers do not see."""
    texts: dict[str, str] = {
        document.document_id: f"The file of “{label}” holds {document.hidden_characters:,} "
        f"character{'s' if document.hidden_characters > 1 else ''} that its readers do not see; "
        f"{'they were' if document.hidden_characters > 1 else 'it was'} left out."
        for document, label in _cited(citations, documents)
        if document.hidden_characters
    }
    return _document_notes(NoteKind.HIDDEN_TEXT, texts, citations)


def _cited(citations: Iterable[Citation], documents: Iterable[Document]) -> Iterator[tuple[Document, str]]:
    """Those of the documents that are cited, and their labels."""
    labels = {citation.document: citation.document_label for citation in citations}
    for document in documents:
        if document.document_id in labels:
            yield document, labels[document.document_id]


def _document_notes(
    kind: NoteKind, texts: Mapping[str, str], citations: Sequence[Citation]
) -> tuple[Note, ...]:
    """One note for each of `texts`, which are by the ids of cited documents."""
    return tuple(
        Note(kind, text, tuple(citation.number for citation in citations if citation.document == document))
        for document, text in texts.items()
    )


def scanned_page_notes(citations: Iterable[Citation], documents: Mapping[str, Document]) -> tuple[Note, ...]:
    """One note for each citation from pages whose words stand invisibly over an image."""
    notes = []
    for citation in citations:
        cited = range(citation.page or 0, (citation.last_page or citation.page or 0) + 1)
        pages = [page for page in documents[citation.document].scanned_pages if page in cited]
        if pages:
            text = (
                f"The words of {_counted(pages).lower()} of “{citation.document_label}” stand invisibly over "
                "an image: compare the quote with what it shows."
            )
            notes.append(Note(NoteKind.SCANNED_PAGES, text, (citation.number,)))
    return tuple(notes)


def value_conflict_note(conflict: ValueConflict, left: Citation, right: Citation) -> Note:
    """Both values side by side; none is picked."""
    text = (
        f"The documents give different values for what looks like the same matter: “{conflict.values[0]}” in "
        f"“{left.document_label}” and “{conflict.values[1]}” in “{right.document_label}”."
    )
    return Note(NoteKind.VALUE_CONFLICT, text, (left.number, right.number))


def definition_conflict_note(term: str, citations: Sequence[Citation]) -> Note:
    """The same term in other words."""
    labels = dict.fromkeys(f"“{citation.document_label}”" for citation in citations)
    text = f"“{term}” is defined in different words in {_listed(list(labels))}."
    return Note(NoteKind.DEFINITION_CONFLICT, text, tuple(citation.number for citation in citations))


def weak_evidence_notes(
    clauses: Sequence[SupportingClause], citations: Iterable[Citation], is_answer: bool | None
) -> tuple[Note, ...]:
    """One note when what is quoted is only possibly related; none when grading was off.

    See `Draft.is_answer`.
    """
    if is_answer:
        return ()
    if is_answer is None:
        weak = {
            clause.chunk_id: clause.probability is None
            for clause in clauses
            if clause.grade is not None and clause.grade < WEAK_GRADE
        }
        numbers = tuple(citation.number for citation in citations if citation.chunk_id in weak)
        by_model = "the model that graded them does not find them relevant"
        why = by_model if all(weak.values()) else "none of them comes close to the question"
    else:
        numbers = tuple(citation.number for citation in citations)
        why = "they may not answer the question"
    if not numbers:
        return ()
    text = f"The evidence is weak: these passages are possibly related; {why}."
    return (Note(NoteKind.WEAK_EVIDENCE, text, numbers),)


def not_named_note(name: UnknownName, *, chosen: bool) -> Note:
    """A document that the question asks for beside others, and that is not there."""
    return Note(NoteKind.NOT_NAMED, f"{no_document_names([name], chosen=chosen)} {nearest_sentence([name])}")


def no_document_names(names: Sequence[UnknownName], *, chosen: bool) -> str:
    """Says that no document bears the names; none of those searched, if the question chose which."""
    among = " among those searched" if chosen else ""
    return f"No document{among} names {either([f'“{name.text}”' for name in names])}."


def either(items: Sequence[str]) -> str:
    """The items as a choice, each once: `“a”, “b” or “c”`."""
    *others, last = dict.fromkeys(items)
    return f"{', '.join(others)} or {last}" if others else last


def nearest_sentence(names: Sequence[UnknownName]) -> str:
    """The names that documents do bear."""
    alike = [f"“{name}”" for name in dict.fromkeys(near for name in names for near in name.nearest)]
    if not alike:
        return "No name in the documents is spelled like it."
    return f"Spelled most like it {'is' if len(alike) == 1 else 'are'} {_listed(alike)}."


def document_silent_note(label: str) -> Note:
    """One of several documents that the question names, which does not answer it."""
    return Note(NoteKind.DOCUMENT_SILENT, f"“{label}” does not address this.")


def asked_of_each_note(outcomes: Mapping[Outcome, int], not_asked: int) -> Note:
    """What became of a question that asks for each of many documents, in so many of them."""
    asked = sum(outcomes.values())
    text = f"{outcomes.get(Outcome.ANSWERED, 0)} of {asked} documents answer this"
    for outcome, word in ((Outcome.RELATED, "unclear"), (Outcome.REFUSED, "silent")):
        if outcomes.get(outcome, 0):
            text += f", {outcomes[outcome]} {'is' if outcomes[outcome] == 1 else 'are'} {word}"
    if not_asked:
        left = f"{not_asked:,} more {'was' if not_asked == 1 else 'were'} not asked"
        text += f". Their passages come closest; {left}: ask all with --each, or POST /v1/query:each"
    return Note(NoteKind.ASKED_OF_EACH, f"{text}.")


def found_in_note(documents: int) -> Note:
    """A question that names no document."""
    text = f"The question names no document; passages that bear on it were found in {documents} documents."
    return Note(NoteKind.FOUND_IN, text)


UNCALIBRATED = Note(
    NoteKind.UNCALIBRATED,
    "What counts as an answer is not calibrated: it was measured with another embedding model.",
)


MODEL_REPLY_UNUSED = Note(
    NoteKind.MODEL_REPLY_UNUSED, "The model's reply could not be used: these are extracts."
)
MODEL_DECLINED = Note(NoteKind.MODEL_DECLINED, "The model found no answer in these passages.")


def _count(number: int, thing: str, of: str = "") -> str:
    return f"{number:,} {thing}{'s' if number > 1 else ''}{of}" if number else ""


def _counted(pages: Sequence[int]) -> str:
    return f"Page{'s' if len(pages) > 1 else ''} {_listed([str(page) for page in pages])}"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
