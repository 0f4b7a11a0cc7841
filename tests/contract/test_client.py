"""The public client against the real services in this process."""

import asyncio
import random

import pymupdf
import pytest
import pytest_asyncio

import clausegate
from chassis.server import serving
from clausegate.answer.v1.grounding_service_pb2 import GroundingClaim, SignatureState, TextState
from clausegate.corpus.v1.document_pb2 import DocumentFormat
from clausegate.ingest.v1.ingest_service_pb2 import IngestOutcome
from clausegate.retrieval.v1.retrieval_service_pb2 import Passage
from embedded.settings import EmbeddedSettings
from embedded.wiring import stack
from tests.contract.model_stack import answering, index_of
from tests.contract.wires import Wire
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

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


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def client_with_model(tmp_path_factory):
    """A client of services that have a chat model; nothing listens where ingest would."""
    folder = tmp_path_factory.mktemp("with-model")
    async with (
        ModelServer() as model,
        index_of(folder / "index") as index,
        answering(index, folder / "answer", model.url) as stubs,
    ):
        model.respond = Renderer()
        addresses = clausegate.Addresses(ingest=index, retrieval=index, answer=stubs.address)
        async with clausegate.connect(addresses) as client:
            yield client


async def test_a_query_is_answered_with_a_citation(client):
    response = await client.query("Which law governs the agreement?", sources=["northgate"])

    assert response.citations[0].document == "northgate/terms.txt"
    assert not response.HasField("refusal")


async def test_a_refusal_says_that_it_is_one(client):
    refused = await client.query("Who insures the ship against piracy?")
    answered = await client.query("Which law governs the agreement?")

    assert refused.refused
    assert refused.refusal.message
    assert not answered.refused


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


async def test_the_chunks_of_a_document_are_listed_in_order(client):
    chunks = [chunk async for chunk in client.chunks("northgate/terms.txt")]

    assert chunks
    assert [chunk.ordinal for chunk in chunks] == sorted(chunk.ordinal for chunk in chunks)


async def test_context_is_assembled_within_a_budget(client):
    response = await client.assemble_context(sources=["northgate"], token_budget=1000)

    assert "laws of Ireland" in response.text
    assert 0 < response.token_count <= 1000


async def test_a_project_is_created_changed_and_deleted(client):
    created = await client.create_project("terms", ["northgate"], display_name="Terms")
    listed = [project.project_id async for project in client.projects()]
    updated = await client.update_project("terms", ["northgate", "southport"])
    found = await client.get_project("terms")
    await client.delete_project("terms")

    assert (created.display_name, list(created.sources)) == ("Terms", ["northgate"])
    assert "terms" in listed
    assert (found, list(found.sources)) == (updated, ["northgate", "southport"])
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.get_project("terms")
    assert failure.value.reason == "PROJECT_NOT_FOUND"


async def test_a_project_cannot_be_created_twice(client):
    await client.create_project("twice", ["northgate"])
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.create_project("twice", ["northgate"])
    await client.delete_project("twice")

    assert (failure.value.code, failure.value.reason) == ("ALREADY_EXISTS", "PROJECT_EXISTS")


async def test_snippets_are_results_and_then_the_whole(client):
    options = {"source_ids": ["northgate"], "max_snippets": 2}
    events = [event async for event in client.snippets("Which law governs the agreement?", **options)]

    *results, last = events
    assert [event.result for event in results] == list(last.done.snippets)
    assert all(event.result.verified for event in results)
    assert 0 < last.done.result_count <= 2


async def test_a_text_is_checked_against_the_documents(client):
    quote = "This Agreement shall be governed by the laws of Ireland."

    sound = await client.check_grounding(quote, sources=["northgate"])
    claim = GroundingClaim(text="The laws of Wales govern.", quotes=[quote])
    overstated = await client.check_grounding(claims=[claim])

    assert sound.grounded
    assert not overstated.grounded


async def test_a_citation_is_verified(client):
    response = await client.query("Which law governs the agreement?", sources=["northgate"])

    verified = await client.verify_citation(response.citations[0])

    assert verified.signature == SignatureState.SIGNATURE_STATE_UNSIGNED
    assert verified.text == TextState.TEXT_STATE_PRESENT


async def test_a_task_for_a_model_says_that_there_is_none(client):
    for call in (
        client.compile_article(sources=["northgate"]),
        client.generate_queries("fees"),
        client.rewrite("Fees.", "Be plain."),
    ):
        with pytest.raises(clausegate.ClausegateError) as failure:
            await call
        assert (failure.value.code, failure.value.reason) == ("FAILED_PRECONDITION", "MODEL_NOT_CONFIGURED")


async def test_a_dry_run_without_a_model_would_send_nothing(client):
    response = await client.query("Which law governs the agreement?", dry_run=True)

    assert response.HasField("dry_run")
    assert list(response.dry_run.stages) == []


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


async def test_an_original_is_read_again(client):
    receipt = await client.reindex_document("northgate/terms.txt", progress=print)

    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_UNCHANGED
    assert receipt.document.document_id == "northgate/terms.txt"
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client.reindex_document("northgate/none.txt")
    assert failure.value.reason == "DOCUMENT_NOT_FOUND"


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


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "clausegate.example", "unix:", ""])
async def test_what_is_no_address_of_a_service_is_refused(address):
    with pytest.raises(ValueError, match="expected host:port, unix:/path or, for TLS, https://host"):
        clausegate.connect(address)


@pytest.mark.soak  # it takes the 15 s after which a connection is given up
async def test_a_call_does_not_wait_for_a_machine_that_is_gone():
    async with (
        serving("127.0.0.1:0", []) as server,
        Wire(int(server.rpartition(":")[2])) as wire,
        clausegate.connect(f"127.0.0.1:{wire.port}", deadline_seconds=120) as client,
    ):
        with pytest.raises(clausegate.ClausegateError, match="UNIMPLEMENTED"):
            await client.rewrite("Fees.", "Be plain.")
        wire.hold()
        with pytest.raises(clausegate.ClausegateError, match="UNAVAILABLE"):
            await client.rewrite("Fees.", "Be plain.")


async def test_an_article_is_compiled_listed_read_and_deleted(client_with_model):
    compiled = (
        await client_with_model.compile_article(document_ids=["cme/licence.txt"], article_id="terms")
    ).article
    listed = [article async for article in client_with_model.articles()]
    stale = [article async for article in client_with_model.articles(stale=True)]
    read = await client_with_model.get_article("terms")
    await client_with_model.delete_article("terms")

    assert compiled.article_body
    assert read == compiled
    assert [article.article_id for article in listed] == ["terms"]
    assert stale == []
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client_with_model.get_article("terms")
    assert failure.value.reason == "ARTICLE_NOT_FOUND"


async def test_queries_are_generated_as_many_as_asked_for(client_with_model):
    response = await client_with_model.generate_queries("display fees", locality="Chicago", count=3)

    assert len(set(response.queries)) == 3


async def test_a_text_is_rewritten(client_with_model):
    response = await client_with_model.rewrite("Pay the fee.", "Keep it.", sources=["cme"])

    assert response.text == "Pay the fee."
    assert response.usage[0].stage == "rewrite"


async def test_a_query_may_cost_no_more_than_its_limit(client_with_model):
    with pytest.raises(clausegate.ClausegateError) as failure:
        await client_with_model.query("What is the display fee?", max_cost_usd=0.000001)

    assert failure.value.reason == "BUDGET_EXCEEDED"
    assert failure.value.fields[0].field == "max_cost_usd"
