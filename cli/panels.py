"""The answer and the refusal as panels for people: projections of one `QueryResponse`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from clausegate.answer.v1.answer_pb2 import (
    AbsenceEvidence,
    DefinitionInUse,
    DocumentAnswer,
    GateRule,
    GateTier,
    Metadata,
    Note,
    NoteKind,
    Outcome,
    Refusal,
    RefusalReason,
    Statement,
    SupportingClause,
)
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.span_pb2 import Span
from cli.costs import cost, latency, model_notes
from cli.output import counted
from cli.passages import Barred, highlighted, name_of, reflow

GRADES = {
    0: ("hardly concerns the question", "dim"),
    1: ("touches on the question", "yellow"),
    2: ("bears on the question", "cyan"),
    3: ("speaks to the question", "green"),
}
RULES = {
    GateRule.GATE_RULE_NOTHING_RETRIEVED: "nothing was retrieved",
    GateRule.GATE_RULE_BELOW_THRESHOLD: "no {passage} reaches the threshold",
    GateRule.GATE_RULE_TOO_FEW_CHUNKS: "too few {passage}s reach the threshold",
    GateRule.GATE_RULE_SCORE_TOO_LOW: "the best score is too low",
    GateRule.GATE_RULE_RATIO_TOO_LOW: "the best score does not stand out from the second",
}
"""Why the gate refused, by its rule; see `broken_rule`."""
REASONS = {
    RefusalReason.REFUSAL_REASON_CONFIDENCE_TOO_LOW: "a model that was shown the best clauses declined",
    RefusalReason.REFUSAL_REASON_EMPTY_CONTEXT_AFTER_BUDGET: "no relevant clause fits the token budget",
    RefusalReason.REFUSAL_REASON_VALIDATION_FAILED: "no statement kept its quotes through verification",
}
"""Why a question that had passed the gate was refused."""
RELATED = "Possibly related"
MODELS_WORDS = "In the model's words (the quotes decide)"
"""Heads the summary."""
VERDICTS = {Outcome.OUTCOME_ANSWERED: "Answer", Outcome.OUTCOME_REFUSED: "Not addressed"}
"""What heads the panel, by outcome; everything else is only related."""
MAX_NOTES = 5
BLANK_LINE = "\n\n"
INFORMING = {NoteKind.NOTE_KIND_UNCALIBRATED, NoteKind.NOTE_KIND_HIDDEN_TEXT, NoteKind.NOTE_KIND_LEFT_OUT}
"""Notes that warn of nothing in a quote."""
ANSWER_COLOUR = "green"
REFUSAL_COLOUR = "yellow"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the panel answers."""

    question: str
    sources: tuple[str, ...]
    """Sources that were asked for; empty means all."""
    full: bool
    """Whether everything is shown, rather than what a reader needs first."""


def response_panel(response: QueryResponse, asked: Asked) -> Panel:
    """The whole response, answered or refused."""
    if response.HasField("refusal"):
        sections = (_refusal_sections if asked.full else _short_refusal)(response.refusal)
    else:
        sections = (_answer_sections if asked.full else _short_answer)(response)
    verdict = VERDICTS.get(response.outcome, RELATED)
    colour = ANSWER_COLOUR if response.outcome == Outcome.OUTCOME_ANSWERED else REFUSAL_COLOUR
    title = Text.assemble((verdict, f"bold {colour}"), (f" · {_sources(asked)}", "bold"))
    content = [question_text(asked.question), *sections, *_model_notes(response.metadata)]
    return framed(title, content, _footer(response), colour)


def framed(title: Text, content: Iterable[RenderableType], footer: str, colour: str) -> Panel:
    """A panel around what a command found."""
    return Panel(
        Group(*content),
        box=ROUNDED,
        title=title,
        title_align="left",
        subtitle=Text(footer, "dim"),
        subtitle_align="right",
        border_style=colour,
        padding=(1, 2),
    )


def question_text(question: str) -> Text:
    """The question above its answer."""
    return Text(reflow(question.strip()), "italic")


