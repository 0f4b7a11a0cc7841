"""Two keys of one tenant with other sources, over the whole stack: neither reads or writes beyond its own.

Whatever the restricted key of `acme` reads is compared with what a tenant gets that has nothing else.
"""

from __future__ import annotations

import asyncio
import hashlib

import grpc
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pool
from google.protobuf.json_format import MessageToDict

import clausegate
from chassis.api_keys import new_key
from chassis.auth import Caller
from clausegate.answer.v1.grounding_service_pb2 import TextState
from clausegate.corpus.v1.article_pb2 import Article, Backlink
from clausegate.errors import clausegate_errors
from clausegate.ingest.v1.ingest_service_pb2 import IngestDocumentRequest, IngestHeader, IngestOutcome
from clausegate.retrieval.v1 import article_store_service_pb2 as store_pb2
from clausegate.retrieval.v1 import index_service_pb2 as index_pb2
from clausegate.retrieval.v1.article_store_service_pb2_grpc import ArticleStoreServiceStub
from clausegate.retrieval.v1.index_service_pb2_grpc import IndexServiceStub
from tests.contract.keyed_stack import ANNA, BERT, INDEX_KEYS, NOW, keyed_stack
from tests.fakes.model_server import ModelServer
from tests.fakes.renderer import Renderer

pytestmark = pytest.mark.asyncio(loop_scope="module")

CMES, CME = new_key(Caller("acme", "carol", sources=frozenset({"cme"})), NOW)
ICES, ICE = new_key(Caller("acme", "ivan", sources=frozenset({"ice", "opra"})), NOW)
FEE = "What is the monthly display fee for each device?"
FALCON = "Who may acquire Project Falcon?"
OWN_FEE, OTHER_FEE = "USD 120.50", "USD 999.00"


def agreement(fee: str, device: str, more: str = "") -> bytes:
    return f"""LICENCE

Section 1. Definitions

"Device" means {device}.
{more}
Section 2. Fees

The Licensee shall pay a monthly display fee of {fee} for each Device that shows market data.
""".encode()


OWN = {
    "cme/licence.txt": agreement(OWN_FEE, "any unit that displays data"),
    "cme/notices.txt": b"NOTICES\n\nSection 1. Notices\n\nNotices are sent by registered mail.\n",
}
OTHERS = {
    "ice/licence.txt": agreement(
        OTHER_FEE, "a terminal held in the hand", '"Project Falcon" means the acquisition of Globex.\n'
    ),
    "ice/fees.txt": b"FEES\n\nSection 1. Fees\n\nA monthly display fee is due for each device.\n",
}
THEIRS, NEVER = "ice/licence.txt", "ice/never.txt"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with ModelServer() as model:
        model.respond = Renderer()
        folder = tmp_path_factory.mktemp("sources")
        async with keyed_stack(folder, model.url, more_keys=[CMES, ICES]) as stack:
            async with stack.client(ANNA) as anna, stack.client(BERT) as twin:
                await fill(anna, {**OWN, **OTHERS})
                await fill(twin, OWN)
            yield stack


async def fill(client, documents):
    for document_id, content in documents.items():
        source, _, path = document_id.partition("/")
        await client.ingest(content, source=source, path=path)


@pytest_asyncio.fixture(loop_scope="module")
async def clients(stack):
    async with (
        stack.client(ANNA) as anna,
        stack.client(CME) as carol,
        stack.client(ICE) as ivan,
        stack.client(BERT) as twin,
    ):
        yield {"anna": anna, "carol": carol, "ivan": ivan, "twin": twin}


@pytest_asyncio.fixture(loop_scope="module")
async def carol(clients):
    return clients["carol"]


async def all_of(iterator) -> list:
    return [each async for each in iterator]


VOLATILE = {
    *("index_revision", "indexed_at", "finished_at", "latency", "query_id", "trace_id", "signature"),
    *("compiled_at", "created_at", "updated_at", "processing_time_ms"),
    *("context_tokens", "final_tokens", "prompt_tokens", "total_tokens", "cost_usd"),
    *("timestamp", "latency_ms", "bm25", "bm25_score", "fused_score", "ranking_score", "top_score"),
}
"""What two calls of one caller differ in (prompts hold a random code), and BM25: see the tests of stores."""


def told(answer: object) -> object:
    """A response without what differs from call to call."""
    if isinstance(answer, list):
        return [told(each) for each in answer]
    fields = MessageToDict(answer, preserving_proto_field_name=True)
    return without_volatile(fields)


