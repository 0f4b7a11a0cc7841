from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.citations import Certificate, Citation, MatchLevel
from corpus.spans import Span
from services.answer.answers import (
    AbsenceEvidence,
    Answer,
    DefinitionInUse,
    DocumentAnswer,
    GateDecision,
    GateRule,
    GateTier,
    Note,
    NoteKind,
    Outcome,
    Refusal,
    RefusalReason,
    Statement,
    SummarySentence,
)
from services.answer.query.events import (
    Gated,
    Refused,
    Retrieved,
    SupportingClauses,
    Validated,
    ValidatedSummary,
    numbers_of,
    unfold,
)

DOCUMENTS = (
    (),
    (DocumentAnswer("a/b", "B", Outcome.ANSWERED, (1,)), DocumentAnswer("a/c", "C", Outcome.REFUSED)),
)
CERTIFICATE = Certificate("d" * 64, "q" * 64, "g", "extractive", "", "", "c" * 64)
DECISION = GateDecision(True, False, GateTier.GRADED, GateRule.BELOW_THRESHOLD, 0.1, 0.2, 1, 0, None, True)
REFUSAL = Refusal(
    RefusalReason.CONFIDENCE_TOO_LOW,
    "Not addressed.",
    "Nothing.",
    DECISION,
    (),
    AbsenceEvidence("1", 1, 0, 0, ()),
)


def citation(number: int) -> Citation:
    where = ("cme/a.pdf", "cme", "Agreement", "Fees", 1, 1)
    place = (Span(number, number + 1), "chunk", "alias")
    return Citation(number, *where, "x", *place, MatchLevel.EXACT, CERTIFICATE)


def content(kind: str, numbers: tuple[int, ...]):
    if kind == "statement":
        return Statement("x", ("CME",), numbers)
    if kind == "definition":
        return DefinitionInUse("Term", numbers[0], numbers[1:], 1, "")
    return Note(NoteKind.CROSS_REFERENCE, "See elsewhere.", numbers)


@st.composite
def answers(draw) -> Answer:
    """Answers as they are composed: citations numbered by first use."""
    order = {"statement": 0, "definition": 1, "note": 2}
    kinds = sorted(draw(st.lists(st.sampled_from(list(order)), max_size=8)), key=lambda kind: order[kind])
    used, parts = 0, []
    for kind in kinds:
        old = draw(st.lists(st.integers(1, used), max_size=2, unique=True)) if used else []
        new = draw(st.integers(0 if old or kind == "note" else 1, 2))
        parts.append(content(kind, (*old, *range(used + 1, used + new + 1))))
        used += new
    return Answer(
        documents=draw(st.sampled_from(DOCUMENTS)),
        citations=tuple(citation(number) for number in range(1, used + 1)),
        statements=tuple(part for part in parts if isinstance(part, Statement)),
        definitions=tuple(part for part in parts if isinstance(part, DefinitionInUse)),
        notes=tuple(part for part in parts if isinstance(part, Note)),
        summary=tuple(
            SummarySentence("x", part.citation_numbers)
            for part in draw(st.lists(st.sampled_from(parts), max_size=3) if parts else st.just([]))
            if isinstance(part, Statement)
        ),
        definitions_left_out=draw(st.integers(0, 3)),
    )


def fold(events):
    """The answer that events tell; stages add nothing to it."""
    clauses, documents, refusal, citations, left_out, summary = (), (), None, (), 0, ()
    contents = {Statement: (), DefinitionInUse: (), Note: ()}
    for event in events:
        match event:
            case SupportingClauses():
                clauses, documents = event.clauses, event.documents
                left_out = event.definitions_left_out
            case Refused():
                refusal = event.refusal
            case ValidatedSummary():
                assert not contents[DefinitionInUse]
                assert not contents[Note]
                summary = event.sentences
            case Validated():
                citations += event.citations
                contents[type(event.content)] += (event.content,)
    statements, definitions, notes = contents.values()
    return Answer(
        citations=citations,
        statements=statements,
        supporting_clauses=clauses,
        definitions=definitions,
        notes=notes,
        refusal=refusal,
        definitions_left_out=left_out,
        documents=documents,
        summary=summary,
    )


@settings(deadline=None)
@given(answers())
def test_folding_the_events_of_an_answer_gives_the_answer(answer):
    stages = [Retrieved("fee", 3, (), "1"), Gated(DECISION)]
    assert fold([*stages, *unfold(answer)]) == answer


@settings(deadline=None)
@given(answers())
def test_every_citation_is_sent_once_before_or_with_its_first_use(answer):
    sent: list[int] = []
    for event in unfold(answer):
        if isinstance(event, Validated):
            sent += [one.number for one in event.citations]
            assert set(numbers_of(event.content)) <= set(sent)
    assert sent == [one.number for one in answer.citations]


def test_what_the_statements_come_to_is_told_before_them():
    firm = Statement("x", ("CME",), (1,))
    related = Statement("y", ("CME",), (1,), possibly_related=True)
    told = [
        next(unfold(Answer(citations=(citation(1),), statements=statements)))
        for statements in ((firm, related), (related,))
    ]
    assert told == [SupportingClauses((), Outcome.ANSWERED), SupportingClauses((), Outcome.RELATED)]


def test_a_refusal_is_one_event_and_folds_back():
    answer = Answer(refusal=REFUSAL)
    assert list(unfold(answer)) == [Refused(REFUSAL)]
    assert answer.outcome is Outcome.REFUSED
    assert fold(unfold(answer)) == answer
