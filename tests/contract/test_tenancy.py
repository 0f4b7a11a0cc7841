"""Two tenants with the same document ids and questions, over the whole stack: neither sees the other."""

import asyncio
import hashlib
import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import pytest_asyncio

import clausegate
from clausegate.answer.v1.grounding_service_pb2 import TextState
from clausegate.errors import clausegate_errors
from clausegate.ingest.v1.ingest_service_pb2 import IngestDocumentRequest, IngestHeader, IngestOutcome
from tests.contract.keyed_stack import ANNA, BERT, keyed_stack
from tests.contract.store import weaviate_server
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer
from tests.fakes.weaviate_server import WeaviateServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

PREFIX = f"Tenancy{secrets.token_hex(4)}"
LICENCE = "cme/licence.txt"
FEE = "What is the monthly display fee for each device?"
SHARED = (
    b"SHARED RULES\n\nSection 1. Notices\n\nNotices are sent by registered mail to the Vendor's address.\n"
)


def licence(fee: str, device: str, only: str) -> bytes:
    return f"""LICENCE

Section 1. Definitions

"Device" means {device}.
"{only}" means whatever only this tenant has agreed upon.

Section 2. Fees

The Licensee shall pay a monthly display fee of {fee} for each Device that shows market data.

Section 3. Termination

Either party may terminate this Agreement for convenience on ninety (90) days' written notice.
""".encode()


@dataclass(frozen=True)
class Tenant:
    name: str
    key: str
    fee: str
    device: str
    own: str
    """Id of a document that only this tenant has."""
    term: str
    """A term that only this tenant has."""

    @property
    def licence(self) -> bytes:
        return licence(self.fee, self.device, self.term)


ACME = Tenant("acme", ANNA, "USD 120.50", "any unit that displays data", "cme/acme.txt", "Acme Entity")
GLOBEX = Tenant(
    "globex", BERT, "USD 999.00", "a terminal held in the hand", "cme/globex.txt", "Globex Entity"
)
both = pytest.mark.parametrize(("tenant", "other"), [(ACME, GLOBEX), (GLOBEX, ACME)], ids=["acme", "globex"])


@contextmanager
def embedded():
    yield {}


@contextmanager
def fake_weaviate():
    with WeaviateServer() as server:
        where = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
        yield {"store": "weaviate", **where, **weaviate_server.PATIENT}


@contextmanager
def real_weaviate():
    try:
        named = weaviate_server.settings(PREFIX).model_dump()
        yield {name: value for name, value in named.items() if "weaviate" in name} | {"store": "weaviate"}
    finally:
        weaviate_server.drop_collections(PREFIX)


