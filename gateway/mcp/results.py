"""What tools give as data: each a part of what REST answers, flat, with a schema that is short to read."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Result(BaseModel):
    """Members are named as REST names them."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True
    )


class Place(Result):
    """Where words stand; `open_citation` takes the id and both ends."""

    document_id: str
    document: str = Field(description="What people call it.")
    section: str
    page: int | None = Field(default=None, description="Only of a PDF.")
    last_page: int | None = None
    start: int = Field(description="The first character, from 0, of the document's text.")
    end: int


class Passage(Place):
    """Words of a document."""

    text: str


class Quote(Place):
    """Words of a document that were looked up in the stored text."""

    number: int
    quote: str
    related: bool = Field(description="Whether it is only related to the question.")
    citation: dict[str, Any] = Field(description="The certificate, as verify_citation takes it.")


class Sentence(Result):
    """A sentence in a model's words; its quotes decide."""

    text: str
    numbers: list[int]


class UsedTerm(Result):
    """A defined term that a quote uses, and the number of the quote that defines it."""

    term: str
    number: int


class Refused(Result):
    """Why there is no answer, and what was looked at."""

    message: str
    missing: str
    nearest: list[Passage] = Field(description="The nearest clauses, which are no answer.")
    documents_searched: int


class Answer(Result):
    """What the documents say of a question, or that they are silent."""

    outcome: Literal["ANSWERED", "RELATED", "REFUSED"]
    quotes: list[Quote]
    summary: list[Sentence]
    definitions: list[UsedTerm]
    silent: list[str] = Field(description="Names of the documents that were asked and say nothing.")
    notes: list[str]
    refusal: Refused | None
    trace_id: str


class Found(Result):
    """Passages, best first."""

    passages: list[Passage]


class Definition(Passage):
    """How a document defines a term."""

    term: str


class Definitions(Result):
    """All definitions of a term, and of the terms that these use."""

    definitions: list[Definition]


class Document(Result):
    """A document and what its first page says."""

    document_id: str
    source: str
    title: str
    kind: str = Field(description="Such as LICENCE; empty when it is not certain.")
    parties: list[str]
    dated: str
    pages: int = Field(description="0 where the format has none.")


class Documents(Result):
    """Documents by id."""

    documents: list[Document]
    more: bool = Field(description="Whether there are others after the last one.")


class Opened(Place):
    """A quote within the words around it."""

    before: str
    quote: str
    after: str


class Verified(Result):
    """What became of a citation."""

    holds: bool = Field(description="Whether nobody changed it and its words still stand where it says.")
    signature: str
    text: str
    explanation: str


class Claim(Result):
    """A sentence of the text that was checked."""

    text: str
    verdict: str
    numbers: list[int] = Field(description="Its quotes.")
    missing_quotes: list[str]
    remarks: list[str] = Field(description="Where it differs from its clause; what the verdict leaves open.")
    nearest: Passage | None


class Grounding(Result):
    """Whether a text stands on the documents."""

    grounded: bool
    claims: list[Claim]
    quotes: list[Quote]