def _short_answer(response: QueryResponse) -> Iterator[RenderableType]:
    """The first quote within its clause, a line for each further one, what warns, and what is folded."""
    citations = {citation.number: citation for citation in response.citations}
    numbers = [(said, n) for said in response.statements for n in said.citation_numbers if n in citations]
    leading = numbers[0][1] if numbers else 0
    yield from _headline(response)
    yield from _summary(response)
    for title, related in (("Answer", False), (RELATED, True)):
        own = dict.fromkeys(n for said, n in numbers if said.possibly_related is related)
        yield from section(title, (_quoted(citations[n], response, n == leading) for n in own))
    warnings = [note for note in response.notes if note.kind not in INFORMING]
    shown = warnings[:MAX_NOTES]
    more = [Text(f"and {len(warnings) - MAX_NOTES} more", "dim")] if len(warnings) > MAX_NOTES else []
    yield from section("Notes", [*map(_note, shown), *more])
    yield from _folded(
        (len(response.supporting_clauses), "supporting clause"),
        (len(response.definitions), "definition"),
        (len(response.notes) - len(shown), "note"),
    )


def _summary(response: QueryResponse) -> Iterator[RenderableType]:
    """What a model makes of the quotes below; where several documents were asked, of which."""
    cited = response.citations if response.documents else ()
    names = {citation.number: f"{reflow(name_of(citation))}: " for citation in cited}
    yield from section(
        MODELS_WORDS,
        (
            Text.assemble(
                (names.get(sentence.citation_numbers[0], ""), "cyan"),
                reflow(sentence.text),
                ("".join(f" [{number}]" for number in sentence.citation_numbers), "bold blue"),
            )
            for sentence in response.summary
        ),
    )


def _headline(response: QueryResponse) -> Iterator[RenderableType]:
    """The words of each document's first quote that answer by themselves; nothing beside a summary."""
    if response.summary:
        return
    firm = {n for said in response.statements if not said.possibly_related for n in said.citation_numbers}
    for citation in response.citations:
        if citation.highlights and citation.number in firm:
            words = " … ".join(reflow(citation.quote[mark.start : mark.end]) for mark in citation.highlights)
            of = f"{reflow(name_of(citation))}: " if response.documents else ""
            yield Text()
            yield Text.assemble(
                (of, "cyan"), (words, f"bold {ANSWER_COLOUR}"), (f" [{citation.number}]", "bold blue")
            )


def _quoted(citation: Citation, response: QueryResponse, leading: bool) -> RenderableType:
    """Where a quote stands, and its words; those of the leading one with what is next to them."""
    if not leading:
        return _citation(citation, set())
    words = _within_clause(citation, response.supporting_clauses)
    return Group(_citation(citation, {citation.quote}), Barred(words, ANSWER_COLOUR))


def _within_clause(citation: Citation, clauses: Iterable[SupportingClause]) -> Text:
    """The quote in bold within its clause; alone where what governs it stands elsewhere."""
    spans = [part.span for part in citation.parts]
    for clause in clauses:
        inside = all(clause.span.start <= span.start and span.end <= clause.span.end for span in spans)
        governed = clause.context_before or clause.context_after
        if clause.chunk_id == citation.chunk_id and spans and inside and not governed:
            return highlighted(_paragraph(clause, spans), full=False)
    return Text(reflow(citation.quote), "bold")


def _paragraph(clause: SupportingClause, quoted: Sequence[Span]) -> SupportingClause:
    """The paragraph of a clause that holds these quotes, or the paragraphs from the first to the last."""
    start, end = quoted[0].start - clause.span.start, quoted[-1].end - clause.span.start
    first = start - len(clause.text[:start].rpartition(BLANK_LINE)[2])
    text = clause.text[first:end] + clause.text[end:].partition(BLANK_LINE)[0]
    span = Span(start=clause.span.start + first, end=clause.span.start + first + len(text))
    return SupportingClause(text=text, span=span, quoted=quoted)


def _short_refusal(refusal: Refusal) -> Iterator[RenderableType]:
    """The refusal's sentence, where the nearest clauses stand, and what was searched."""
    yield Text()
    yield Text(refusal.message, f"bold {REFUSAL_COLOUR}")
    yield Text(reflow(refusal.missing))
    yield from section(
        "Nearest clauses (not an answer)",
        (place(name_of(clause), clause.section, _pages(clause)) for clause in refusal.nearest_clauses),
    )
    if refusal.HasField("absence"):
        yield from section("Searched", [_searched(refusal.absence)])
    yield Text()
    yield Text("why, and the words of the clauses: --full", "dim")


def _folded(*counts: tuple[int, str]) -> Iterator[RenderableType]:
    """What is left out, and how to see it."""
    if named := ", ".join(counted(number, thing) for number, thing in counts if number):
        yield Text()
        yield Text(f"{named}: --full", "dim")


