"""QueryService over real sockets, beside a real retrieval service with a real index and the local model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from google.rpc import error_details_pb2, status_pb2

from chassis.channel import open_channel
from chassis.server import serving
from clausegate.answer.v1 import answer_pb2, debug_pb2
from clausegate.answer.v1.query_service_pb2 import QueryRequest, QueryResponse, StreamQueryRequest
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.corpus.v1 import citation_pb2, document_pb2, profile_pb2
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.definition_pb2 import Definition
from clausegate.corpus.v1.span_pb2 import PageSpan, Span
from clausegate.digests import contents_digest
from clausegate.retrieval.v1 import index_service_pb2 as index_pb2
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceStub
from corpus import spans
from corpus.documents import DocumentId, Generation, Version
from corpus.ids import chunk_id_of, definition_id_of
from inference.fetch import DEFAULT_MODEL_DIR
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.retrieval_index import with_digest

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = DEFAULT_MODEL_DIR


@dataclass(frozen=True)
class File:
    """A document as ingest would send it: sections of sentences, with `pages` each on a page of its own."""

    source: str
    path: str
    title: str
    sections: dict[str, list[str]]
    pages: bool = False
    unreadable: tuple[int, ...] = ()
    hidden: int = 0
    scanned: tuple[int, ...] = ()
    terms: tuple[str, ...] = ()
    profile: profile_pb2.DocumentProfile | None = None

    @property
    def document_id(self) -> str:
        return f"{self.source}/{self.path}"

    @property
    def text(self) -> str:
        return "\n\n".join(" ".join([heading, *body]) for heading, body in self.sections.items())

    @property
    def generation(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def version(self) -> Version:
        return Version(DocumentId(self.document_id), Generation(self.generation))


CME = File(
    source="cme",
    path="licence.pdf",
    title="Market Data Licence Agreement",
    sections={
        "1. Definitions.": [
            "“Non-Professional” means a natural person who uses the market data for private purposes only.",
            "“Device” means any unit that displays market data to a Non-Professional or to anybody else.",
        ],
        "2. Fees.": [
            "The Licensee shall pay a monthly display fee of USD 120 for each Device that shows market data.",
            "Fees are invoiced in advance as set out in Schedule B.",
        ],
        "3. Term and Termination.": [
            "Either party may terminate this Agreement for convenience on ninety (90) days’ written notice.",
            "On termination the Licensee shall delete all market data without delay.",
        ],
        "4. Governing Law.": [
            "This Agreement is governed by and construed under the laws of the State of Illinois.",
        ],
    },
    pages=True,
    unreadable=(7,),
    hidden=1_200,
    scanned=(2,),
    terms=("Non-Professional", "Device"),
    profile=profile_pb2.DocumentProfile(
        title=profile_pb2.ProfileTitle(text="Market Data Licence", span=Span(start=0, end=19)),
        kind=profile_pb2.DOCUMENT_KIND_LICENCE,
        dated=profile_pb2.StatedDate(
            iso="2020-07-01", precision=profile_pb2.DATE_PRECISION_DAY, span=Span(start=20, end=32)
        ),
    ),
)
OPRA = File(
    source="opra",
    path="policy.txt",
    title="Options Data Policy",
    sections={
        "1. Definitions.": [
            "“Non-Professional” means an individual who is not registered with any securities regulator.",
        ],
        "2. Display.": [
            "The Licensee shall pay a monthly display fee of USD 90 for each Device that shows market data.",
        ],
        "3. Audit.": [
            "OPRA may inspect the books and records of a Vendor once a year on ten days’ notice.",
        ],
    },
    terms=("Non-Professional",),
)


def chunks_of(file: File) -> list[Chunk]:
    chunks, at = [], 0
    for ordinal, (heading, body) in enumerate(file.sections.items()):
        sentences, start = [], at
        for sentence in (heading, *body):
            sentences.append(Span(start=at, end=at + len(sentence)))
            at += len(sentence) + 1
        span = Span(start=start, end=at - 1)
        text = file.text[span.start : span.end]
        chunks.append(
            Chunk(
                chunk_id=chunk_id_of(file.version, ordinal),
                alias=f"{file.source}__{file.path}_{ordinal}",
                document_id=file.document_id,
                source=file.source,
                title=file.title,
                heading_chain=[heading],
                section=heading,
                text=text,
                word_count=len(text.split()),
                span=span,
                pages=[PageSpan(page=ordinal + 1, span=span)] if file.pages else [],
                content_sha256=hashlib.sha256(text.encode()).hexdigest(),
                is_definitions="Definitions" in heading,
                ordinal=ordinal,
                generation=file.generation,
                sentences=sentences,
            )
        )
        at += 1
    return [with_digest(chunk) for chunk in chunks]


def definitions_of(file: File, chunks: Sequence[Chunk]) -> list[Definition]:
    found = []
    for term in file.terms:
        entry = re.search(rf"“{term}” means [^.]+\.", file.text)
        assert entry is not None
        place = spans.Span(entry.start(), entry.end())
        found.append(
            Definition(
                definition_id=definition_id_of(file.version, place, term),
                term=term,
                text=entry.group(),
                span=Span(start=entry.start(), end=entry.end()),
                pages=chunks[0].pages,
                chunk_id=chunks[0].chunk_id,
                document_id=file.document_id,
                source=file.source,
                title=file.title,
                section=chunks[0].section,
            )
        )
    return [with_digest(definition) for definition in found]


def parts_of(file: File):
    chunks = chunks_of(file)
    definitions = definitions_of(file, chunks)
    header = index_pb2.ReplaceHeader(document_id=file.document_id, generation=file.generation)
    yield index_pb2.ReplaceDocumentRequest(header=header)
    yield index_pb2.ReplaceDocumentRequest(chunks=index_pb2.ChunkBatch(chunks=chunks))
    if definitions:
        batch = index_pb2.DefinitionBatch(definitions=definitions)
        yield index_pb2.ReplaceDocumentRequest(definitions=batch)
    document = document_pb2.Document(
        document_id=file.document_id,
        source=file.source,
        path=file.path,
        title=file.title,
        format=document_pb2.DOCUMENT_FORMAT_PDF if file.pages else document_pb2.DOCUMENT_FORMAT_TEXT,
        content_sha256=sha256_of(file),
        generation=file.generation,
        size_bytes=len(file.text.encode()),
        page_count=len(file.sections) if file.pages else 0,
        unreadable_pages=file.unreadable,
        chunk_count=len(chunks),
        definition_count=len(definitions),
        hidden_characters=file.hidden,
        scanned_pages=file.scanned,
        profile=file.profile,
        contents_sha256=contents_digest(each.digest for each in (*chunks, *definitions)),
    )
    yield index_pb2.ReplaceDocumentRequest(commit=index_pb2.Commit(document=with_digest(document)))


def sha256_of(file: File) -> str:
    return hashlib.sha256(file.text.encode()).hexdigest()


@asynccontextmanager
async def retrieval_with(folder: Path, *files: File) -> AsyncIterator[str]:
    """The address of a retrieval service that holds `files`."""
    settings = RetrievalSettings(data_dir=folder, model_dir=MODEL)
    async with retrieval(settings) as services, serving("127.0.0.1:0", [services]) as address:
        async with open_channel(address) as channel:
            for file in files:
                async for _ in IndexServiceStub(channel).ReplaceDocument(parts_of(file)):
                    pass
        yield address


@asynccontextmanager
async def answering(retrieval_address: str, folder: Path, **settings) -> AsyncIterator[QueryServiceStub]:
    """A stub of an answer service without the reader that keeps its records in `folder`.

    What it takes for an answer stays the same from one calibration to the next, and from one reader to the
    next: what a reader adds is tested in `test_reader.py` and with the processes.
    """
    always = {
        "retrieval_address": retrieval_address,
        "data_dir": folder,
        "answer_threshold": 0.5,
        "reader": "off",
    }
    wired = answer(AnswerSettings(**{**always, **settings}))
    async with (
        wired as services,
        serving("127.0.0.1:0", [services]) as address,
        open_channel(address) as channel,
    ):
        yield QueryServiceStub(channel)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with retrieval_with(tmp_path_factory.mktemp("index"), CME, OPRA) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def queries(index, tmp_path) -> AsyncIterator[QueryServiceStub]:
    async with answering(index, tmp_path) as stub:
        yield stub


def records(folder: Path, name: str = "queries-000000000001") -> list[dict[str, object]]:
    path = folder / "logs" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def error_of(failure: grpc.aio.AioRpcError) -> tuple[str, str, str | None]:
    """Code, reason and field of a failed call."""
    details = dict(tuple(failure.trailing_metadata() or ()))["grpc-status-details-bin"]
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status_pb2.Status.FromString(details).details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    fields = [violation.field for violation in bad_request.field_violations]
    return failure.code().name, info.reason, fields[0] if fields else None


async def test_an_answer_quotes_the_document_and_says_where(queries):
    response = await queries.Query(QueryRequest(query="What is the monthly display fee?", sources=["cme"]))
    quote = "The Licensee shall pay a monthly display fee of USD 120 for each Device that shows market data."
    citation = response.citations[0]
    assert response.statements[0].text == citation.quote == quote
    assert CME.text[citation.span.start : citation.span.end] == quote
    assert (citation.number, citation.document, citation.source) == (1, "cme/licence.pdf", "cme")
    assert (citation.title, citation.section) == ("Market Data Licence Agreement", "2. Fees.")
    assert (citation.page, citation.last_page) == (2, 2)
    assert citation.match_level == citation_pb2.MATCH_LEVEL_EXACT
    assert response.answer.startswith(f"[CME] {quote} [1]")


async def test_a_certificate_names_the_file_and_the_quote_unsigned(queries):
    response = await queries.Query(QueryRequest(query="Which law governs the agreement?", sources=["cme"]))
    certificate = response.citations[0].certificate
    assert certificate.document_sha256 == sha256_of(CME)
    assert certificate.quote_sha256 == hashlib.sha256(response.citations[0].quote.encode()).hexdigest()
    assert certificate.generation == CME.generation
    assert (certificate.model, certificate.prompt_version) == ("extractive", "")
    assert (certificate.key_id, certificate.signature) == ("", b"")
    assert re.fullmatch(r"[0-9a-f]{64}", certificate.config_sha256)


async def test_a_format_without_pages_gives_no_page(queries):
    response = await queries.Query(QueryRequest(query="May OPRA inspect books and records?"))
    assert response.citations[0].document == "opra/policy.txt"
    assert not response.citations[0].HasField("page")
    assert not response.supporting_clauses[0].HasField("page")


async def test_supporting_clauses_hold_the_passage_and_mark_what_is_quoted(queries):
    response = await queries.Query(QueryRequest(query="Which law governs the agreement?", sources=["cme"]))
    clause = response.supporting_clauses[0]
    assert clause.text == CME.text[clause.span.start : clause.span.end]
    marked = [CME.text[span.start : span.end] for span in clause.quoted]
    assert marked == ["This Agreement is governed by and construed under the laws of the State of Illinois."]
    assert clause.grade == 3
    assert 0.5 < clause.probability < 1


async def test_a_question_for_a_term_is_answered_by_its_definition_first(queries):
    response = await queries.Query(QueryRequest(query="What is a Non-Professional?", sources=["cme"]))
    assert response.statements[0].text.startswith("“Non-Professional” means a natural person")
    assert response.definitions[0].term == "Non-Professional"
    assert response.definitions[0].citation_number == 1


async def test_definitions_that_disagree_are_shown_side_by_side(queries):
    response = await queries.Query(QueryRequest(query="What does Non-Professional mean?"))
    (definition,) = [one for one in response.definitions if one.term == "Non-Professional"]
    numbers = [definition.citation_number, *definition.conflicting_citation_numbers]
    sources = {response.citations[number - 1].source for number in numbers}
    notes = [note for note in response.notes if note.kind == answer_pb2.NOTE_KIND_DEFINITION_CONFLICT]
    assert sources == {"cme", "opra"}
    assert [list(note.citation_numbers) for note in notes] == [numbers]
    assert [statement.source_prefixes[0] for statement in response.statements[:2]] in (
        ["CME", "OPRA"],
        ["OPRA", "CME"],
    )


async def test_values_that_disagree_are_shown_side_by_side(queries):
    response = await queries.Query(QueryRequest(query="What is the monthly display fee for each Device?"))
    (note,) = [note for note in response.notes if note.kind == answer_pb2.NOTE_KIND_VALUE_CONFLICT]
    assert {response.citations[number - 1].source for number in note.citation_numbers} == {"cme", "opra"}
    assert "USD 120" in note.text
    assert "USD 90" in note.text


async def test_a_statement_brings_the_definitions_of_its_terms_along(queries):
    response = await queries.Query(QueryRequest(query="What is the monthly display fee?", sources=["cme"]))
    depths = {one.term: (one.depth, one.used_by) for one in response.definitions}
    assert depths == {"Device": (1, ""), "Non-Professional": (2, "Device")}


async def test_notes_tell_of_references_and_of_what_the_file_does_not_show(queries):
    response = await queries.Query(QueryRequest(query="When are fees invoiced?", sources=["cme"]))
    texts = {note.kind: note.text for note in response.notes}
    assert "Schedule B" in texts[answer_pb2.NOTE_KIND_CROSS_REFERENCE]
    assert texts[answer_pb2.NOTE_KIND_UNREADABLE_PAGES].startswith("Page 7 of")
    assert "holds 1,200 characters that its readers do not see" in texts[answer_pb2.NOTE_KIND_HIDDEN_TEXT]
    assert texts[answer_pb2.NOTE_KIND_SCANNED_PAGES].startswith("The words of page 2")
    assert answer_pb2.NOTE_KIND_UNCALIBRATED not in texts


async def test_documents_are_called_what_their_cards_say_and_else_by_their_titles(queries):
    response = await queries.Query(QueryRequest(query="What is the monthly display fee?"))
    labels = {
        "cme/licence.pdf": "Market Data Licence · 1 July 2020",
        "opra/policy.txt": "Options Data Policy",
    }
    assert {cited.document: cited.document_label for cited in response.citations} == labels
    assert {clause.document: clause.document_label for clause in response.supporting_clauses} == labels
    assert all(label in response.markdown for label in labels.values())


async def test_the_clauses_nearest_to_a_refused_question_name_their_documents_in_the_same_way(queries):
    response = await queries.Query(QueryRequest(query=REFUSED, sources=["cme"]))
    labels = [clause.document_label for clause in response.refusal.nearest_clauses]
    assert set(labels) == {"Market Data Licence · 1 July 2020"}


REFUSED = "Does the cryptocurrency custody wallet support staking rewards?"


async def test_a_question_the_documents_are_silent_on_is_refused_with_its_evidence(queries):
    response = await queries.Query(QueryRequest(query=REFUSED, sources=["cme", "opra"]))
    refusal = response.refusal
    assert refusal.message == "This is not addressed in the provided CME, OPRA documents."
    assert refusal.reason == answer_pb2.REFUSAL_REASON_CONFIDENCE_TOO_LOW
    assert refusal.gate.rule == answer_pb2.GATE_RULE_BELOW_THRESHOLD
    assert refusal.gate.top_score < refusal.gate.threshold
    assert 1 <= len(refusal.nearest_clauses) <= 3
    assert (refusal.absence.documents_searched, refusal.absence.unreadable_pages) == (2, 1)
    assert {hits.term: hits.chunks for hits in refusal.absence.term_hits}["cryptocurrency"] == 0
    assert "“cryptocurrency”" in refusal.missing
    assert response.answer == f"{refusal.message} {refusal.missing}"
    assert not response.statements
    assert not response.citations


async def test_a_refusal_within_a_document_that_the_question_names_offers_to_search_all(queries):
    question = "Does the Options Data Policy say which cryptocurrency wallet pays staking rewards?"
    named = (await queries.Query(QueryRequest(query=question))).refusal
    assert named.missing.startswith("“Options Data Policy” does not address this (1 of 2 documents searched;")
    assert "--everywhere" in named.missing
    assert named.absence.documents_searched == 1
    all_of_them = (await queries.Query(QueryRequest(query=question, everywhere=True))).refusal
    assert all_of_them.absence.documents_searched == 2
    assert "--everywhere" not in all_of_them.missing


async def test_with_the_gate_off_the_same_question_gets_verified_quotes_marked_as_weak(queries):
    response = await queries.Query(QueryRequest(query=REFUSED, gate=False))
    assert not response.HasField("refusal")
    assert all(one.quote in (CME.text if one.source == "cme" else OPRA.text) for one in response.citations)
    assert answer_pb2.NOTE_KIND_WEAK_EVIDENCE in [note.kind for note in response.notes]


async def test_without_grading_the_gate_judges_raw_scores(queries):
    response = await queries.Query(QueryRequest(query="Which law governs?", grading=False, debug=True))
    gate = response.debug.confidence_gate
    assert (gate.tier, gate.threshold) == (2, 0.05)
    assert response.metadata.grader == ""


async def test_an_empty_index_is_a_refusal(tmp_path):
    async with (
        retrieval_with(tmp_path / "index") as address,
        answering(address, tmp_path) as queries,
    ):
        response = await queries.Query(QueryRequest(query="What is the fee?"))
    assert response.refusal.reason == answer_pb2.REFUSAL_REASON_NO_CHUNKS_RETRIEVED
    assert response.refusal.message == "This is not addressed in the provided documents."


async def test_a_budget_that_nothing_fits_is_a_refusal(index, tmp_path):
    async with answering(index, tmp_path, budget_chunk_tokens=3) as queries:
        response = await queries.Query(QueryRequest(query="Which law governs the agreement?"))
    assert response.refusal.reason == answer_pb2.REFUSAL_REASON_EMPTY_CONTEXT_AFTER_BUDGET
    assert records(tmp_path)[0]["refusal_reason"] == "empty_context_after_budget"


def folded(events) -> QueryResponse:
    """What the events tell, `completed` left out."""
    response = QueryResponse()
    for event in events:
        match event.WhichOneof("event"):
            case "supporting_clauses":
                response.outcome = event.supporting_clauses.outcome
                response.supporting_clauses.extend(event.supporting_clauses.clauses)
                response.definitions_left_out = event.supporting_clauses.definitions_left_out
            case "statement":
                response.statements.append(event.statement.statement)
                response.citations.extend(event.statement.citations)
            case "definition":
                response.definitions.append(event.definition.definition)
                response.citations.extend(event.definition.citations)
            case "note":
                response.notes.append(event.note.note)
                response.citations.extend(event.note.citations)
            case "refused":
                response.outcome = answer_pb2.OUTCOME_REFUSED
                response.refusal.CopyFrom(event.refused.refusal)
    return response


def content_of(response: QueryResponse) -> QueryResponse:
    """Without what differs between two calls and what folding does not give."""
    content = QueryResponse()
    content.CopyFrom(response)
    for derived in ("metadata", "debug", "answer", "markdown", "markdown_full"):
        content.ClearField(derived)
    return content


@pytest.mark.parametrize(
    "query", ["What is the monthly display fee for each Device?", "What is a Non-Professional?", REFUSED]
)
async def test_the_events_of_a_stream_fold_to_the_unary_answer(queries, query):
    events = [event async for event in queries.StreamQuery(StreamQueryRequest(query=query))]
    unary = await queries.Query(QueryRequest(query=query))
    assert events[-1].WhichOneof("event") == "completed"
    streamed = events[-1].completed.response
    assert folded(events[:-1]) == content_of(streamed) == content_of(unary)
    assert (streamed.answer, streamed.markdown) == (unary.answer, unary.markdown)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (QueryRequest(query="Which law governs the agreement?"), "answered"),
        (QueryRequest(query=REFUSED, gate=False), "related"),
        (QueryRequest(query=REFUSED), "refused"),
    ],
    ids=["answered", "related", "refused"],
)
async def test_response_debug_record_and_audit_record_tell_the_same_outcome(
    queries, tmp_path, request_, name
):
    request_.debug = True
    response = await queries.Query(request_)
    expected = answer_pb2.Outcome.Value(f"OUTCOME_{name.upper()}")
    assert (response.outcome, response.debug.outcome) == (expected, expected)
    assert [entry["outcome"] for entry in records(tmp_path)] == [name]


async def test_a_stream_says_that_statements_are_only_related_before_it_sends_any(queries):
    events = queries.StreamQuery(StreamQueryRequest(query=REFUSED, gate=False))
    kinds, outcome = [], answer_pb2.OUTCOME_UNSPECIFIED
    async for event in events:
        kinds.append(event.WhichOneof("event"))
        outcome = event.supporting_clauses.outcome or outcome
    assert outcome == answer_pb2.OUTCOME_RELATED
    assert kinds.index("supporting_clauses") < kinds.index("statement")


async def test_a_dry_run_has_no_outcome(queries):
    response = await queries.Query(QueryRequest(query="Which law governs the agreement?", dry_run=True))
    assert response.outcome == answer_pb2.OUTCOME_UNSPECIFIED


async def test_a_stream_tells_its_stages_first_and_in_order(queries):
    events = [event async for event in queries.StreamQuery(StreamQueryRequest(query="Which law governs?"))]
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds[:5] == ["retrieved", "graded", "gated", "supporting_clauses", "statement"]
    assert events[1].graded.chunks[0].kept


async def test_a_stream_without_grading_sends_no_grades(queries):
    request = StreamQueryRequest(query="Which law governs?", grading=False, gate=False)
    kinds = [event.WhichOneof("event") async for event in queries.StreamQuery(request)]
    assert "graded" not in kinds


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (QueryRequest(), ("INVALID_ARGUMENT", "INVALID_FIELD", "query")),
        (QueryRequest(query="x" * 8_001), ("INVALID_ARGUMENT", "INVALID_FIELD", "query")),
        (QueryRequest(query="a\x00b"), ("INVALID_ARGUMENT", "INVALID_FIELD", "query")),
        (
            QueryRequest(query="fee", sources=["cme"] * 10_000),
            ("INVALID_ARGUMENT", "INVALID_FIELD", "sources"),
        ),
        (QueryRequest(query="fee", sources=["cmee"]), ("NOT_FOUND", "SOURCE_NOT_FOUND", "sources[0]")),
        (
            QueryRequest(query="fee", document_ids=["cme/missing.pdf"]),
            ("NOT_FOUND", "DOCUMENT_NOT_FOUND", "document_ids[0]"),
        ),
    ],
)
async def test_a_bad_request_names_its_field_and_is_recorded(queries, tmp_path, request_, expected):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await queries.Query(request_)
    assert error_of(caught.value) == expected
    (entry,) = records(tmp_path)
    assert (entry["outcome"], entry["error_reason"]) == ("error", expected[1])


async def test_a_stream_fails_with_the_status_of_the_call(queries):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        _ = [event async for event in queries.StreamQuery(StreamQueryRequest(query=" "))]
    assert error_of(caught.value) == ("INVALID_ARGUMENT", "INVALID_FIELD", "query")


async def test_a_retrieval_service_that_does_not_answer_is_unavailable(tmp_path, free_port):
    async with answering(f"127.0.0.1:{free_port()}", tmp_path) as queries:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await queries.Query(QueryRequest(query="fee"))
    assert error_of(caught.value) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE", None)
    assert records(tmp_path)[0]["error_reason"] == "UPSTREAM_UNAVAILABLE"


async def test_an_answer_that_cannot_be_recorded_does_not_leave(index, tmp_path):
    (tmp_path / "logs").write_text("a file where the folder should be")
    async with answering(index, tmp_path) as queries:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await queries.Query(QueryRequest(query="Which law governs the agreement?"))
        call = queries.StreamQuery(StreamQueryRequest(query="Which law governs the agreement?"))
        streamed = [(await call.read()).WhichOneof("event") for _ in range(3)]
        assert await call.code() is grpc.StatusCode.UNAVAILABLE
    assert error_of(caught.value) == ("UNAVAILABLE", "AUDIT_UNAVAILABLE", None)
    assert streamed == ["retrieved", "graded", "gated"]


async def test_a_query_whose_deadline_passes_is_recorded(tmp_path):
    with silent_peer() as (_, address):
        async with answering(address, tmp_path) as queries:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await queries.Query(QueryRequest(query="fee"), timeout=4)
            await until(lambda: bool(records(tmp_path)))
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    (entry,) = records(tmp_path)
    assert entry["outcome"] in ("cancelled", "error")
    assert entry["answer"] == ""


async def test_a_stream_that_its_client_leaves_is_recorded_once(tmp_path):
    with silent_peer() as (peer, address):
        async with answering(address, tmp_path) as queries:
            call = queries.StreamQuery(StreamQueryRequest(query="fee"))
            connection, _ = await asyncio.get_running_loop().sock_accept(peer)
            call.cancel()
            await until(lambda: bool(records(tmp_path)))
            connection.close()
    assert [entry["outcome"] for entry in records(tmp_path)] == ["cancelled"]


@contextmanager
def silent_peer() -> Iterator[tuple[socket.socket, str]]:
    """A peer that lets others connect and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as peer:
        peer.setblocking(False)
        yield peer, f"127.0.0.1:{peer.getsockname()[1]}"


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happened():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)


