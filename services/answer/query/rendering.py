"""Puts an answer into words for people: plain text and Markdown, made from its fields alone.

Quotes are verbatim in `Citation.quote`; here runs of white space in them become one space, so that a quote
stays on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corpus.citations import Citation
from services.answer.answers import Answer, DryRun, Note, Refusal, StageEstimate, Statement, SupportingClause
from services.answer.parts import JOINT

POSSIBLY_RELATED = "No passage clearly answers this question. Possibly related:"
ALSO_RELATED = "Possibly related:"

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~]|&(?=#?\w+;)|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
"""What may begin markup, and what makes readers of GitHub's Markdown take bare addresses for links."""
_BEGINNING = re.compile(r"^(?=[-+=:])|^\d+(?=[.)](?:\s|$))")
"""What comes before a character that makes a line a rule, a heading, a row of a table or an item of a list,
such as `---`, `===`, `:-:`, `- a` and `12. a`."""


def render_text(answer: Answer | DryRun) -> str:
    """One statement a line as `[SOURCE] text [1]`; what is only possibly related comes last, below a caveat.

    For a refusal its message and what is missing, for a dry run what answering would cost.
    """
    if isinstance(answer, DryRun):
        return "\n".join([_total(answer), *map(_stage, answer.stages)])
    if answer.refusal is not None:
        return f"{answer.refusal.message} {answer.refusal.missing}"
    return "\n".join(line for caveat, lines in _statements(answer) for line in (*caveat, *lines))


def render_markdown(answer: Answer | DryRun) -> str:
    """The sections Answer, Supporting Clauses, Definitions, Citations and Notes; empty ones are left out.

    A refusal has Answer, Nearest Clauses and Searched instead, a dry run has Dry Run.
    """
    if isinstance(answer, DryRun):
        stages = [f"- {_escaped(_stage(stage))}" for stage in answer.stages]
        return _document([("Dry Run", [_total(answer), "", *stages])])
    if answer.refusal is not None:
        return _document(_refusal_sections(answer.refusal))
    return _document(
        [
            ("Answer", list(_items(answer))),
            (
                "Supporting Clauses",
                [line for clause in answer.supporting_clauses for line in _clause(clause)],
            ),
            ("Definitions", list(_definitions(answer))),
            ("Citations", [_citation(citation) for citation in answer.citations]),
            ("Notes", [f"- {_escaped(_note(note))}" for note in answer.notes]),
        ]
    )


def _total(dry_run: DryRun) -> str:
    if not dry_run.stages:
        return "Nothing was sent to a model. Answering this question would send nothing to a model."
    unknown = any(not stage.priced for stage in dry_run.stages)
    known = "; the price of a model is not known" if unknown else ""
    return f"Nothing was sent to a model. Answering would cost at most ${dry_run.max_cost_usd:.4f}{known}."


def _stage(estimate: StageEstimate) -> str:
    cost = f"${estimate.max_cost_usd:.4f}" if estimate.priced else "no price"
    sent, back = estimate.prompt_tokens, estimate.max_completion_tokens
    return f"{estimate.stage}: at most {sent:,} tokens to {estimate.model}, {back:,} back, {cost}"


def _statements(answer: Answer) -> Iterator[tuple[list[str], list[str]]]:
    """The statements as lines, and behind them, below a caveat, those that nobody may take for an answer."""
    firm = [_statement(statement) for statement in answer.statements if not statement.possibly_related]
    related = [_statement(statement) for statement in answer.statements if statement.possibly_related]
    if firm:
        yield [], firm
    if related:
        yield [ALSO_RELATED if firm else POSSIBLY_RELATED], related


def _items(answer: Answer) -> Iterator[str]:
    for caveat, lines in _statements(answer):
        yield from (f"\n{line}\n" if line == ALSO_RELATED else f"{line}\n" for line in caveat)
        yield from (f"- {_escaped(line)}" for line in lines)


