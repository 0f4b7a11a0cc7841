"""What a caller says beside a tool's name: its schema is what models are shown, and what is checked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Sources = Annotated[
    list[str],
    Field(
        description="Only documents of these sources, such as those that list_documents names; empty: all."
    ),
]
DocumentIds = Annotated[
    list[str], Field(description="Only these documents, by documentId; empty: all that the sources hold.")
]
DocumentId = Annotated[str, Field(description="The document's id, as citations and list_documents say it.")]


class Arguments(BaseModel):
    """Members are named as REST names them, and there are no others."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class Where(Arguments):
    """Where to look."""

    sources: Sources = Field(default_factory=list)
    document_ids: DocumentIds = Field(default_factory=list)


class Ask(Where):
    """See `tools`."""

    question: str = Field(description="One question in English, in a whole sentence.")


class Search(Where):
    """See `tools`."""

    query: str = Field(description="A question or some words of the clause.")
    limit: int = Field(default=8, ge=1, le=50, description="Passages to show, best first.")


class Define(Where):
    """See `tools`."""

    term: str = Field(description="The term as the documents write it, such as “Unit of Count”.")


class ListDocuments(Arguments):
    """See `tools`."""

    sources: Sources = Field(default_factory=list)
    name: str = Field(default="", description="Only documents whose id, title or party has this in its name.")
    limit: int = Field(default=50, ge=1, le=200, description="Documents to show, by id.")
    after: str = Field(default="", description="Only documents after this documentId: the last one shown.")


class OpenCitation(Arguments):
    """See `tools`."""

    document_id: DocumentId
    start: int = Field(ge=0, description="Where the quote begins, `span.start` of its citation.")
    end: int = Field(ge=1, description="Where it ends, exclusive, `span.end` of its citation.")
    around: int = Field(default=500, ge=0, le=5000, description="Characters to show before and after it.")
    whole_section: bool = Field(default=False, description="Show the section that holds it instead.")


class VerifyCitation(Arguments):
    """See `tools`."""

    citation: dict[str, Any] = Field(
        description="A citation of `ask` or `check_grounding`, whole and unchanged: its signature covers it."
    )


class CheckGrounding(Where):
    """See `tools`."""

    text: str = Field(description="The text to check, such as an answer or a memo, in sentences.")