def _answer_sections(response: QueryResponse) -> Iterator[RenderableType]:
    """Answer, Supporting Clauses, Definitions, Citations and Notes, the empty ones left out."""
    citations = {citation.number: citation for citation in response.citations}
    yield from _headline(response)
    yield from _summary(response)
    if not response.documents:
        yield from _said(response.statements, "")
    for document in response.documents:
        yield from _document(document, response.statements)
    yield from section("Supporting clauses", _clauses(response.supporting_clauses))
    yield from section("Definitions", (_definition(used, citations) for used in response.definitions))
    shown = _shown_quotes(response)
    yield from section("Citations", (_citation(citation, shown) for citation in response.citations))
    yield from section("Notes", (_note(note) for note in response.notes))


def _said(statements: Sequence[Statement], of: str) -> Iterator[RenderableType]:
    """Statements that answer, and those that are only related, with words behind their headings."""
    yield from section(
        f"Answer{of}", (_statement(statement) for statement in statements if not statement.possibly_related)
    )
    yield from section(
        f"{RELATED}{of}", (_statement(statement) for statement in statements if statement.possibly_related)
    )


def _document(document: DocumentAnswer, statements: Sequence[Statement]) -> Iterator[RenderableType]:
    """What one of several documents says."""
    label = f" · {reflow(document.label)}"
    if document.outcome == Outcome.OUTCOME_REFUSED:
        silent = VERDICTS[Outcome.OUTCOME_REFUSED]
        yield from section(f"{silent}{label}", [Text(reflow(document.document_id), "cyan")])
    yield from _said([statements[number - 1] for number in document.statement_numbers], label)


def _refusal_sections(refusal: Refusal) -> Iterator[RenderableType]:
    """The refusal's sentence, the rule that fired, the nearest clauses, and what was searched."""
    yield Text()
    yield Text(refusal.message, f"bold {REFUSAL_COLOUR}")
    yield Text(reflow(refusal.missing))
    yield from section("Why", [_gate(refusal)])
    yield from section("Nearest clauses (not an answer)", _clauses(refusal.nearest_clauses))
    if refusal.HasField("absence"):
        yield from section("Searched", _absence(refusal.absence))