def _document(sections: Iterable[tuple[str, list[str]]]) -> str:
    parts = ("\n".join([f"## {title}", "", *lines, ""]) for title, lines in sections if lines)
    return "\n".join(parts)


def _statement(statement: Statement) -> str:
    prefixes = "".join(f"[{prefix}]" for prefix in statement.source_prefixes)
    return f"{prefixes} {_on_one_line(statement.text)}{_numbers(statement.citation_numbers)}"


def _numbers(numbers: Iterable[int]) -> str:
    return "".join(f" [{number}]" for number in numbers)


def _clause(clause: SupportingClause) -> Iterator[str]:
    grade = "" if clause.grade is None else f", grade {clause.grade}"
    chance = "" if clause.probability is None else f", probability {clause.probability:.2f}"
    place = _place(clause.document_label, clause.section, clause.page, clause.last_page)
    yield f"**{_escaped(f'[{clause.source.upper()}] {place}')}**{grade}{chance}"
    yield ""
    yield from (f"> {_escaped_line(line.strip())}" for line in _text_of(clause) if line.strip())
    yield ""


def _text_of(clause: SupportingClause) -> Iterator[str]:
    """The lines of a clause, between those of what governs it from outside."""
    yield from (f"{_on_one_line(part.text)}{JOINT.rstrip()}" for part in clause.context_before)
    yield from clause.text.splitlines()
    yield from (f"{JOINT.lstrip()}{_on_one_line(part.text)}" for part in clause.context_after)


def _definitions(answer: Answer) -> Iterator[str]:
    quotes = {citation.number: citation for citation in answer.citations}
    for definition in answer.definitions:
        used_by = f" (used by {_escaped(definition.used_by)})" if definition.used_by else ""
        yield f"- **{_escaped(definition.term)}**{used_by}: {_quoted(quotes[definition.citation_number])}"
        yield from (
            f"  - otherwise: {_quoted(quotes[number])}" for number in definition.conflicting_citation_numbers
        )
    if answer.definitions_left_out:
        yield f"- Definitions of other terms used that were left out: {answer.definitions_left_out}"


def _quoted(citation: Citation) -> str:
    return _escaped(_on_one_line(citation.quote) + _numbers([citation.number]))


def _note(note: Note) -> str:
    return note.text + _numbers(note.citation_numbers)


def _citation(citation: Citation) -> str:
    place = _place(citation.document_label, citation.section, citation.page, citation.last_page)
    head = f"[{citation.number}] [{citation.source.upper()}] {place}"
    return f"- {_escaped(head)}: “{_escaped(_on_one_line(citation.quote))}”"


def _refusal_sections(refusal: Refusal) -> Iterator[tuple[str, list[str]]]:
    yield "Answer", [_escaped(refusal.message), "", _escaped(refusal.missing)]
    yield "Nearest Clauses", [line for clause in refusal.nearest_clauses for line in _clause(clause)]
    absence = refusal.absence
    counts = ", ".join(f"“{hits.term}” in {hits.chunks}" for hits in absence.term_hits)
    pages = f", {absence.pages_searched} pages" if absence.pages_searched else ""
    unreadable = f", {absence.unreadable_pages} of them unreadable" if absence.unreadable_pages else ""
    lines = [f"- {absence.documents_searched} documents{pages}{unreadable}"]
    yield (
        "Searched",
        [*lines, *([f"- Chunks with the question's words: {_escaped(counts)}"] if counts else [])],
    )


def _place(label: str, section: str, page: int | None, last_page: int | None) -> str:
    pages = "" if page is None else f", p. {page}" if page == last_page else f", pp. {page}–{last_page}"
    return f"{label}, {section}{pages}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Text of documents is data: nothing in it may become markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def _escaped_line(text: str) -> str:
    """The same for text that begins a line, where more means something."""
    return _BEGINNING.sub(r"\g<0>\\", _escaped(text))
