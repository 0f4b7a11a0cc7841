"""Puts an answer into words for people: plain text, and Markdown short and in full, from its fields.

Quotes are verbatim in `Citation.quote`; here runs of white space in them become one space, so that a quote
stays on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from corpus.citations import Citation
from services.answer.answers import (
    AbsenceEvidence,
    Answer,
    DryRun,
    Note,
    NoteKind,
    Refusal,
    StageEstimate,
    Statement,
    SupportingClause,
)
from services.answer.parts import JOINT, MARKER

POSSIBLY_RELATED = "These passages bear on the question; it is not certain that they answer it:"
ALSO_RELATED = "Possibly related:"
SILENT = "This document does not address it."
MODELS_WORDS = "In the model's words (the quotes decide):"
"""Before a summary, wherever it is shown."""
PARAGRAPH = 400
"""Code points of a quote with what is shown of its paragraph; a longer quote stands alone."""
MAX_NOTES = 5
INFORMING = {NoteKind.UNCALIBRATED, NoteKind.HIDDEN_TEXT, NoteKind.LEFT_OUT, NoteKind.ASKED_OF_EACH}
"""Notes that warn of nothing in a quote; the short form leaves them out, or begins with them."""

GRADES = (
    "hardly concerns the question",
    "touches on the question",
    "bears on the question",
    "speaks to the question",
)
"""What the grades of passages, 0 to 3, mean."""

_BLANK = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[“\"A-Z])")
_ITEM = re.compile(rf"(?:^|\s){MARKER}")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~]|&(?=#?\w+;)|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
"""What may begin markup, and what makes readers of GitHub's Markdown take bare addresses for links."""
_BEGINNING = re.compile(r"^(?=[-+=:])|^\d+(?=[.)](?:\s|$))")
"""What comes before a character that makes a line a rule, a heading, a row of a table or an item of a list,
such as `---`, `===`, `:-:`, `- a` and `12. a`."""


def render_text(answer: Answer | DryRun) -> str:
    """One statement a line as `[SOURCE] text [1]`; what is only possibly related comes last, below a caveat.
    A model's summary stands above them, on a line that says so.

    Below the title of its document where the question names several; last the names that no document bears.
    For a refusal its message and what is missing, for a dry run what answering would cost.
    """
    if isinstance(answer, DryRun):
        return "\n".join([_total(answer), *map(_stage, answer.stages)])
    if answer.refusal is not None:
        return f"{answer.refusal.message} {answer.refusal.missing}"
    return "\n".join(_lines(answer))


def render_markdown(answer: Answer | DryRun) -> str:
    """A model's summary or the words that answer, the first quote in bold within its paragraph, a line for
    each further one and for what warns a reader, and last what is folded. A dry run is told in full."""
    if isinstance(answer, DryRun):
        return render_markdown_full(answer)
    blocks = _short_answer(answer) if answer.refusal is None else _short_refusal(answer.refusal)
    return "\n\n".join(blocks) + "\n"


def render_markdown_full(answer: Answer | DryRun) -> str:
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