async def test_every_exit_of_a_query_is_one_audit_record(queries, tmp_path):
    await queries.Query(QueryRequest(query="Which law governs the agreement?", sources=["cme"]))
    await queries.Query(QueryRequest(query=REFUSED))
    outcomes = [(entry["outcome"], entry["refusal_reason"]) for entry in records(tmp_path)]
    assert outcomes == [("answered", None), ("refused", "confidence_too_low")]
    answered = records(tmp_path)[0]
    assert answered["sources"] == ["cme"]
    assert answered["chunks_used"] >= 1
    assert (answered["tenant"], answered["user_id"]) == ("default", "anonymous")


async def test_the_debug_record_is_returned_when_asked_for_and_written_always(queries, tmp_path):
    response = await queries.Query(QueryRequest(query="Which law governs the agreement?", debug=True))
    plain = await queries.Query(QueryRequest(query="Which law governs the agreement?"))
    debug = response.debug
    assert not plain.HasField("debug")
    assert debug.reranking.input_chunks == debug.reranking.kept_chunks + debug.reranking.dropped_chunks
    assert debug.retrieval.vector.count > 0
    assert debug.budget.under_budget
    assert debug.budget.final_tokens == response.metadata.context_tokens > 0
    first, second = records(tmp_path, "debug")
    assert first["query_id"] == debug.query_id == response.metadata.query_id
    assert first["retrieval"]["merged"]["unique_chunks"] == debug.retrieval.merged.unique_chunks
    assert second["query_id"] == plain.metadata.query_id
    assert "explanation" not in first


