"""An answer, a refusal or a failure as a message of Slack: a projection of the one response.

The short form has what a reader needs first: the quotes with their places, which documents are silent, what
warns, and how much is left out. The full one has the sections of the other projections: Answer, Supporting
Clauses, Definitions, Citations and Notes; of a refusal its sentence, the nearest clauses, and what was
searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from chassis.errors import ServiceError
from clausegate.answer.v1.answer_pb2 import (
    AbsenceEvidence,
    DefinitionInUse,
    DocumentAnswer,
    Note,
    NoteKind,
    Outcome,
    Refusal,
    Statement,
    SupportingClause,
)
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from gateway.slack.blocks import Item, Json, Run, Section, fitted, foreign, line, units
from gateway.slack.command import SHOW_ALL, Question

QUESTION, STATEMENT, CLAUSE, CONTEXT, QUOTE, NOTE, NAME = 500, 2_000, 700, 500, 1_500, 500, 250
"""Characters shown of each; a longer text is cut, and says so."""
BEFORE_QUOTE = 150
"""Characters of a clause shown before its first quote."""
PARAGRAPH = 700
"""Most characters of the paragraph that the first quote is shown in."""
MAX_NOTES = 5
"""Most notes of the short form."""
INFORMING = {
    NoteKind.NOTE_KIND_UNCALIBRATED,
    NoteKind.NOTE_KIND_HIDDEN_TEXT,
    NoteKind.NOTE_KIND_LEFT_OUT,
}
"""Notes that warn of nothing in a quote."""
TOLD = {NoteKind.NOTE_KIND_ASKED_OF_EACH, NoteKind.NOTE_KIND_DOCUMENT_SILENT}
"""Notes whose words stand elsewhere in the short form."""
BLANK_LINE = "\n\n"
ANSWER, RELATED, SILENT = "Answer", "Possibly related", "Not addressed"
MODELS_WORDS = "In the model's words (the quotes decide)"
"""Heads the summary, which goes first where not all fits: it stands beside its quotes, or not at all."""
VERDICTS = {Outcome.OUTCOME_ANSWERED: ANSWER, Outcome.OUTCOME_REFUSED: SILENT}
"""What notifications say, by outcome; everything else is only related."""
NEAREST = "Nearest Clauses (not an answer)"
LOOKING = "Looking in the documents …"
BUSY = "Too many questions from Slack are being answered. Ask again in a minute."
UNKNOWN_WORKSPACE = (
    "This workspace is not connected to Clausegate, so nothing was asked. Whoever runs Clausegate can connect"
    " it; its id is {team}."
)
KEY_REFUSED = (
    "The key that connects this workspace to Clausegate is no longer accepted, or may not ask. Whoever runs"
    " Clausegate can give it another."
)
"""In place of what a caller is told who sends a credential: nobody in Slack does."""
HELP = (
    "Ask a question, and get an answer with the words of the documents, or a refusal when they are silent:\n"
    "{name} May a subscriber display delayed data without a fee?\n"
    "{name} in:cme,opra What is the audit period?   (only these sources)\n"
    "{name} to:channel What is the audit period?   (everybody in the channel sees the answer)\n"
    "{name} show:all What is the audit period?   (with clauses, definitions and all notes)"
)


def told(text: str) -> Json:
    """A sentence of ours for the one who asks; nothing in it is foreign but what was checked."""
    return {"response_type": "ephemeral", "text": text}


def answer_message(response: QueryResponse, question: Question) -> Json:
    """The answer or the refusal."""
    verdict = VERDICTS.get(response.outcome, RELATED)
    if response.HasField("refusal"):
        sections = (_refusal if question.show_all else _short_refusal)(response.refusal)
    else:
        sections = (_answer if question.show_all else _short_answer)(response)
    metadata = response.metadata
    footer = [line(f"query {metadata.query_id} · trace {metadata.trace_id or 'none'}")]
    return _message(verdict, question, [*sections, Section("", tuple(footer), 1)])


def failure_message(error: ServiceError, question: Question, trace_id: str) -> Json:
    """Why there is no answer, with the reason's name and the trace to look for."""
    again = f" Try again in {error.retry_after_seconds:g} s." if error.retry_after_seconds else ""
    refused = error.code in ("UNAUTHENTICATED", "PERMISSION_DENIED")
    said = line(
        "Not answered: ",
        foreign(KEY_REFUSED if refused else error.message, NOTE),
        f"{again} ({error.reason}, trace {trace_id or 'none'})",
    )
    return _message("Not answered", question, [Section("", (said,), 1)])