def without_volatile(value: object) -> object:
    match value:
        case dict():
            return {name: without_volatile(each) for name, each in value.items() if name not in VOLATILE}
        case list():
            return [without_volatile(each) for each in value]
    return value


READS = {
    "documents": lambda c: all_of(c.documents()),
    "documents of a source": lambda c: all_of(c.documents(sources=["cme"])),
    "document": lambda c: c.get_document("cme/licence.txt"),
    "text": lambda c: c.get_text("cme/licence.txt", 0, 50),
    "sources": lambda c: all_of(c.sources()),
    "search": lambda c: c.search(FEE, top_k=50, background=True),
    "search by words": lambda c: c.search(FEE, mode=2, top_k=50),
    "search of what is elsewhere": lambda c: c.search(FALCON, top_k=50, background=True),
    "definitions": lambda c: all_of(c.find_definitions(terms=["Device", "Project Falcon"])),
    "definitions that passages use": lambda c: all_of(
        c.find_definitions(passages=[{"text": "Project Falcon needs a Device."}])
    ),
    "chunks": lambda c: all_of(c.chunks("cme/licence.txt")),
    "context": lambda c: c.assemble_context(query=FEE),
    "terms": lambda c: c.count_terms(["falcon", "fee", "terminal"]),
    "index": lambda c: c.describe_index(),
    "models": lambda c: c.describe_models(),
    "answer": lambda c: c.query(FEE),
    "refusal": lambda c: c.query(FALCON),
    "answer with all that explains it": lambda c: c.query(FEE, debug=True),
    "snippets": lambda c: all_of(c.snippets(FEE)),
    "grounding": lambda c: c.check_grounding(f"The monthly display fee is {OTHER_FEE} for each Device."),
}


@pytest.mark.parametrize("name", READS)
async def test_a_read_tells_what_it_tells_where_there_is_nothing_else(clients, name):
    mine, alone = [await READS[name](clients[each]) for each in ("carol", "twin")]

    assert told(mine) == told(alone)
    assert OTHER_FEE not in str(mine) or name == "grounding"


async def failure(awaitable) -> tuple:
    with pytest.raises(clausegate.ClausegateError) as error:
        await awaitable
    fields = tuple(each.field for each in error.value.fields)
    return error.value.code, error.value.reason, error.value.message, fields


NAMING = {
    "document": lambda c, name: c.get_document(name),
    "chunks": lambda c, name: all_of(c.chunks(name)),
    "original": lambda c, name: all_of(c.get_original(name)),
    "search": lambda c, name: c.search(FEE, document_ids=[name]),
    "definitions": lambda c, name: all_of(c.find_definitions(terms=["Device"], document_ids=[name])),
    "terms": lambda c, name: c.count_terms(["fee"], document_ids=[name]),
    "context": lambda c, name: c.assemble_context(query=FEE, document_ids=[name]),
    "answer": lambda c, name: c.query(FEE, document_ids=[name]),
    "streamed answer": lambda c, name: all_of(c.stream_query(FEE, document_ids=[name])),
    "snippets": lambda c, name: all_of(c.snippets(FEE, source_ids=[name])),
    "grounding": lambda c, name: c.check_grounding("A fee is due.", document_ids=[name]),
    "article": lambda c, name: c.compile_article(document_ids=[name]),
    "removal": lambda c, name: c.remove_document(name),
    "re-index": lambda c, name: c.reindex_document(name),
    "removal from the index": lambda c, name: c._answer(
        c._index.RemoveDocument, index_pb2.RemoveDocumentRequest(document_id=name), None
    ),
}


@pytest.mark.parametrize("name", NAMING)
async def test_a_document_elsewhere_is_as_one_that_is_nowhere(carol, name):
    there = await failure(NAMING[name](carol, THEIRS))
    nowhere = await failure(NAMING[name](carol, NEVER))

    assert str(there).replace(THEIRS, NEVER) == str(nowhere)
    assert there[0] == ("PERMISSION_DENIED" if name.startswith(("remov", "re-")) else "NOT_FOUND")


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, source: c.search(FEE, sources=[source]),
        lambda c, source: all_of(c.documents(sources=[source])),
        lambda c, source: c.query(FEE, sources=["cme", source]),
        lambda c, source: all_of(c.snippets(FEE, source_ids=[source])),
    ],
    ids=["search", "documents", "answer", "snippets"],
)
async def test_a_source_elsewhere_is_as_one_that_is_nowhere(carol, ask):
    there, nowhere = [await failure(ask(carol, source)) for source in ("ice", "nobody")]

    assert str(there).replace("ice", "nobody") == str(nowhere)
    assert there[1] == "SOURCE_NOT_FOUND"