async def test_a_query_is_explained_by_what_became_of_each_candidate_and_what_decided(queries):
    response = await queries.Query(QueryRequest(query="Which law governs the agreement?", debug=True))
    why, debug = response.debug.explanation, response.debug
    kept = [one.chunk_id for one in why.candidates if one.fate == debug_pb2.CANDIDATE_FATE_KEPT]

    assert [(one.chunk_id, one.score) for one in why.candidates] == [
        (one.chunk_id, one.score) for one in debug.reranking.scores
    ]
    assert kept == [one.chunk_id for one in debug.reranking.scores if one.kept]
    assert why.gate.passed
    assert why.gate.top_score == debug.confidence_gate.top_score
    stages = ["retrieve", "grade", "gate", "definitions", "budget", "verify"]
    assert [one.name for one in why.stages] == stages


async def test_metadata_says_how_the_answer_was_made(queries):
    response = await queries.Query(QueryRequest(query="What is the monthly display fee?"))
    metadata = response.metadata
    assert (metadata.model, metadata.grader, metadata.token_encoding) == ("extractive", "local", "o200k_base")
    assert metadata.normalized_query == "monthly display fee"
    assert metadata.index_revision
    assert metadata.latency.ToTimedelta().total_seconds() > 0
    assert not response.usage