def _message(verdict: str, question: Question, sections: Iterable[Section]) -> Json:
    """`text` is what notifications show; nothing foreign is in it, since Slack looks for markup there."""
    asked = Section("", (line(foreign(question.text, QUESTION, italic=True)),), 0)
    return {
        "response_type": "in_channel" if question.to_channel else "ephemeral",
        "replace_original": False,
        "text": f"Clausegate: {verdict}",
        "blocks": fitted([asked, *sections]),
    }


def _short_answer(response: QueryResponse) -> list[Section]:
    """The first quote within its paragraph, the further ones, which documents are silent, and what warns.

    Where not all fit, further quotes are left out first: what warns of those that are shown has to stay.
    """
    citations = {citation.number: citation for citation in response.citations}
    numbers = [(said, n) for said in response.statements for n in said.citation_numbers if n in citations]
    leading = numbers[0][1] if numbers else 0
    firm, related = (
        [
            _leading(citations[n], response.supporting_clauses) if n == leading else _citation(citations[n])
            for n in dict.fromkeys(n for said, n in numbers if said.possibly_related is is_related)
        ]
        for is_related in (False, True)
    )
    counted = [_note(note) for note in response.notes if note.kind == NoteKind.NOTE_KIND_ASKED_OF_EACH]
    warnings = [note for note in response.notes if note.kind not in INFORMING | TOLD]
    told = sum(note.kind in TOLD for note in response.notes)
    left_out = _left_out(
        (len(response.supporting_clauses), "supporting clause"),
        (len(response.definitions), "definition"),
        (len(response.notes) - told - len(warnings[:MAX_NOTES]), "note"),
    )
    return [
        Section("", tuple(counted), 2),
        Section(MODELS_WORDS, tuple(_summary(response)), 8),
        Section(ANSWER, tuple(firm), 6),
        Section(RELATED, tuple(related), 7),
        Section(SILENT, tuple(_silent(response.documents)), 5),
        Section("Notes", tuple(map(_note, warnings[:MAX_NOTES])), 4),
        Section("", tuple(left_out), 3),
    ]


def _summary(response: QueryResponse) -> Iterator[Item]:
    """The sentences with the numbers of their quotes; where several documents were asked, with the label."""
    labels = {citation.number: citation.document_label for citation in response.citations}
    for sentence in response.summary:
        label = f"{labels.get(sentence.citation_numbers[0], '')}: " if response.documents else ""
        named = foreign(label, NAME) if label else ()
        yield line(named, foreign(sentence.text, STATEMENT), _numbers(sentence.citation_numbers))


def _leading(citation: Citation, clauses: Iterable[SupportingClause]) -> Item:
    """A quote in bold within its paragraph; alone where that is long, or what governs it stands elsewhere."""
    quote = foreign(citation.quote, QUOTE, bold=True)
    for clause in clauses:
        governed = len(citation.parts) != 1 or clause.context_before or clause.context_after
        if clause.chunk_id == citation.chunk_id and not governed:
            paragraph = _paragraph(citation, clause)
            if 0 < sum(units(run.text) for run in paragraph) <= PARAGRAPH:
                quote = paragraph
    return replace(_citation(citation), quote=quote)


def _paragraph(citation: Citation, clause: SupportingClause) -> tuple[Run, ...]:
    """The paragraph that a quote of one part stands in; nothing where the clause does not hold the quote."""
    start, end = (at - clause.span.start for at in (citation.parts[0].span.start, citation.parts[0].span.end))
    if start < 0 or clause.text[start:end] != citation.quote:
        return ()
    before = clause.text[:start].rpartition(BLANK_LINE)[2]
    after = clause.text[end:].partition(BLANK_LINE)[0]
    texts = ((before, False), (citation.quote, True), (after, False))
    return tuple(run for text, bold in texts if text for run in foreign(text, PARAGRAPH, bold=bold))


def _silent(documents: Iterable[DocumentAnswer]) -> Iterator[Item]:
    silent = (document for document in documents if document.outcome == Outcome.OUTCOME_REFUSED)
    return (line(foreign(document.label, NAME)) for document in silent)


def _short_refusal(refusal: Refusal) -> list[Section]:
    """Its sentence, where the nearest clauses stand, and how much was searched."""
    clauses = refusal.nearest_clauses
    searched = [next(_searched(refusal.absence))] if refusal.HasField("absence") else []
    return [
        Section(SILENT, tuple(_refused(refusal)), 2),
        Section(NEAREST, tuple(line(_place(clause)) for clause in clauses), 4),
        Section("Searched", tuple(searched), 5),
        Section("", tuple(_left_out((len(clauses), "nearest clause"))), 3),
    ]


def _left_out(*counts: tuple[int, str]) -> Iterator[Item]:
    """How much is left out, and how to see it."""
    named = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in counts if number)
    if named:
        yield line((Run(f"Not shown: {named}. Ask with {SHOW_ALL} to see all of it.", italic=True),))