async def test_a_chunk_elsewhere_cannot_be_had_by_its_id(clients):
    theirs = (await all_of(clients["ivan"].chunks(THEIRS)))[0].chunk_id

    there, nowhere = [await failure(clients["carol"].get_chunks([each])) for each in (theirs, "nowhere")]
    assert str(there).replace(theirs, "nowhere") == str(nowhere)


async def test_an_upload_elsewhere_is_refused_before_any_byte(clients):
    before = await clients["anna"].get_document(THEIRS)
    for path in ("licence.txt", "new.txt"):
        code, reason, _, fields = await failure(first_event(clients["carol"], "ice", path, b"other text"))
        assert (code, reason, fields) == ("PERMISSION_DENIED", "PERMISSION_DENIED", ("source",))

    assert await clients["anna"].get_document(THEIRS) == before
    assert b"".join(await all_of(clients["ivan"].get_original(THEIRS))) == OTHERS[THEIRS]


async def first_event(client, source: str, path: str, content: bytes):
    """What the service says to a sender that only announces a file."""
    header = IngestHeader(
        source=source,
        path=path,
        content_sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
    )

    async def requests():
        yield IngestDocumentRequest(header=header)
        await asyncio.Event().wait()

    call = client._ingest.IngestDocument(requests(), timeout=20)
    with clausegate_errors():
        event = await call.read()
    call.cancel()
    return event


async def test_the_hash_of_a_file_elsewhere_tells_nothing_and_the_same_bytes_are_ones_own(clients):
    carol, ivan = clients["carol"], clients["ivan"]
    content = OTHERS[THEIRS]
    event = await first_event(carol, "cme", "licence-of-ice.txt", content)
    assert event.WhichOneof("event") == "send_bytes"

    receipt = await carol.ingest(content, source="cme", path="licence-of-ice.txt")
    assert receipt.outcome == IngestOutcome.INGEST_OUTCOME_CREATED
    await carol.remove_document("cme/licence-of-ice.txt")
    assert b"".join(await all_of(ivan.get_original(THEIRS))) == content


REPLACE = "/clausegate.retrieval.v1.IndexService/ReplaceDocument"


async def served(call):
    with clausegate_errors():
        async for event in call:
            yield event


async def test_a_write_to_the_index_elsewhere_is_refused(stack):
    header = index_pb2.ReplaceHeader(document_id=THEIRS, generation="0" * 32)

    async def requests():
        yield index_pb2.ReplaceDocumentRequest(header=header)

    signed = INDEX_KEYS.sign(Caller("acme", "carol", sources=frozenset({"cme"})), REPLACE)
    metadata = [("authorization", f"Bearer {signed}")]
    async with grpc.aio.insecure_channel(stack.addresses.retrieval) as channel:
        write = IndexServiceStub(channel).ReplaceDocument(requests(), metadata=metadata, timeout=20)
        denied = await failure(all_of(served(write)))
    assert denied[0] == "PERMISSION_DENIED"
    assert denied[3] == ("header.document_id",)


async def test_writes_elsewhere_change_neither_revision_nor_counts(clients):
    carol, ivan = clients["carol"], clients["ivan"]
    before = await carol.describe_index()
    await ivan.ingest(b"RULES\n\nSection 1. Fees\n\nA fee is due.\n", source="opra", path="rules.txt")
    try:
        assert await carol.describe_index() == before
        assert (await ivan.describe_index()).document_count == len(OTHERS) + 1
    finally:
        await ivan.remove_document("opra/rules.txt")


async def test_a_kept_result_goes_only_to_who_holds_the_same_sources(clients):
    question = "How much is the monthly display fee for a device that shows data?"
    done = {}
    for name in ("anna", "carol", "ivan"):
        done[name] = (await all_of(clients[name].snippets(question)))[-1].done
    again = (await all_of(clients["carol"].snippets(question)))[-1].done

    assert [each.cached for each in (*done.values(), again)] == [False, False, False, True]
    assert [OWN_FEE in str(done[name]) for name in ("anna", "carol", "ivan")] == [True, True, False]
    assert [OTHER_FEE in str(done[name]) for name in ("anna", "carol", "ivan")] == [True, False, True]


