"""Questions with what is expected of their answers, and what came of asking them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from clausegate.answer.v1.answer_pb2 import Outcome
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.retrieval.v1.retrieval_service_pb2 import SearchResponse
from cli.errors import CommandError

MAX_QUESTIONS = 10_000
MAX_CHARACTERS = 8_000
"""The longest question that a query takes."""

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ExpectedPassage(BaseModel):
    """A passage that should be found and quoted, named by words that it holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: Words
    phrase: Words
    """Verbatim, but every run of white space and table bars counts as one space."""


class ExpectedAnswer(BaseModel):
    """A question, where to ask it, and what is expected of the answer; nothing is by default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Words
    question: Annotated[Words, StringConstraints(max_length=MAX_CHARACTERS)]
    sources: tuple[Words, ...] = ()
    """Only these are asked; all where empty."""
    document_ids: tuple[Words, ...] = ()
    """Only these are asked; all where empty."""
    expected_documents: tuple[Words, ...] = ()
    """One of them is to be quoted first."""
    expected_chunks: tuple[ExpectedPassage, ...] = ()
    """Each is to be among the candidates, and one of them quoted."""
    expected_terms: tuple[Words, ...] = ()
    """What the answer or its quotes say, compared without case."""
    should_refuse: bool = Field(default=False, strict=True)
    """Whether the documents are silent, so that nothing is expected but a refusal."""


def read_questions(text: str, name: str) -> tuple[ExpectedAnswer, ...]:
    """The questions of a file called `name`: a JSON object a line, or one with a list `questions`.

    Raises `CommandError` with the line, or the place in the list, and the field at fault.
    """
    entries = list(_entries(text, name))
    if not entries:
        raise CommandError(f"{name}: holds no question")
    if len(entries) > MAX_QUESTIONS:
        raise CommandError(f"{name}: at most {MAX_QUESTIONS:,} questions, and there are {len(entries):,}")
    questions = tuple(_question(place, entry) for place, entry in entries)
    seen: dict[str, str] = {}
    for (place, _), question in zip(entries, questions, strict=True):
        if earlier := seen.get(question.id):
            raise CommandError(f"{place}: id: {question.id!r} is that of {earlier} already")
        seen[question.id] = place
    return questions


def _entries(text: str, name: str) -> Iterable[tuple[str, object]]:
    """The entries with what to call each in a message."""
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("questions"), list):
        yield from ((f"{name}: questions[{at}]", entry) for at, entry in enumerate(whole["questions"]))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"{name}:{number}", json.loads(line)
            except ValueError as error:
                raise CommandError(f"{name}:{number}: no JSON: {error}") from error


def _question(place: str, entry: object) -> ExpectedAnswer:
    try:
        return ExpectedAnswer.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise CommandError(f"{place}: {field}: {first['msg']}" if field else f"{place}: no object") from error


@dataclass(frozen=True, slots=True)
class Came:
    """What came of asking one question. Where nothing is expected of it, a field is None."""

    question: ExpectedAnswer
    outcome: str
    """`answered`, `related` or `refused`; `failed` when the call failed."""
    failure: str = ""
    """The reason of a call that failed."""
    found: bool | None = None
    """Whether every expected passage is among the candidates."""
    right_document: bool | None = None
    """Whether the first quote is of an expected document. Only where something is quoted."""
    right_quote: bool | None = None
    """Whether a statement's quote shares words with an expected passage. Only where something is quoted."""
    terms_said: bool | None = None
    """Whether all expected terms are said. Only where something is quoted."""

    @property
    def right(self) -> bool | None:
        """Whether the answer is right: by its quotes where passages are expected, else by its terms."""
        return self.terms_said if self.right_quote is None else self.right_quote


def came_of(question: ExpectedAnswer, pool: SearchResponse, response: QueryResponse) -> Came:
    """What the candidates and the answer come to."""
    outcome = Outcome.Name(response.outcome).removeprefix("OUTCOME_").lower()
    texts = [(candidate.chunk.document_id, candidate.chunk.text) for candidate in pool.candidates]
    expected = question.expected_chunks
    found = all(any(_is_in(passage, *text) for text in texts) for passage in expected) if expected else None
    if response.HasField("refusal") or question.should_refuse:
        return Came(question, outcome, found=found)
    cited = dict.fromkeys(number for said in response.statements for number in said.citation_numbers)
    citations = {citation.number: citation for citation in response.citations}
    quotes = [(citations[number].document, citations[number].quote) for number in cited]
    said = _folded("\n".join([response.answer, *(quote for _, quote in quotes)])).casefold()
    documents, terms = question.expected_documents, question.expected_terms
    return Came(
        question,
        outcome,
        found=found,
        right_document=quotes[0][0] in documents if documents else None,
        right_quote=any(_shares(passage, *quote) for passage in expected for quote in quotes)
        if expected
        else None,
        terms_said=all(_folded(term).casefold() in said for term in terms) if terms else None,
    )


def _is_in(passage: ExpectedPassage, document: str, text: str) -> bool:
    return document == passage.document and _folded(passage.phrase) in _folded(text)


def _shares(passage: ExpectedPassage, document: str, quote: str) -> bool:
    """Whether one stands in the other."""
    phrase, quoted = _folded(passage.phrase), _folded(quote)
    return document == passage.document and (phrase in quoted or quoted in phrase)


def _folded(text: str) -> str:
    return " ".join(text.replace("|", " ").split())


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    name: str
    count: int
    of: int


def shares(results: Sequence[Came]) -> tuple[Share, ...]:
    """The figures of all questions together; those that count nothing are left out."""
    answerable = [came for came in results if not came.question.should_refuse]
    silent = [came for came in results if came.question.should_refuse]
    answered = [came for came in results if came.outcome == "answered"]
    counted = (
        _share("passages found", [came.found for came in results]),
        _share("right document first", [came.right_document for came in answerable]),
        _share("right quote", [came.right_quote for came in answerable]),
        _share("terms said", [came.terms_said for came in answerable]),
        _share("answered", [came.outcome == "answered" for came in answerable]),
        _share("related", [came.outcome == "related" for came in answerable]),
        _share("falsely refused", [came.outcome == "refused" for came in answerable]),
        _share("silent: refused", [came.outcome == "refused" for came in silent]),
        _share("silent: related", [came.outcome == "related" for came in silent]),
        _share("silent: answered", [came.outcome == "answered" for came in silent]),
        _share(
            "of what is answered, right",
            [False if came.question.should_refuse else came.right for came in answered],
        ),
        _share("failed", [came.outcome == "failed" for came in results]),
    )
    return tuple(share for share in counted if share.of)


def _share(name: str, values: Iterable[bool | None]) -> Share:
    known = [value for value in values if value is not None]
    return Share(name, sum(known), len(known))