def section(title: str, items: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """A rule with a title and what stands under it; nothing without items."""
    shown = list(items)
    if shown:
        yield Text()
        yield Rule(Text(title, "bold"), align="left", style="dim", characters="─")
        yield from shown


def _statement(statement: Statement) -> RenderableType:
    prefixes = " ".join(f"[{prefix}]" for prefix in statement.source_prefixes)
    numbers = " ".join(f"[{number}]" for number in statement.citation_numbers)
    return Text.assemble(
        (f"{prefixes} ", "bold magenta"), (reflow(statement.text), "bold"), (f" {numbers}", "bold blue")
    )


def _clauses(clauses: Iterable[SupportingClause]) -> Iterator[RenderableType]:
    for number, clause in enumerate(clauses):
        if number:
            yield Text()
        yield place(name_of(clause), clause.section, _pages(clause))
        words, style = _grade(clause)
        yield Barred(Text(words, style), style)
        yield from (Barred(Text(f"{reflow(part.text)} …", "bold"), style) for part in clause.context_before)
        yield Barred(highlighted(clause, full=True), style)
        yield from (Barred(Text(f"… {reflow(part.text)}", "bold"), style) for part in clause.context_after)


def _grade(clause: SupportingClause) -> tuple[str, str]:
    if not clause.HasField("grade"):
        return f"not graded, score {clause.score:.2f}", "dim"
    return GRADES[clause.grade]


def _definition(used: DefinitionInUse, citations: dict[int, Citation]) -> RenderableType:
    text = Text.assemble((reflow(used.term), "bold"), (f" [{used.citation_number}]", "bold blue"))
    if used.used_by:
        text.append(f" (used by {reflow(used.used_by)})", "dim")
    text.append(f"\n{_quote(citations, used.citation_number)}")
    for number in used.conflicting_citation_numbers:
        text.append("\nbut ", "bold red").append(f"[{number}] ", "bold blue").append(
            _quote(citations, number)
        )
    return text


def _quote(citations: dict[int, Citation], number: int) -> str:
    return reflow(citations[number].quote) if number in citations else ""


def _shown_quotes(response: QueryResponse) -> set[str]:
    """Quotes that stand in the sections above the citations already."""
    defined = {
        n for used in response.definitions for n in (used.citation_number, *used.conflicting_citation_numbers)
    }
    return {statement.text for statement in response.statements} | {
        citation.quote for citation in response.citations if citation.number in defined
    }


def _citation(citation: Citation, shown: set[str]) -> RenderableType:
    pages = _page_range(citation.page, citation.last_page) if citation.HasField("page") else ""
    where = place(name_of(citation), citation.section, pages)
    head = Text.assemble((f"[{citation.number}] ", "bold blue"), where)
    if citation.quote in shown:
        return head
    return Group(head, Padding(Text(reflow(citation.quote), "italic"), (0, 0, 0, 4)))


def _model_notes(metadata: Metadata) -> Iterator[RenderableType]:
    notes = list(model_notes(metadata))
    yield from section("The model", (Text.assemble(("! ", "bold yellow"), note) for note in notes))


def citation_lines(citations: Iterable[Citation]) -> Iterator[RenderableType]:
    """Every citation with its quote."""
    return (_citation(citation, set()) for citation in citations)


def _note(note: Note) -> RenderableType:
    numbers = "".join(f" [{number}]" for number in note.citation_numbers)
    return Text.assemble(("! ", "bold yellow"), reflow(note.text), (numbers, "bold blue"))


def why_refused(refusal: Refusal) -> str:
    """What a question was refused for: the gate's rule, or what came after a gate that passed."""
    unknown = "for a reason that this version does not know"
    if refusal.reason == RefusalReason.REFUSAL_REASON_NO_DOCUMENT_NAMED:
        return "the question asks for a document by a name that none searched bears"
    if refusal.gate.rule == GateRule.GATE_RULE_PASSED:
        return f"the gate passed; {REASONS.get(refusal.reason, unknown)}"
    return broken_rule(refusal.gate.rule, "clause") or unknown


def broken_rule(rule: GateRule.ValueType, passage: str) -> str:
    """What the rule found that refused, passages called as `passage`; empty for a rule that is not known."""
    return RULES.get(rule, "").format(passage=passage)


def _gate(refusal: Refusal) -> RenderableType:
    gate, text = refusal.gate, Text(why_refused(refusal))
    if gate.rule == GateRule.GATE_RULE_TOO_FEW_CHUNKS:
        text.append(f", {gate.chunks_above_threshold} of {gate.min_chunks_required}")
    if gate.HasField("top_score"):
        text.append(f": best score {gate.top_score:.3f}, needed {gate.threshold:.3f}")
    tier = "graded" if gate.tier == GateTier.GATE_TIER_GRADED else "raw scores"
    calibration = "" if gate.calibrated else ", not calibrated for this embedding model"
    return text.append(f" ({tier}{calibration})", "dim")


def _searched(absence: AbsenceEvidence) -> Text:
    documents, pages = absence.documents_searched, absence.pages_searched
    text = Text(f"{counted(documents, 'document')}, {counted(pages, 'page')}")
    if absence.unreadable_pages:
        text.append(f", {counted(absence.unreadable_pages, 'page')} without readable text", "bold red")
    return text


def _absence(absence: AbsenceEvidence) -> Iterator[RenderableType]:
    yield _searched(absence)
    if absence.term_hits:
        hits = Text("Clauses with  ", "dim")
        for hit in absence.term_hits:
            hits.append(f"{reflow(hit.term)} ").append(
                f"{hit.chunks:,}   ", "bold" if hit.chunks else "bold red"
            )
        yield hits


def place(document: str, section: str, pages: str) -> Text:
    """Where a passage stands."""
    text = Text.assemble((reflow(document), "cyan"), (" › ", "dim"), reflow(section))
    return text.append(f" · {pages}") if pages else text


def _pages(clause: SupportingClause) -> str:
    return _page_range(clause.page, clause.last_page) if clause.HasField("page") else ""


def _page_range(first: int, last: int) -> str:
    return f"pages {first}–{last}" if last > first else f"page {first}"


def _sources(asked: Asked) -> str:
    return ", ".join(source.upper() for source in asked.sources) or "all sources"


def _footer(response: QueryResponse) -> str:
    metadata = response.metadata
    grader = f"{metadata.grader} grading" if metadata.grader else "no grading"
    context = f"{metadata.context_tokens:,} tokens"
    parts = (metadata.model, grader, context, cost(response.usage), latency(metadata))
    return " · ".join(part for part in parts if part)
