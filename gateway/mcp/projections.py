"""Messages of the services as what tools give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol, cast

from clausegate.answer.v1.answer_pb2 import NoteKind, Outcome, Refusal, Statement, SupportingClause
from clausegate.answer.v1.grounding_service_pb2 import (
    CheckedClaim,
    CheckGroundingResponse,
    GroundingCaveat,
    GroundingVerdict,
    SignatureState,
    TextState,
    VerifyCitationResponse,
)
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.definition_pb2 import Definition as DefinitionMessage
from clausegate.corpus.v1.document_pb2 import Document as DocumentMessage
from clausegate.corpus.v1.profile_pb2 import DocumentKind
from clausegate.corpus.v1.span_pb2 import PageSpan
from clausegate.retrieval.v1.document_service_pb2 import GetTextResponse
from clausegate.retrieval.v1.retrieval_service_pb2 import ResolvedDefinition
from gateway.mcp.results import (
    Answer,
    Claim,
    Definition,
    Definitions,
    Document,
    Grounding,
    Opened,
    Passage,
    Quote,
    Refused,
    Sentence,
    UsedTerm,
    Verified,
)
from gateway.messages import to_object

TOLD = (NoteKind.NOTE_KIND_ASKED_OF_EACH, NoteKind.NOTE_KIND_DOCUMENT_SILENT)
"""Notes that say what `silent` says."""


CAVEATS = {
    GroundingCaveat.GROUNDING_CAVEAT_PARTIES: "check who does what to whom",
    GroundingCaveat.GROUNDING_CAVEAT_DENIAL: "check what the quote denies",
    GroundingCaveat.GROUNDING_CAVEAT_CONDITION: "check the conditions of the quote",
    GroundingCaveat.GROUNDING_CAVEAT_OTHER_WORD: "it has another word than the quote",
    GroundingCaveat.GROUNDING_CAVEAT_JOINED_QUOTES: "it joins several quotes",
}


class _Pages(Protocol):
    """A citation or a clause, which name their pages alike."""

    page: int
    last_page: int

    def HasField(self, name: Any) -> bool:  # noqa: N802
        """As of every message."""


def answer_of(response: QueryResponse) -> Answer:
    """An answer, what is only related, or a refusal."""
    refusal = response.refusal if response.HasField("refusal") else None
    outcome = Outcome.Name(response.outcome).removeprefix("OUTCOME_")
    return Answer(
        outcome=cast(Literal["ANSWERED", "RELATED", "REFUSED"], outcome),
        quotes=_quotes(response.citations, _related(response.statements)),
        summary=[Sentence(text=said.text, numbers=list(said.citation_numbers)) for said in response.summary],
        definitions=[UsedTerm(term=used.term, number=used.citation_number) for used in response.definitions],
        silent=[asked.label for asked in response.documents if asked.outcome == Outcome.OUTCOME_REFUSED],
        notes=[note.text for note in response.notes if note.kind not in TOLD],
        refusal=_refused(refusal) if refusal else None,
        trace_id=response.metadata.trace_id,
    )


def _related(statements: Iterable[Statement]) -> set[int]:
    return {number for said in statements if said.possibly_related for number in said.citation_numbers}


def _quotes(citations: Iterable[Citation], related: Iterable[int] = ()) -> list[Quote]:
    return [
        Quote(
            **_place(cited.document, cited.document_label or cited.title, cited.section),
            **_pages(cited),
            **_ends(cited.span),
            number=cited.number,
            quote=cited.quote,
            related=cited.number in related,
            citation=to_object(cited),
        )
        for cited in citations
    ]


def _refused(refusal: Refusal) -> Refused:
    return Refused(
        message=refusal.message,
        missing=refusal.missing,
        nearest=[_clause(clause) for clause in refusal.nearest_clauses],
        documents_searched=refusal.absence.documents_searched,
    )


def _clause(clause: SupportingClause) -> Passage:
    return Passage(
        **_place(clause.document, clause.document_label or clause.title, clause.section),
        **_pages(clause),
        **_ends(clause.span),
        text=clause.text,
    )


def _place(document_id: str, document: str, section: str) -> dict[str, Any]:
    return {"document_id": document_id, "document": document, "section": section}


def _ends(span: Any) -> dict[str, Any]:
    return {"start": span.start, "end": span.end}


def _pages(cited: _Pages) -> dict[str, Any]:
    return {"page": cited.page, "last_page": cited.last_page} if cited.HasField("page") else {}


def _pages_of(pages: Iterable[PageSpan], start: int, end: int) -> dict[str, Any]:
    """The pages, of those of a chunk or a definition, that some of these characters stand on."""
    on = [part.page for part in pages if part.span.start < end and part.span.end > start]
    return {"page": on[0], "last_page": on[-1]} if on else {}


def passage_of(chunk: Chunk) -> Passage:
    """A chunk as a search finds it."""
    return Passage(
        **_place(chunk.document_id, chunk.title, chunk.section),
        **_pages_of(chunk.pages, chunk.span.start, chunk.span.end),
        **_ends(chunk.span),
        text=chunk.text,
    )


def definitions_of(found: Iterable[ResolvedDefinition]) -> Definitions:
    """Each definition, and those that say otherwise, once."""
    messages = (message for resolved in found for message in (resolved.definition, *resolved.conflicting))
    once = {message.definition_id: message for message in messages}
    return Definitions(definitions=[_definition(message) for message in once.values()])


def _definition(message: DefinitionMessage) -> Definition:
    return Definition(
        **_place(message.document_id, message.title, message.section),
        **_pages_of(message.pages, message.span.start, message.span.end),
        **_ends(message.span),
        term=message.term,
        text=message.text,
    )


def document_of(message: DocumentMessage) -> Document:
    """A document by its card."""
    profile = message.profile
    kind = DocumentKind.Name(profile.kind).removeprefix("DOCUMENT_KIND_")
    return Document(
        document_id=message.document_id,
        source=message.source,
        title=profile.title.text or message.title,
        kind="" if kind == "UNSPECIFIED" else kind,
        parties=[party.name for party in profile.parties],
        dated=profile.dated.iso,
        pages=message.page_count,
    )


def opened_of(document: DocumentMessage, response: GetTextResponse, pages: Iterable[PageSpan]) -> Opened:
    """A part of a text with the words around it."""
    text, begin, wanted = response.text, response.span.start, response.wanted
    start, end = wanted.start - begin, wanted.end - begin
    return Opened(
        **_place(document.document_id, document.title, response.section),
        **_pages_of(pages, wanted.start, wanted.end),
        **_ends(wanted),
        before=text[:start],
        quote=text[start:end],
        after=text[end:],
    )


def verified_of(response: VerifyCitationResponse) -> Verified:
    """Signature and words of a citation."""
    signature = SignatureState.Name(response.signature).removeprefix("SIGNATURE_STATE_")
    text = TextState.Name(response.text).removeprefix("TEXT_STATE_")
    holds = signature != "INVALID" and text == "PRESENT"
    return Verified(holds=holds, signature=signature, text=text, explanation=response.explanation)


def grounding_of(response: CheckGroundingResponse) -> Grounding:
    """Claim by claim."""
    return Grounding(
        grounded=response.grounded,
        claims=[_claim(claim) for claim in response.claims],
        quotes=_quotes(response.citations),
    )


def _remarks(claim: CheckedClaim) -> Iterator[str]:
    for finding in claim.findings:
        if not finding.HasField("span"):
            yield f"it leaves out “{finding.text}”"
        elif finding.clause_text:
            yield f"it says “{finding.text}”, the clause “{finding.clause_text}”"
        else:
            yield f"“{finding.text}” is not in the clause"
    yield from (CAVEATS[caveat] for caveat in claim.caveats if caveat in CAVEATS)
    yield from (note.text for note in claim.notes)


def _claim(claim: CheckedClaim) -> Claim:
    return Claim(
        text=claim.text,
        verdict=GroundingVerdict.Name(claim.verdict).removeprefix("GROUNDING_VERDICT_"),
        numbers=list(claim.citation_numbers),
        missing_quotes=list(claim.missing_quotes),
        remarks=list(_remarks(claim)),
        nearest=_clause(claim.nearest_clause) if claim.HasField("nearest_clause") else None,
    )
