"""The public client against the real services in this process."""

import asyncio
import random

import pymupdf
import pytest
import pytest_asyncio

import clausegate
from clausegate.corpus.v1.document_pb2 import DocumentFormat
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome
from clausegate.retrieval.v1.retrieval_service_pb2 import Passage
from embedded.settings import EmbeddedSettings
from embedded.wiring import stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

TERMS = b"""NORTHGATE TERMS

Section 1. Governing Law

This Agreement shall be governed by the laws of Ireland.

Section 2. Definitions

"Subscriber" means a natural person who views Information on a single screen.

Section 3. Fees

Each Subscriber shall pay a monthly fee of USD 25.00.
"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def address(tmp_path_factory, socket_dirs):
    address = f"unix:{socket_dirs() / 'grpc'}"
    data = tmp_path_factory.mktemp("client")
    settings = EmbeddedSettings(data_dir=data, address=address, gateway_address="", drain_seconds=1)
    async with stack(settings):
        async with clausegate.connect(address) as client:
            await client.ingest(TERMS, source="northgate", path="terms.txt")
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def client(address):
    async with clausegate.connect(address) as client:
        yield client


async def test_a_query_is_answered_with_a_citation(client):
    response = await client.query("Which law governs the agreement?", sources=["northgate"])

    assert response.citations[0].document == "northgate/terms.txt"
    assert not response.HasField("refusal")


async def test_options_reach_the_service(client):
    response = await client.query("Which law governs the agreement?", gate=False, grading=False, debug=True)

    assert response.debug.confidence_gate.enabled is False
    assert response.metadata.grader == ""


async def test_a_stream_ends_with_the_whole_response(client):
    events = [event async for event in client.stream_query("Which law governs the agreement?")]

    assert events[-1].completed.response.statements


async def test_a_stream_may_be_left_early(client):
    async for event in client.stream_query("Which law governs the agreement?"):
        assert event.HasField("retrieved")
        break


async def test_one_address_per_service_may_be_given(address):
    addresses = clausegate.Addresses(ingest=address, retrieval=address, answer=address)
    async with clausegate.connect(addresses) as client:
        assert (await client.describe_index()).document_count >= 1


async def test_a_search_returns_scores(client):
    response = await client.search("governing law", top_k=1)

    assert len(response.candidates) == 1
    assert response.candidates[0].evidence.combined > 0


async def test_definitions_are_found_by_term(client):
    found = [each async for each in client.find_definitions(terms=["subscriber"])]

    assert [each.definition.term for each in found] == ["Subscriber"]


async def test_definitions_are_found_by_passage(client):
    passages = [Passage(text="Each Subscriber pays.", document_id="northgate/terms.txt")]
    found = [each async for each in client.find_definitions(passages=passages)]

    assert [each.definition.term for each in found] == ["Subscriber"]


async def test_chunks_are_read_by_id(client):
    candidate = (await client.search("governing law", top_k=1)).candidates[0]

    assert await client.get_chunks([candidate.chunk.chunk_id]) == [candidate.chunk]


async def test_terms_are_counted(client):
    response = await client.count_terms(["Subscriber", "parking"], sources=["northgate"])

    assert response.counts[0].chunks > 0
    assert response.counts[1].chunks == 0


async def test_bytes_that_are_indexed_are_not_sent_again(client):
    reports = []

    receipt = await client.ingest(TERMS, source="northgate", path="terms.txt", progress=reports.append)

    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_UNCHANGED
    assert reports == []


async def test_an_upload_may_follow_at_once(client):
    outcomes = [(await client.ingest(TERMS, source="northgate", path="terms.txt")).outcome for _ in range(20)]

    assert set(outcomes) == {IngestOutcome.INGEST_OUTCOME_UNCHANGED}


async def test_a_file_is_ingested_read_back_and_removed(client, tmp_path):
    file = tmp_path / "notice.md"
    file.write_text("# Notice\n\nThe fee rises to USD 30.00 on 1 March 2026.\n")
    reports = []

    receipt = await client.ingest(file, source="southport", path="notice.md", progress=reports.append)
    document = await client.get_document("southport/notice.md")
    original = b"".join([part async for part in client.get_original("southport/notice.md")])
    removed = await client.remove_document("southport/notice.md")

    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_CREATED
    assert document == receipt.document
    assert document.format == DocumentFormat.DOCUMENT_FORMAT_MARKDOWN
    assert original == file.read_bytes()
    assert reports
    assert removed.index_revision != receipt.index_revision


async def test_a_file_of_many_parts_arrives_whole(client):
    attachment = random.Random(7).randbytes(900_000)
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "The annex is attached to this page.")
        pdf.embfile_add("annex.bin", attachment)
        content = pdf.tobytes()

    receipt = await client.ingest(content, source="southport", path="annex.pdf")
    original = b"".join([part async for part in client.get_original("southport/annex.pdf")])
    await client.remove_document("southport/annex.pdf")

    assert receipt.document.size_bytes == len(content) > 900_000
    assert original == content


async def test_pages_are_fetched_until_the_end(client):
    documents = [document.document_id async for document in client.documents(["northgate"])]
    sources = [source.source async for source in client.sources()]

    assert documents == ["northgate/terms.txt"]
    assert "northgate" in sources


async def test_an_error_names_reason_and_field(client):
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.query("Which law governs the agreement?", sources=["unknown"])

    assert (failure.value.code, failure.value.reason) == ("NOT_FOUND", "SOURCE_NOT_FOUND")
    assert failure.value.fields[0].field == "sources[0]"


async def test_a_refused_file_is_an_error_of_the_upload(client):
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.ingest(b"", source="northgate", path="empty.txt")

    assert failure.value.reason == "DOCUMENT_EMPTY"


async def test_a_deadline_ends_a_call(client):
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.query("Which law governs the agreement?", deadline_seconds=0.000001)

    assert failure.value.code == "DEADLINE_EXCEEDED"


async def test_concurrent_uploads_of_one_document_conflict_or_agree(client):
    uploads = [client.ingest(TERMS + b"\nMore.\n", source="northgate", path="twice.txt") for _ in range(2)]

    results = await asyncio.gather(*uploads, return_exceptions=True)
    await client.remove_document("northgate/twice.txt")

    failures = [result for result in results if isinstance(result, BaseException)]
    assert all(getattr(failure, "reason", "") == "DOCUMENT_CONFLICT" for failure in failures)
    assert len(failures) < 2


async def test_a_service_that_is_not_there_is_unavailable(socket_dirs):
    async with clausegate.connect(f"unix:{socket_dirs() / 'nobody'}") as client:
        with pytest.raises(clausegate.ClausegateError) as failure:
            await client.describe_index(deadline_seconds=5)

    assert failure.value.code == "UNAVAILABLE"