STORES = [pytest.param(embedded, id="embedded"), pytest.param(fake_weaviate, id="weaviate-fake")]
if weaviate_server.URL:
    STORES.append(pytest.param(real_weaviate, id="weaviate", marks=pytest.mark.weaviate))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def stack(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tenants")
    async with ModelServer() as model:
        model.respond = Renderer()
        with request.param() as store:
            async with keyed_stack(folder, model.url, store) as stack:
                for tenant in (ACME, GLOBEX):
                    await fill(stack, tenant)
                yield stack


async def fill(stack, tenant):
    own = f"OWN RULES\n\nSection 1. Owner\n\nThese rules bind {tenant.name} alone.\n".encode()
    async with stack.client(tenant.key) as client:
        await client.ingest(tenant.licence, source="cme", path="licence.txt")
        await client.ingest(own, source="cme", path=f"{tenant.name}.txt")


@pytest_asyncio.fixture(loop_scope="module")
async def clients(stack):
    async with stack.client(ANNA) as anna, stack.client(BERT) as bert:
        yield {"acme": anna, "globex": bert}


async def all_of(iterator) -> list:
    return [each async for each in iterator]


async def original_of(client, document_id: str) -> bytes:
    return b"".join(await all_of(client.get_original(document_id)))


async def failed(awaitable) -> str:
    with pytest.raises(clausegate.ClausegateError) as error:
        await awaitable
    return error.value.reason


@both
async def test_documents_are_the_tenants_own(clients, tenant, other):
    client = clients[tenant.name]
    documents = {document.document_id: document for document in await all_of(client.documents())}

    assert documents.keys() == {LICENCE, tenant.own}
    assert documents[LICENCE].content_sha256 == hashlib.sha256(tenant.licence).hexdigest()
    assert (await client.get_document(LICENCE)) == documents[LICENCE]
    assert await failed(client.get_document(other.own)) == "DOCUMENT_NOT_FOUND"
    assert (await client.describe_index()).document_count == 2
    assert [(each.source, each.document_count) for each in await all_of(client.sources())] == [("cme", 2)]


@both
async def test_an_original_is_the_tenants_own(clients, tenant, other):
    assert await original_of(clients[tenant.name], LICENCE) == tenant.licence
    assert await failed(original_of(clients[tenant.name], other.own)) == "DOCUMENT_NOT_FOUND"


@both
async def test_nobody_removes_what_another_has(clients, tenant, other):
    assert await failed(clients[tenant.name].remove_document(other.own)) == "DOCUMENT_NOT_FOUND"

    assert (await clients[other.name].get_document(other.own)).document_id == other.own


async def test_knowing_the_hash_of_anothers_file_does_not_get_it(clients):
    anna, bert = clients["acme"], clients["globex"]
    await anna.ingest(SHARED, source="ice", path="rules.txt")
    try:
        events = await announced(bert, SHARED)
        assert [event.WhichOneof("event") for event in events] == ["send_bytes"]
        assert await failed(original_of(bert, "ice/rules.txt")) == "DOCUMENT_NOT_FOUND"

        # With the same bytes of their own, neither depends on the other.
        assert (
            await bert.ingest(SHARED, source="ice", path="rules.txt")
        ).outcome == IngestOutcome.INGEST_OUTCOME_CREATED
        await bert.remove_document("ice/rules.txt")
        assert await failed(original_of(bert, "ice/rules.txt")) == "DOCUMENT_NOT_FOUND"
        assert await original_of(anna, "ice/rules.txt") == SHARED
    finally:
        await anna.remove_document("ice/rules.txt")


async def announced(client, content: bytes) -> list:
    """What the service asks of a sender that knows the hash of a file and has nothing of it."""
    header = IngestHeader(
        source="ice",
        path="rules.txt",
        content_sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
    )

    async def requests():
        yield IngestDocumentRequest(header=header)
        await asyncio.Event().wait()

    call = client._ingest.IngestDocument(requests(), timeout=20)
    with clausegate_errors():
        first = await call.read()
    call.cancel()
    return [first]


@both
async def test_a_search_finds_the_tenants_own(clients, tenant, other):
    response = await clients[tenant.name].search(FEE, top_k=50)
    texts = " ".join(candidate.chunk.text for candidate in response.candidates)

    assert tenant.fee in texts
    assert other.fee not in texts
    assert {candidate.chunk.document_id for candidate in response.candidates} <= {LICENCE, tenant.own}


@both
async def test_a_chunk_cannot_be_had_by_anothers_id(clients, tenant, other):
    theirs = await all_of(clients[other.name].chunks(LICENCE))

    assert theirs
    assert await failed(clients[tenant.name].get_chunks([theirs[0].chunk_id])) == "CHUNK_NOT_FOUND"
    assert await failed(all_of(clients[tenant.name].chunks(other.own))) == "DOCUMENT_NOT_FOUND"


@both
async def test_definitions_are_the_tenants_own(clients, tenant, other):
    client = clients[tenant.name]
    found = await all_of(client.find_definitions(terms=["Device", tenant.term, other.term]))
    texts = " ".join(each.definition.text for each in found)

    assert tenant.device in texts
    assert tenant.term in texts
    assert other.device not in texts
    assert other.term not in texts


@both
async def test_terms_are_counted_in_the_tenants_own(clients, tenant, other):
    counts = await clients[tenant.name].count_terms([tenant.name, other.name])
    by_term = {each.term: each.chunks for each in counts.counts}

    assert by_term[tenant.name] > 0
    assert by_term[other.name] == 0


@both
async def test_an_answer_rests_on_the_tenants_own(clients, tenant, other):
    response = await clients[tenant.name].query(FEE)

    assert tenant.fee in response.answer
    assert other.fee not in str(response)


async def test_questions_asked_at_once_are_answered_each_from_its_own(clients):
    tenants = [ACME, GLOBEX] * 8
    answers = await asyncio.gather(*(clients[tenant.name].query(FEE) for tenant in tenants))

    assert [tenant.fee in answer.answer for tenant, answer in zip(tenants, answers, strict=True)] == [
        True
    ] * 16
    assert not [
        1 for tenant, answer in zip(tenants, answers, strict=True) if other_of(tenant).fee in str(answer)
    ]


def other_of(tenant: Tenant) -> Tenant:
    return GLOBEX if tenant is ACME else ACME


async def snippets(client, question: str):
    events = await all_of(client.snippets(question))
    return events[-1].done


async def test_a_kept_result_is_given_to_its_tenant_only(clients):
    first, again = [await snippets(clients["acme"], FEE) for _ in range(2)]
    others = await snippets(clients["globex"], FEE)

    assert (first.cached, again.cached, others.cached) == (False, True, False)
    assert ACME.fee in str(again.snippets)
    assert GLOBEX.fee in str(others.snippets)
    assert ACME.fee not in str(others)


async def test_a_result_that_is_worked_on_is_not_shared_either(clients):
    question = "How much is the monthly display fee for a device that shows market data?"
    annas, berts = await asyncio.gather(*(snippets(clients[name], question) for name in ("acme", "globex")))

    assert (annas.cached, berts.cached) == (False, False)
    assert (ACME.fee in str(annas), GLOBEX.fee in str(annas)) == (True, False)
    assert (ACME.fee in str(berts), GLOBEX.fee in str(berts)) == (False, True)


async def test_projects_are_the_tenants_own(clients):
    anna, bert = clients["acme"], clients["globex"]
    await anna.create_project("review", ["cme"], display_name="Acme’s")
    await bert.create_project("review", ["ice"], display_name="Globex’")
    await anna.create_project("secret", ["cme"])
    await bert.update_project("review", ["ice"], display_name="Globex’ own")

    assert (await anna.get_project("review")).display_name == "Acme’s"
    assert [each.project_id for each in await all_of(bert.projects())] == ["review"]
    assert await failed(bert.get_project("secret")) == "PROJECT_NOT_FOUND"
    assert await failed(bert.delete_project("secret")) == "PROJECT_NOT_FOUND"
    assert await failed(all_of(bert.snippets(FEE, project="secret"))) == "PROJECT_NOT_FOUND"
    await bert.delete_project("review")
    assert (await anna.get_project("review")).sources == ["cme"]


async def test_articles_are_the_tenants_own(clients):
    anna, bert = clients["acme"], clients["globex"]
    for client in (anna, bert):
        await client.compile_article(document_ids=[LICENCE], article_id="terms")
    await anna.compile_article(document_ids=[ACME.own], article_id="secret")

    annas, berts = [await client.get_article("terms") for client in (anna, bert)]
    assert (ACME.fee in str(annas), GLOBEX.fee in str(annas)) == (True, False)
    assert (ACME.fee in str(berts), GLOBEX.fee in str(berts)) == (False, True)
    assert [each.article_id for each in await all_of(bert.articles())] == ["terms"]
    assert await failed(bert.get_article("secret")) == "ARTICLE_NOT_FOUND"
    assert await failed(bert.delete_article("secret")) == "ARTICLE_NOT_FOUND"
    await bert.delete_article("terms")
    assert (await anna.get_article("terms")).article_id == "terms"


async def test_a_change_of_one_tenant_is_no_change_of_another(clients):
    anna, bert = clients["acme"], clients["globex"]
    before = (await bert.describe_index()).index_revision
    await anna.ingest(SHARED, source="opra", path="rules.txt")
    await anna.remove_document("opra/rules.txt")

    assert (await bert.describe_index()).index_revision == before


@both
async def test_context_for_a_writer_is_the_tenants_own(clients, tenant, other):
    context = await clients[tenant.name].assemble_context(query=FEE)

    assert tenant.fee in str(context)
    assert other.fee not in str(context)


async def test_anothers_citation_does_not_stand_in_ones_own_documents(clients):
    [citation, *_] = (await clients["acme"].query(FEE)).citations

    assert (await clients["acme"].verify_citation(citation)).text == TextState.TEXT_STATE_PRESENT
    theirs = await clients["globex"].verify_citation(citation)
    assert theirs.text != TextState.TEXT_STATE_PRESENT
    assert GLOBEX.fee not in str(theirs)


async def test_anothers_words_are_not_grounded(clients):
    text = (
        f"The Licensee shall pay a monthly display fee of {ACME.fee} for each Device that shows market data."
    )

    assert (await clients["acme"].check_grounding(text)).grounded
    theirs = await clients["globex"].check_grounding(text)
    assert not theirs.grounded
    assert not any(claim.citation_numbers for claim in theirs.claims)
    assert not any(ACME.fee in citation.quote for citation in theirs.citations)


async def test_rest_gives_each_its_own(stack):
    for tenant in (ACME, GLOBEX):
        async with stack.http(f"Bearer {tenant.key}") as http:
            listed = (await http.get("/v1/documents")).json()["documents"]
            answer = (await http.post("/v1/query", json={"query": FEE})).json()
            streamed = (await http.post("/v1/query:stream", json={"query": FEE})).text
            missing = await http.get(f"/v1/documents/{other_of(tenant).own}")
        assert {each["documentId"] for each in listed} == {LICENCE, tenant.own}
        assert tenant.fee in answer["answer"]
        assert (tenant.fee in streamed, other_of(tenant).fee in streamed) == (True, False)
        assert missing.status_code == 404


async def test_records_name_tenant_and_subject(stack, clients):
    await asyncio.gather(*(client.query("Who may end the agreement?") for client in clients.values()))

    lines = (stack.data / "logs" / "queries-000000000001.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    asked = {
        (each["tenant"], each["user_id"]) for each in told if each["query"] == "Who may end the agreement?"
    }
    assert asked == {("acme", "anna"), ("globex", "bert")}


async def test_files_of_tenants_lie_in_folders_of_their_own(stack, clients):
    archived = {each.name for each in (stack.data / "archive").iterdir()}
    indexed = {each.name for each in (stack.data / "index").glob("*")}

    assert archived == {"acme", "globex", ".spool", "lock"}
    assert indexed in (set(), {"acme", "globex", "default"})