def _headed(statements: Sequence[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """Statements, and behind them, below a caveat, those that nobody may take for an answer."""
    firm = [statement for statement in statements if not statement.possibly_related]
    related = [statement for statement in statements if statement.possibly_related]
    if firm:
        yield "", firm
    if related:
        yield ALSO_RELATED if firm else POSSIBLY_RELATED, related


def _groups(answer: Answer) -> Iterator[tuple[str, Sequence[Statement]]]:
    """The statements of each document that the question names, below its label; else all of them."""
    if not answer.documents:
        yield "", answer.statements
    for document in answer.documents:
        yield document.label, [answer.statements[number - 1] for number in document.statement_numbers]


def _lines(answer: Answer) -> Iterator[str]:
    yield from _told(answer, NoteKind.ASKED_OF_EACH)
    for label, statements in _groups(answer):
        if label:
            yield f"{label}:"
        if not statements:
            yield SILENT
        yield from _summary(answer, statements)
        for caveat, group in _headed(statements):
            yield from (*filter(None, [caveat]), *map(_statement, group))
    yield from _told(answer, NoteKind.NOT_NAMED)


def _items(answer: Answer) -> Iterator[str]:
    yield from (f"{_escaped(line)}\n" for line in _told(answer, NoteKind.ASKED_OF_EACH))
    for number, (label, statements) in enumerate(_groups(answer)):
        if label:
            yield "\n" * bool(number) + f"**{_escaped(label)}**\n"
        if not statements:
            yield SILENT
        yield from (f"{line}\n" for line in _above(answer, statements))
        for caveat, group in _headed(statements):
            if caveat:
                yield f"\n{caveat}\n" if caveat == ALSO_RELATED else f"{caveat}\n"
            yield from (f"- {_escaped(_statement(statement))}" for statement in group)
    yield from (f"\n{_escaped(line)}" for line in _told(answer, NoteKind.NOT_NAMED))


def _summary(answer: Answer, statements: Sequence[Statement]) -> Iterator[str]:
    """What a model makes of these statements, on one line and called so; nothing without a summary."""
    cited = {number for statement in statements for number in statement.citation_numbers}
    said = [sentence for sentence in answer.summary if cited.issuperset(sentence.citation_numbers)]
    if said:
        sentences = (f"{sentence.text}{_numbers(sentence.citation_numbers)}" for sentence in said)
        yield " ".join([MODELS_WORDS, *sentences])


def _above(answer: Answer, statements: Sequence[Statement]) -> list[str]:
    """What stands above quotes in Markdown: the summary, else the headline, else nothing."""
    summary = [_escaped(line) for line in _summary(answer, statements)]
    return summary or list(_headline(answer, statements))


def _headline(answer: Answer, statements: Sequence[Statement]) -> Iterator[str]:
    """The words of the first quote that answer by themselves, in bold; nothing where none are marked."""
    first = next((said for said in statements if not said.possibly_related), None)
    cited = {citation.number: citation for citation in answer.citations}
    own = cited[first.citation_numbers[0]] if first else None
    if own and own.highlights:
        words = (_escaped(_on_one_line(own.quote[mark.start : mark.end])) for mark in own.highlights)
        yield f"**{JOINT.join(words)}**{_escaped(_numbers([own.number]))}"


def _told(answer: Answer, kind: NoteKind) -> Iterator[str]:
    return (note.text for note in answer.notes if note.kind is kind)


def _short_answer(answer: Answer) -> Iterator[str]:
    """The blocks of the short form."""
    yield from map(_escaped, _told(answer, NoteKind.ASKED_OF_EACH))
    for label, statements in _groups(answer):
        of_document = f"{label} · " if label else ""
        yield from (f"{_escaped(of_document)}{line}" for line in _above(answer, statements))
        yield from _short_statements(statements, answer)
    warnings = [note for note in answer.notes if note.kind not in INFORMING]
    lines = [f"- {_escaped(_note(note))}" for note in warnings[:MAX_NOTES]]
    if len(warnings) > MAX_NOTES:
        lines.append(f"- and {len(warnings) - MAX_NOTES} more")
    if lines:
        yield "\n".join(lines)
    folded = (
        _counted(len(answer.supporting_clauses), "supporting clause"),
        _counted(len(answer.definitions), "definition"),
        _counted(len(answer.notes) - len(warnings[:MAX_NOTES]), "note"),
    )
    yield _folded(*folded)


def _short_statements(statements: Sequence[Statement], answer: Answer) -> Iterator[str]:
    """The first quote in its paragraph, and a line for each further one."""
    citations = {citation.number: citation for citation in answer.citations}
    document = ""
    for caveat, group in _headed(statements):
        if caveat:
            yield caveat
        numbers = dict.fromkeys(n for statement in group for n in statement.citation_numbers)
        cited = [citations[number] for number in numbers]
        if not document:
            document = cited[0].document
            yield _in_paragraph(cited[0], answer.supporting_clauses)
            yield _escaped(_head(cited.pop(0)))
        lines = []
        for citation in cited:
            lines.append(_citation(citation, within=citation.document == document))
            document = citation.document
        if lines:
            yield "\n".join(lines)


def _short_refusal(refusal: Refusal) -> Iterator[str]:
    yield _escaped(f"{refusal.message} {refusal.missing}")
    if refusal.nearest_clauses:
        nearest = (f"- {_escaped(_place(clause))}" for clause in refusal.nearest_clauses)
        yield "\n".join(["Nearest, and not an answer:", "", *nearest])
    yield f"Searched: {_searched(refusal.absence)}."
    if refusal.nearest_clauses:
        yield _folded("the words of these clauses")


def _folded(*what: str) -> str:
    """What the short form leaves out, and where it is."""
    named = ", ".join(filter(None, what))
    return (
        f"Not shown: {named} (ask with --full, or read markdown\\_full)." if named else "Nothing is left out."
    )


def _in_paragraph(citation: Citation, clauses: Iterable[SupportingClause]) -> str:
    """The quote in bold, between what stands around it in its paragraph."""
    parts = [_on_one_line(part.text) for part in citation.parts] or [_on_one_line(citation.quote)]
    room = PARAGRAPH - len(JOINT.join(parts))
    clause = next((clause for clause in clauses if clause.chunk_id == citation.chunk_id), None)
    before, after = _paragraph(citation, clause) if clause else ("", "")
    leading = _last_of(before, room // 2)
    following = _first_of(after, room - len(leading))
    quote = JOINT.join(f"**{_escaped(part)}**" for part in parts)
    return f"> {' '.join(filter(None, (_escaped_line(leading), quote, _escaped(following))))}"


def _paragraph(citation: Citation, clause: SupportingClause) -> tuple[str, str]:
    """What stands before and after a quote in its paragraph, as far as the clause holds it."""
    start = citation.parts[0].span.start if citation.parts else citation.span.start
    end = citation.parts[-1].span.end if citation.parts else citation.span.end
    before = clause.text[: max(0, start - clause.span.start)]
    after = clause.text[max(0, end - clause.span.start) :] if end > clause.span.start else ""
    return _on_one_line(_BLANK.split(before)[-1]), _on_one_line(_BLANK.split(after)[0])


def _last_of(text: str, room: int) -> str:
    """The last sentences of a text that there is room for, behind dots if not all are shown.

    Items of lists are not: without what leads into them they may say the opposite.
    """
    starts = (0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text))
    start = next(at for at in starts if at == len(text) or _fits(text[at:], room))
    return text[start:] if start == 0 else f"… {text[start:]}".rstrip()


def _first_of(text: str, room: int) -> str:
    """The same of its first sentences, with the dots behind them."""
    ends = (len(text), *(match.start() for match in reversed([*_SENTENCE_END.finditer(text)])), 0)
    end = next(at for at in ends if at == 0 or _fits(text[:at], room))
    return text if end == len(text) else f"{text[:end]} …".lstrip()


def _fits(text: str, room: int) -> bool:
    return len(text) <= room and not _ITEM.search(text)


def _document(sections: Iterable[tuple[str, list[str]]]) -> str:
    parts = ("\n".join([f"## {title}", "", *lines, ""]) for title, lines in sections if lines)
    return "\n".join(parts)


def _statement(statement: Statement) -> str:
    prefixes = "".join(f"[{prefix}]" for prefix in statement.source_prefixes)
    return f"{prefixes} {_on_one_line(statement.text)}{_numbers(statement.citation_numbers)}"


def _numbers(numbers: Iterable[int]) -> str:
    return "".join(f" [{number}]" for number in numbers)


def _clause(clause: SupportingClause) -> Iterator[str]:
    grade = "" if clause.grade is None else f", {GRADES[clause.grade]}"
    yield f"**{_escaped(f'[{clause.source.upper()}] {_place(clause)}')}**{grade}"
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


def _citation(citation: Citation, *, within: bool = False) -> str:
    return f"- {_escaped(_head(citation, within=within))}: “{_escaped(_on_one_line(citation.quote))}”"


def _head(citation: Citation, *, within: bool = False) -> str:
    """Number and place; `within` a document that stands above it is not named again."""
    place = f"{citation.section}{_pages(citation.page, citation.last_page)}"
    if within:
        return f"[{citation.number}] {place}"
    return f"[{citation.number}] [{citation.source.upper()}] {citation.document_label}, {place}"


def _refusal_sections(refusal: Refusal) -> Iterator[tuple[str, list[str]]]:
    yield "Answer", [_escaped(refusal.message), "", _escaped(refusal.missing)]
    yield "Nearest Clauses", [line for clause in refusal.nearest_clauses for line in _clause(clause)]
    absence = refusal.absence
    counts = ", ".join(f"“{hits.term}” in {hits.chunks}" for hits in absence.term_hits)
    lines = [f"- {_searched(absence)}"]
    yield (
        "Searched",
        [*lines, *([f"- Chunks with the question's words: {_escaped(counts)}"] if counts else [])],
    )


def _searched(absence: AbsenceEvidence) -> str:
    unreadable = f"{absence.unreadable_pages} of them unreadable" if absence.unreadable_pages else ""
    documents = _counted(absence.documents_searched, "document") or "no documents"
    return ", ".join(filter(None, (documents, _counted(absence.pages_searched, "page"), unreadable)))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number > 1 else ''}" if number else ""


def _place(clause: SupportingClause) -> str:
    return f"{clause.document_label}, {clause.section}{_pages(clause.page, clause.last_page)}"


def _pages(page: int | None, last_page: int | None) -> str:
    return "" if page is None else f", p. {page}" if page == last_page else f", pp. {page}–{last_page}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Text of documents is data: nothing in it may become markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def _escaped_line(text: str) -> str:
    """The same for text that begins a line, where more means something."""
    return _BEGINNING.sub(r"\g<0>\\", _escaped(text))
