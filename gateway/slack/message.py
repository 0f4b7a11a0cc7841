"""An answer, a refusal or a failure as a message of Slack: a projection of the one response.

Sections and order are those of the other projections: Answer, Supporting Clauses, Definitions, Citations and
Notes; of a refusal its sentence, the nearest clauses, and what was searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chassis.errors import ServiceError
from clausegate.answer.v1.answer_pb2 import (
    AbsenceEvidence,
    DefinitionInUse,
    Note,
    Outcome,
    Refusal,
    Statement,
    SupportingClause,
)
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from gateway.slack.blocks import Item, Json, Run, Section, fitted, foreign, line
from gateway.slack.command import Question

QUESTION, STATEMENT, CLAUSE, CONTEXT, QUOTE, NOTE, NAME = 500, 2_000, 700, 500, 1_500, 500, 250
"""Characters shown of each; a longer text is cut, and says so."""
BEFORE_QUOTE = 150
"""Characters of a clause shown before its first quote."""
RELATED = "Possibly related"
VERDICTS = {Outcome.OUTCOME_ANSWERED: "Answer", Outcome.OUTCOME_REFUSED: "Not addressed"}
"""What notifications say, by outcome; everything else is only related."""
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
    "{name} to:channel What is the audit period?   (everybody in the channel sees the answer)"
)


def told(text: str) -> Json:
    """A sentence of ours for the one who asks; nothing in it is foreign but what was checked."""
    return {"response_type": "ephemeral", "text": text}


def answer_message(response: QueryResponse, question: Question) -> Json:
    """The answer or the refusal."""
    verdict = VERDICTS.get(response.outcome, RELATED)
    sections = _refusal(response.refusal) if response.HasField("refusal") else _answer(response)
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


def _answer(response: QueryResponse) -> list[Section]:
    """Notes stay where citations do not fit: they are short, and an answer without them says too much."""
    quotes = {citation.number: citation for citation in response.citations}
    definitions = [item for definition in response.definitions for item in _definition(definition, quotes)]
    firm = [_statement(statement) for statement in response.statements if not statement.possibly_related]
    related = [_statement(statement) for statement in response.statements if statement.possibly_related]
    return [
        Section("Answer", tuple(firm), 2),
        Section(RELATED, tuple(related), 2),
        Section("Supporting Clauses", tuple(map(_clause, response.supporting_clauses)), 6),
        Section("Definitions", tuple(definitions), 5),
        Section("Citations", tuple(map(_citation, response.citations)), 4),
        Section("Notes", tuple(map(_note, response.notes)), 3),
    ]


def _refusal(refusal: Refusal) -> list[Section]:
    said = [
        line(foreign(refusal.message, STATEMENT, bold=True)),
        *([line(foreign(refusal.missing, NOTE))] if refusal.missing else []),
    ]
    searched = _searched(refusal.absence) if refusal.HasField("absence") else ()
    return [
        Section("Not addressed", tuple(said), 2),
        Section("Nearest Clauses (not an answer)", tuple(map(_clause, refusal.nearest_clauses)), 3),
        Section("Searched", tuple(searched), 4),
    ]


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