async def test_results_that_are_worked_on_at_once_are_not_shared_either(clients):
    question = "How much a month is the display fee for any device?"
    asked = (all_of(clients[name].snippets(question)) for name in ("anna", "carol", "ivan"))
    anna, carol, ivan = [events[-1].done for events in await asyncio.gather(*asked)]

    assert (anna.cached, carol.cached, ivan.cached) == (False, False, False)
    assert OTHER_FEE not in str(carol)
    assert OWN_FEE not in str(ivan)


async def test_a_refusal_counts_what_the_caller_holds(clients):
    refusal = (await clients["carol"].query(FALCON)).refusal

    assert refusal.absence.documents_searched == len(OWN)
    hits = {each.term.lower(): each.chunks for each in refusal.absence.term_hits}
    assert hits["falcon"] == 0


async def test_a_project_is_there_for_who_holds_all_of_its_sources(clients):
    anna, carol, ivan = (clients[name] for name in ("anna", "carol", "ivan"))
    for name, sources in {"both": ["cme", "ice"], "own": ["cme"], "theirs": ["ice"]}.items():
        await anna.create_project(name, sources)

    assert [each.project_id for each in await all_of(carol.projects())] == ["own"]
    assert [each.project_id for each in await all_of(ivan.projects())] == ["theirs"]
    for hidden in ("both", "theirs"):
        for ask in (
            lambda name: carol.get_project(name),
            lambda name: carol.update_project(name, ["cme"]),
            lambda name: carol.delete_project(name),
            lambda name: all_of(carol.snippets(FEE, project=name)),
        ):
            there, nowhere = await failure(ask(hidden)), await failure(ask("nowhere"))
            assert str(there).replace(hidden, "nowhere") == str(nowhere)
        assert (await failure(carol.create_project(hidden, ["cme"])))[1] == "PROJECT_EXISTS"
    for write in (carol.create_project("new", ["cme", "ice"]), carol.update_project("own", ["ice"])):
        assert (await failure(write))[::3] == ("PERMISSION_DENIED", ("sources",))
    assert (await anna.get_project("both")).sources == ["cme", "ice"]
    assert OTHER_FEE not in str(await all_of(carol.snippets(FEE, project="own")))


async def test_an_article_is_there_for_who_holds_all_that_it_was_compiled_from(clients):
    anna, carol, ivan = (clients[name] for name in ("anna", "carol", "ivan"))
    await anna.compile_article(sources=["cme", "ice"], article_id="both")
    await anna.compile_article(document_ids=[THEIRS], article_id="theirs")
    own = await carol.compile_article(sources=["cme"], article_id="own")

    assert OTHER_FEE not in str(own)
    assert [each.article_id for each in await all_of(carol.articles())] == ["own"]
    assert [each.article_id for each in await all_of(ivan.articles())] == ["theirs"]
    for hidden in ("both", "theirs"):
        for ask in (
            lambda name: carol.get_article(name),
            lambda name: carol.delete_article(name),
            lambda name: carol.compile_article(article_id=name),
        ):
            there, nowhere = await failure(ask(hidden)), await failure(ask("nowhere"))
            assert str(there).replace(hidden, "nowhere") == str(nowhere)
        taken = await failure(carol.compile_article(sources=["cme"], article_id=hidden))
        assert (taken[0], taken[3]) == ("PERMISSION_DENIED", ("article_id",))
    assert {each.article_id for each in await all_of(anna.articles())} == {"both", "theirs", "own"}


async def test_the_store_of_articles_takes_and_finds_only_what_the_caller_holds(clients):
    anna, carol = (ArticleStoreServiceStub(clients[name]._channels.retrieval) for name in ("anna", "carol"))
    links = [Backlink(title="Put", article_id="put-theirs"), Backlink(title="Own", article_id="put-own")]
    for name, source in {"put-theirs": "ice", "put-own": "cme"}.items():
        put = Article(article_id=name, title="Put", sources=[source], backlink_suggestions=links)
        await put_article(anna, put)
    own = await carol.ReadArticle(store_pb2.ReadArticleRequest(article_id="put-own"), timeout=20)
    assert [each.article_id for each in own.article.backlink_suggestions] == ["", "put-own"]
    found = await carol.FindArticles(store_pb2.FindArticlesRequest(titles=["put"]), timeout=20)
    assert [each.article_id for each in found.articles] == ["put-own"]

    put = Article(article_id="put-new", title="Put", sources=["cme", "ice"])
    refused = await failure(put_article(carol, put))
    assert (refused[0], refused[3]) == ("PERMISSION_DENIED", ("article.sources",))
    for name in ("put-theirs", "put-own"):
        await anna.RemoveArticle(store_pb2.RemoveArticleRequest(article_id=name), timeout=20)