def _answer(response: QueryResponse) -> list[Section]:
    """Notes stay where citations do not fit: they are short, and an answer without them says too much."""
    quotes = {citation.number: citation for citation in response.citations}
    definitions = [item for definition in response.definitions for item in _definition(definition, quotes)]
    firm = [_statement(statement) for statement in response.statements if not statement.possibly_related]
    related = [_statement(statement) for statement in response.statements if statement.possibly_related]
    return [
        Section(MODELS_WORDS, tuple(_summary(response)), 8),
        Section(ANSWER, tuple(firm), 2),
        Section(RELATED, tuple(related), 2),
        Section(SILENT, tuple(_silent(response.documents)), 7),
        Section("Supporting Clauses", tuple(map(_clause, response.supporting_clauses)), 6),
        Section("Definitions", tuple(definitions), 5),
        Section("Citations", tuple(map(_citation, response.citations)), 4),
        Section("Notes", tuple(map(_note, response.notes)), 3),
    ]


def _refusal(refusal: Refusal) -> list[Section]:
    searched = _searched(refusal.absence) if refusal.HasField("absence") else ()
    return [
        Section(SILENT, tuple(_refused(refusal)), 2),
        Section(NEAREST, tuple(map(_clause, refusal.nearest_clauses)), 3),
        Section("Searched", tuple(searched), 4),
    ]


def _refused(refusal: Refusal) -> Iterator[Item]:
    """The sentence of a refusal, and what is missing."""
    yield line(foreign(refusal.message, STATEMENT, bold=True))
    if refusal.missing:
        yield line(foreign(refusal.missing, NOTE))


def _statement(statement: Statement) -> Item:
    prefixes = "".join(f"[{prefix}]" for prefix in statement.source_prefixes)
    return line(
        foreign(prefixes, NAME, bold=True),
        " ",
        foreign(statement.text, STATEMENT),
        _numbers(statement.citation_numbers),
    )


def _clause(clause: SupportingClause) -> Item:
    """A long one begins shortly before the first of its quotes."""
    skipped = 0
    if clause.quoted and len(clause.text) > CLAUSE:
        skipped = max(0, clause.quoted[0].start - clause.span.start - BEFORE_QUOTE)
        if skipped:  # to where a word begins
            skipped = clause.text.find(" ", skipped, skipped + BEFORE_QUOTE) + 1 or skipped
    before = (Run(f"[{skipped:,} characters before] … ", italic=True),) if skipped else ()
    leading = [run for part in clause.context_before for run in (*foreign(part.text, CONTEXT), Run(" … "))]
    following = [run for part in clause.context_after for run in (Run(" … "), *foreign(part.text, CONTEXT))]
    text = foreign(clause.text[skipped:], CLAUSE)
    return line(_place(clause), quote=(*leading, *before, *text, *following))


def _definition(used: DefinitionInUse, quotes: Mapping[int, Citation]) -> Iterator[Item]:
    term = foreign(used.term, NAME, bold=True)
    by = (Run(" used by "), *foreign(used.used_by, NAME)) if used.used_by else ()
    number = used.citation_number
    yield line(term, by, _numbers([number]), quote=foreign(quotes[number].quote, CLAUSE))
    for number in used.conflicting_citation_numbers:
        yield line(term, " otherwise", _numbers([number]), quote=foreign(quotes[number].quote, CLAUSE))


def _citation(citation: Citation) -> Item:
    return line(f"[{citation.number}] ", _place(citation), quote=foreign(citation.quote, QUOTE))


def _note(note: Note) -> Item:
    return line(foreign(note.text, NOTE), _numbers(note.citation_numbers))


def _numbers(numbers: Iterable[int]) -> str:
    return "".join(f" [{number}]" for number in numbers)


def _place(where: Any) -> tuple[Run, ...]:
    """Source, document, section and pages of a clause or a citation, which name them alike."""
    pages = ""
    if where.HasField("page"):
        crosses = where.last_page != where.page
        pages = f", pp. {where.page}–{where.last_page}" if crosses else f", p. {where.page}"
    return (
        *foreign(f"[{where.source.upper()}] ", NAME, bold=True),
        *foreign(where.document_label or where.title, NAME, bold=True),
        Run(", "),
        *foreign(where.section, NAME),
        *([Run(pages)] if pages else []),
    )


def _searched(absence: AbsenceEvidence) -> Iterator[Item]:
    pages = f", {absence.pages_searched:,} pages" if absence.pages_searched else ""
    unreadable = f", {absence.unreadable_pages:,} of them unreadable" if absence.unreadable_pages else ""
    yield line(f"{absence.documents_searched:,} documents{pages}{unreadable}")
    counts = ", ".join(f"“{hits.term}” in {hits.chunks}" for hits in absence.term_hits)
    if counts:
        yield line("Chunks with the question's words: ", foreign(counts, NOTE))