async def put_article(stub, article):
    with clausegate_errors():
        await stub.PutArticle(store_pb2.PutArticleRequest(article=article), timeout=20)


async def test_a_citation_from_elsewhere_stands_in_nothing_that_the_caller_holds(clients):
    [citation, *_] = (await clients["ivan"].query(FEE)).citations
    theirs = await clients["carol"].verify_citation(citation)

    assert (await clients["ivan"].verify_citation(citation)).text == TextState.TEXT_STATE_PRESENT
    assert told(theirs) == told(await clients["twin"].verify_citation(citation))


async def test_each_document_is_one_that_the_caller_holds(clients):
    events = [event async for event in clients["carol"].query_each([FEE])]

    assert {document.document_id for document in events[0].begun.documents} == OWN.keys()
    assert {event.cell.document_id for event in events[1:-1]} == OWN.keys()
    with pytest.raises(clausegate.ClausegateError) as raised:
        [event async for event in clients["carol"].query_each([FEE], document_ids=[THEIRS])]
    assert raised.value.reason == "DOCUMENT_NOT_FOUND"


async def test_rest_shows_each_key_its_own(stack):
    async with stack.http(f"Bearer {CME}") as http:
        listed = (await http.get("/v1/documents")).json()["documents"]
        streamed = (await http.post("/v1/query:stream", json={"query": FEE})).text
        missing = await http.get(f"/v1/documents/{THEIRS}")
        removed = await http.delete(f"/v1/documents/{THEIRS}")
        files = {"file": ("new.txt", b"RULES\n\nA fee is due.\n")}
        uploaded = await http.post("/v1/documents", data={"source": "ice", "path": "new.txt"}, files=files)

    assert {each["documentId"] for each in listed} == OWN.keys()
    assert (OWN_FEE in streamed, OTHER_FEE in streamed) == (True, False)
    assert [each.status_code for each in (missing, removed, uploaded)] == [404, 403, 403]


EXAMINED = {
    "clausegate.answer.v1.ArticleService": {
        *("CompileArticle", "DeleteArticle", "GetArticle", "ListArticles"),
    },
    "clausegate.answer.v1.GroundingService": {"CheckGrounding", "VerifyCitation"},
    "clausegate.answer.v1.ModelService": {"DescribeModels"},
    "clausegate.answer.v1.QueryService": {"Query", "QueryEach", "StreamQuery"},
    "clausegate.answer.v1.ResearchService": {"ExtractSnippets"},
    "clausegate.ingest.v1.IngestService": {
        *("GetOriginal", "IngestDocument", "ListOriginals", "ReindexDocument", "RemoveDocument"),
        "RenderPage",
    },
    "clausegate.retrieval.v1.ArticleStoreService": {
        *("FindArticles", "PutArticle", "ReadArticle", "ReadArticles", "RemoveArticle"),
    },
    "clausegate.retrieval.v1.DocumentService": {"GetDocument", "GetText", "ListDocuments", "ListSources"},
    "clausegate.retrieval.v1.IndexService": {
        *("CheckDocument", "DescribeIndex", "RemoveDocument", "ReplaceDocument", "ReportArchive"),
    },
    "clausegate.retrieval.v1.ProjectService": {
        *("CreateProject", "DeleteProject", "GetProject", "ListProjects", "UpdateProject"),
    },
    "clausegate.retrieval.v1.RetrievalService": {
        *("AssembleContext", "CountTerms", "FindDefinitions", "GetChunks", "ListChunks", "Search"),
    },
}
WITHOUT_DOCUMENTS = {
    "clausegate.answer.v1.QueryGenerationService": {"GenerateQueries"},
    "clausegate.answer.v1.RewriteService": {"Rewrite", "StreamRewrite"},
}
"""What these are given is in the request: they read no document."""


@pytest.mark.parametrize("service", sorted({**EXAMINED, **WITHOUT_DOCUMENTS}))
async def test_no_call_is_left_out_here(service):
    described = descriptor_pool.Default().FindServiceByName(service)

    assert {each.name for each in described.methods} == {**EXAMINED, **WITHOUT_DOCUMENTS}[service]
