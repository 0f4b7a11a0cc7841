"""RetrievalService over real sockets, store and model."""

from __future__ import annotations

import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from clausegate.digests import digest_of
from clausegate.retrieval.v1 import retrieval_service_pb2 as wire
from inference.fetch import DEFAULT_ENCODINGS_DIR
from inference.tokens import TokenCounters
from services.retrieval.background import USUAL_MEAN
from tests.contract.messages import reads_well
from tests.contract.retrieval_index import STORES, Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNTER = TokenCounters(DEFAULT_ENCODINGS_DIR).by("o200k_base")

AGREEMENT = Text(
    "meridian/MarketDataAgreement.txt",
    [
        "MARKET DATA AGREEMENT between Meridian Exchange Ltd and the Licensee named below.",
        "“Professional Subscriber” means a natural person who pays the Fee for the Data.",
        "“Fee” means the amount in the Fee Schedule.",
        "The Licensee shall pay a Fee of USD 400 per month for each Professional Subscriber.",
        "This Agreement is governed by the laws of the Republic of Halden.",
        "Meridian may audit the books and records of the Licensee once a year.",
    ],
    terms=[("Professional Subscriber", 1), ("Fee", 2)],
    pages=3,
)
POLICY = Text(
    "corvid/RedistributionPolicy.txt",
    [
        "REDISTRIBUTION POLICY of Corvid Markets Inc.",
        "“Fee” means what Corvid charges for redistribution.",
        "Redistribution of real-time data to third parties needs prior written approval.",
    ],
    terms=[("Fee", 1)],
)
NAMES = """
Ashgrove Balsam Cormorant Dunmore Elmwood Fennimore Gadwall Halberd Ironwood Jessamine Kestrel Larkspur
Marigold Nightjar Osprey Pemberly Quillon Rosehip Skylark Tamarind Upland Vantage
"""
LEASES = [
    Text(
        f"leases/{name}.txt",
        [
            f"LEASE between {name} Estates and the tenant, made in writing on the first day of the month.",
            "The tenant shall pay the rent on the first day of each month.",
            f"Either party may terminate this lease on {number + 3} weeks of notice.",
        ],
    )
    for number, name in enumerate(NAMES.split())
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def service(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            for text in (AGREEMENT, POLICY, *LEASES):
                await service.put(text)
            yield service


async def search(service, query, **request):
    return await service.call(service.retrieval.Search, wire.SearchRequest(query=query, **request))


async def refusal(service, method, request):
    with pytest.raises(ServiceError) as refused:
        await service.call(method, request)
    assert reads_well(refused.value), str(refused.value)
    return refused.value


# Search


async def test_the_clause_that_answers_comes_first(service):
    response = await search(service, "What is the governing law?", sources=["meridian"])

    assert response.candidates[0].chunk.text == AGREEMENT.paragraphs[4]
    assert response.normalized_query == "governing law"
    assert response.clause_question == "What is the governing law?"
    assert list(response.keyword_stems) == ["govern", "law"]
    assert "jurisdict" in response.lexicon_stems
    assert not response.routed_documents
    assert not response.HasField("background")


async def test_a_chunk_comes_back_as_it_was_stored(service):
    response = await search(service, "governing law", sources=["meridian"], top_k=1)

    [candidate] = response.candidates
    assert candidate.chunk.HasField("indexed_at")
    candidate.chunk.ClearField("indexed_at")
    assert candidate.chunk == AGREEMENT.chunk(4)


async def test_candidates_carry_raw_scores_ranks_evidence_and_windows(service):
    response = await search(service, "What is the governing law?", sources=["meridian"])

    best = response.candidates[0]
    assert (best.vector_rank, best.keyword_rank) == (1, 1)
    assert best.vector_similarity == pytest.approx(response.vector.top_score)
    assert best.bm25_score == pytest.approx(response.keyword.top_score)
    evidence = best.evidence
    assert evidence.combined == pytest.approx(
        evidence.similarity + 0.5 * evidence.keyword_share + 0.35 * evidence.lexicon_share
    )
    assert evidence.similarity == max(window.similarity for window in best.windows)
    assert best.windows[0].span == best.chunk.span
    assert best.ranking_score == pytest.approx(evidence.combined)


async def test_the_former_field_of_the_ranking_score_is_filled_as_well(service):
    response = await search(service, "What is the governing law?")

    assert [candidate.fused_score for candidate in response.candidates] == [
        candidate.ranking_score for candidate in response.candidates
    ]


async def test_candidates_are_sorted_and_distinct(service):
    response = await search(service, "fee and data")

    scores = [candidate.ranking_score for candidate in response.candidates]
    assert scores == sorted(scores, reverse=True)
    assert len({candidate.chunk.chunk_id for candidate in response.candidates}) == len(scores)
    assert response.merged.count == response.vector.count + response.keyword.count
    assert response.merged.unique_chunks <= response.merged.count


@pytest.mark.parametrize(("top_k", "expected"), [(0, 12), (3, 3), (100, 30), (101, 30)])
async def test_the_number_of_candidates_is_limited(service, top_k, expected):
    response = await search(service, "rent", sources=["leases"], top_k=top_k, vector_k=30, keyword_k=22)
    assert len(response.candidates) == expected


async def test_the_keyword_mode_runs_that_leg_alone(service):
    response = await search(service, "audit books", mode=wire.SEARCH_MODE_KEYWORD)

    assert response.vector == wire.Leg()
    assert response.candidates[0].chunk.text == AGREEMENT.paragraphs[5]
    assert not response.candidates[0].HasField("vector_similarity")
    assert response.candidates[0].ranking_score == response.candidates[0].bm25_score


async def test_the_vector_mode_runs_that_leg_alone(service):
    response = await search(service, "inspection of accounts", mode=wire.SEARCH_MODE_VECTOR)

    assert response.keyword == wire.Leg()
    assert response.candidates[0].chunk.text == AGREEMENT.paragraphs[5]
    assert not response.candidates[0].HasField("bm25_score")
    assert response.candidates[0].ranking_score == response.candidates[0].vector_similarity


async def test_keyword_first_leaves_the_vectors_alone_when_keywords_find_it(service):
    response = await search(
        service, "redistribution of real-time data to third parties", mode=wire.SEARCH_MODE_KEYWORD_FIRST
    )

    assert response.keyword.top_score >= 2
    assert response.vector == wire.Leg()


@pytest.mark.parametrize("query", ["xylophones", "rent"])
async def test_keyword_first_asks_the_vectors_when_keywords_are_weak(service, query):
    response = await search(service, query, mode=wire.SEARCH_MODE_KEYWORD_FIRST)
    assert response.vector.count == 10


@pytest.mark.parametrize(
    "query",
    [
        'real-time AND (fee OR -data) NOT "x',
        "text:fee~2 ^3 [a TO b] {c} * ? \\ / + - && || !",
        "'; DROP TABLE chunks; --",
        "S&P 10b-5 401(k)",
        "§ 中文 Ω é 😀",
        "?",
        "\t\n fee \r\n",
        "the",
        "a" * 8000,
    ],
)
async def test_any_text_is_safe(service, query):
    response = await search(service, query, background=True)
    assert response.normalized_query


INVALID = ("INVALID_ARGUMENT", "INVALID_FIELD")


@pytest.mark.parametrize(
    ("request_", "code_and_reason", "field"),
    [
        ({"query": ""}, INVALID, "query"),
        ({"query": " \n"}, INVALID, "query"),
        ({"query": "a\0b"}, INVALID, "query"),
        ({"query": "a" * 100_000}, INVALID, "query"),
        ({"top_k": -1}, INVALID, "top_k"),
        ({"vector_k": -1}, INVALID, "vector_k"),
        ({"keyword_k": -1}, INVALID, "keyword_k"),
        ({"mode": 99}, INVALID, "mode"),
        ({"sources": list(map(str, range(10_000)))}, INVALID, "sources"),
        ({"document_ids": list(map(str, range(101)))}, INVALID, "document_ids"),
        ({"at_least": [wire.DocumentVersion()]}, INVALID, "at_least[0].document_id"),
        ({"sources": ["cmee"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "sources[0]"),
        ({"sources": ["corvid", ""]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "sources[1]"),
        ({"document_ids": ["cme/x"]}, ("NOT_FOUND", "DOCUMENT_NOT_FOUND"), "document_ids[0]"),
    ],
)
async def test_bad_searches_are_refused_with_the_field(service, request_, code_and_reason, field):
    request = wire.SearchRequest(**{"query": "a", **request_})
    refused = await refusal(service, service.retrieval.Search, request)
    assert ((refused.code, refused.reason), refused.field) == (code_and_reason, field)


async def test_a_search_sees_at_least_the_versions_it_names(service):
    seen = wire.DocumentVersion(document_id=POLICY.document_id, generation=POLICY.generation)
    response = await search(service, "redistribution", at_least=[seen])
    assert response.candidates


@pytest.mark.parametrize("document_id", [POLICY.document_id, "corvid/not-there.txt"])
async def test_a_version_that_is_not_visible_yet_may_be_asked_for_later(service, document_id):
    version = wire.DocumentVersion(document_id=document_id, generation="another")
    request = wire.SearchRequest(query="redistribution", at_least=[version])

    refused = await refusal(service, service.retrieval.Search, request)

    assert (refused.code, refused.reason, refused.field) == (
        "FAILED_PRECONDITION",
        "INDEX_BEHIND",
        "at_least[0]",
    )
    assert refused.retry_after_seconds == 1


async def test_the_background_is_measured_in_other_documents(service):
    response = await search(service, "governing law", sources=["meridian"], background=True)

    assert response.background.calibrated
    assert response.background.documents == len(LEASES) + 1
    assert 0 < response.background.mean < response.candidates[0].evidence.combined


async def test_few_other_documents_leave_the_background_near_the_usual_one(service):
    everywhere = await search(service, "rent notice", top_k=40, vector_k=40, background=True)

    assert everywhere.background.calibrated
    assert everywhere.background.documents == 2
    assert everywhere.background.mean == pytest.approx(USUAL_MEAN, abs=0.1)


NAMED = "Consider the lease between Kestrel Estates and the tenant; What notice of termination is needed?"


async def test_a_question_that_names_its_document_is_answered_within_it(service):
    response = await search(service, NAMED)

    assert [document.document_id for document in response.routed_documents][:1] == ["leases/Kestrel.txt"]
    assert response.clause_question == "What notice of termination is needed"
    assert response.candidates[0].chunk.document_id == "leases/Kestrel.txt"
    assert "weeks of notice" in response.candidates[0].chunk.text
    assert response.candidates[0].ranking_score == pytest.approx(response.candidates[0].evidence.combined + 1)


@pytest.mark.parametrize(
    "where", [{"route": False}, {"document_ids": [POLICY.document_id]}, {"sources": ["corvid"]}]
)
async def test_a_question_is_not_routed_when_told_where_to_look(service, where):
    response = await search(service, NAMED, **where)
    assert not response.routed_documents
    assert response.clause_question == NAMED


async def test_a_new_document_is_routed_to_at_once(service):
    text = Text("leases/Zephyr.txt", ["LEASE between Zephyr Halls and the tenant.", "Pets are not allowed."])
    await service.put(text)

    response = await search(service, "In the lease between Zephyr Halls and the tenant: are pets allowed?")

    assert [document.document_id for document in response.routed_documents][:1] == ["leases/Zephyr.txt"]


# Chunks of a document


async def chunk_pages(service, document_id, page_size):
    token, seen = "", []
    while True:
        request = wire.ListChunksRequest(document_id=document_id, page_size=page_size, page_token=token)
        page = await service.call(service.retrieval.ListChunks, request)
        seen.append(list(page.chunks))
        token = page.next_page_token
        if not token:
            return seen


@pytest.mark.parametrize("page_size", [1, 2, 3, 5, 6, 7, 0, 101])
async def test_paging_sees_every_chunk_of_a_document_once_in_order(service, page_size):
    seen = await chunk_pages(service, AGREEMENT.document_id, page_size)
    assert [chunk.chunk_id for page in seen for chunk in page] == [AGREEMENT.chunk_id(n) for n in range(6)]
    assert all(len(page) == page_size for page in seen[:-1])


@pytest.mark.parametrize("html", [False, True])
async def test_chunks_are_html_where_that_is_asked_for(service, html):
    listed = await service.call(
        service.retrieval.ListChunks, wire.ListChunksRequest(document_id=AGREEMENT.document_id, html=html)
    )
    chunk_ids = [chunk.chunk_id for chunk in listed.chunks]
    read = await service.call(
        service.retrieval.GetChunks, wire.GetChunksRequest(chunk_ids=chunk_ids, html=html)
    )
    assert all(chunk.html.startswith("<p>") == html for chunk in [*listed.chunks, *read.chunks])
    assert listed.chunks == read.chunks
    assert all(digest_of(chunk) == chunk.digest for chunk in listed.chunks if chunk.digest)


async def test_a_page_of_a_version_that_was_replaced_is_refused(service):
    document_id = "leases/Replaced.txt"
    await service.put(Text(document_id, ["Rent is due.", "Notice is given.", "Pets are allowed."]))
    request = wire.ListChunksRequest(document_id=document_id, page_size=1)
    request.page_token = (await service.call(service.retrieval.ListChunks, request)).next_page_token
    await service.put(Text(document_id, ["Rent falls.", "Notice is short.", "Pets are not allowed."]))
    refused = await refusal(service, service.retrieval.ListChunks, request)
    assert (refused.code, refused.reason, refused.field) == ("ABORTED", "DOCUMENT_CONFLICT", "page_token")


async def test_a_page_beyond_the_end_of_a_newer_version_is_refused(service):
    document_id = "leases/Shortened.txt"
    await service.put(Text(document_id, ["Rent is due.", "Notice is given."]))
    request = wire.ListChunksRequest(document_id=document_id, page_size=1)
    request.page_token = (await service.call(service.retrieval.ListChunks, request)).next_page_token
    await service.put(Text(document_id, ["Rent falls."]))
    assert (await refusal(service, service.retrieval.ListChunks, request)).code == "ABORTED"


@pytest.mark.parametrize(
    ("request_", "code_and_reason", "field"),
    [
        ({"document_id": ""}, INVALID, "document_id"),
        ({"document_id": "cme/x"}, ("NOT_FOUND", "DOCUMENT_NOT_FOUND"), "document_id"),
        ({"page_size": -1}, INVALID, "page_size"),
        ({"page_token": "made up"}, INVALID, "page_token"),
    ],
)
async def test_bad_lists_of_chunks_are_refused_with_the_field(service, request_, code_and_reason, field):
    request = wire.ListChunksRequest(**{"document_id": AGREEMENT.document_id, **request_})
    refused = await refusal(service, service.retrieval.ListChunks, request)
    assert ((refused.code, refused.reason), refused.field) == (code_and_reason, field)


# Context


async def assemble(service, **request):
    return await service.call(service.retrieval.AssembleContext, wire.AssembleContextRequest(**request))


def places(assembled):
    return [(each.chunk.document_id, each.chunk.ordinal) for each in assembled.passages]


async def test_context_for_a_question_is_what_matches_in_the_order_of_the_documents(service):
    everything = await assemble(service, query="governing law", sources=["meridian", "corvid"])

    assert places(everything) == [
        *((POLICY.document_id, number) for number in range(3)),
        *((AGREEMENT.document_id, number) for number in range(6)),
    ]
    assert everything.chunks_left_out == 0
    assert everything.text.startswith(
        f'[Source: "RedistributionPolicy.txt" (id: {POLICY.document_id}), Section: "Terms"]\n'
        f"{POLICY.paragraphs[0]}\n---\n[Source: "
    )


async def test_the_best_chunk_of_a_question_gets_in_first(service):
    assembled = await assemble(service, query="governing law", sources=["meridian"], token_budget=60)
    assert places(assembled) == [(AGREEMENT.document_id, 4)]
    assert assembled.chunks_left_out == 5
    assert assembled.passages[0].span == AGREEMENT.span(4)


async def test_context_without_a_question_is_the_beginnings_of_the_documents(service):
    assembled = await assemble(service, sources=["meridian", "corvid"], token_budget=150)
    assert places(assembled)[0] == (POLICY.document_id, 0)
    assert (AGREEMENT.document_id, 0) in places(assembled)
    assert assembled.chunks_left_out == 9 - len(assembled.passages) > 0


async def test_context_of_documents_holds_nothing_of_others(service):
    assembled = await assemble(service, document_ids=[POLICY.document_id])
    assert places(assembled) == [(POLICY.document_id, number) for number in range(3)]


@pytest.mark.parametrize("token_budget", [1, 20, 40, 60, 100, 200, 0])
@pytest.mark.parametrize("query", ["governing law", ""])
async def test_context_keeps_its_budget_and_says_how_it_was_counted(service, query, token_budget):
    assembled = await assemble(service, query=query, sources=["meridian"], token_budget=token_budget)
    assert assembled.token_count == COUNTER.count(assembled.text) <= (token_budget or 8000)
    assert assembled.token_encoding == COUNTER.encoding == "o200k_base"
    assert assembled.chunks_left_out + len(assembled.passages) == 6


async def test_context_of_a_budget_that_holds_nothing_is_empty(service):
    assembled = await assemble(service, sources=["meridian"], token_budget=1)
    assert (assembled.text, len(assembled.passages), assembled.chunks_left_out) == ("", 0, 6)


@pytest.mark.parametrize(
    ("request_", "code_and_reason", "field"),
    [
        ({}, INVALID, "sources"),
        ({"query": " "}, INVALID, "query"),
        ({"query": "a\0b"}, INVALID, "query"),
        ({"query": "a" * 8001}, INVALID, "query"),
        ({"query": "a", "token_budget": -1}, INVALID, "token_budget"),
        ({"sources": list(map(str, range(101)))}, INVALID, "sources"),
        ({"document_ids": list(map(str, range(101)))}, INVALID, "document_ids"),
        ({"sources": ["corvid", "cmee"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "sources[1]"),
        ({"query": "a", "sources": ["cmee"]}, ("NOT_FOUND", "SOURCE_NOT_FOUND"), "sources[0]"),
        ({"document_ids": ["cme/x"]}, ("NOT_FOUND", "DOCUMENT_NOT_FOUND"), "document_ids[0]"),
    ],
)
async def test_bad_contexts_are_refused_with_the_field(service, request_, code_and_reason, field):
    request = wire.AssembleContextRequest(**request_)
    refused = await refusal(service, service.retrieval.AssembleContext, request)
    assert ((refused.code, refused.reason), refused.field) == (code_and_reason, field)


# Definitions


async def define(service, **request):
    response = await service.call(service.retrieval.FindDefinitions, wire.FindDefinitionsRequest(**request))
    return response.definitions


async def test_a_term_is_defined_by_every_document_that_defines_it(service):
    found = await define(service, terms=["“FEES”"])

    assert [(each.definition.document_id, each.depth, each.used_by) for each in found] == [
        (POLICY.document_id, 1, ""),
        (AGREEMENT.document_id, 1, ""),
    ]
    assert found[0].definition == POLICY.definition("Fee", 1)


async def test_other_words_for_the_same_term_are_conflicts(service):
    [found] = [each for each in await define(service, terms=["fee"]) if each.definition.source == "corvid"]
    assert [each.document_id for each in found.conflicting] == [AGREEMENT.document_id]


async def test_an_unknown_term_has_no_definition(service):
    assert not await define(service, terms=["Unicorn"])


async def test_definitions_are_followed_to_the_depth_asked(service):
    passage = wire.Passage(
        text=AGREEMENT.paragraphs[4].replace("laws", "Professional Subscriber"),
        document_id=AGREEMENT.document_id,
    )

    shallow = await define(service, passages=[passage], max_depth=1)
    deep = await define(service, passages=[passage])

    assert [each.definition.term for each in shallow] == ["Professional Subscriber"]
    assert [(each.definition.term, each.depth, each.used_by) for each in deep] == [
        ("Professional Subscriber", 1, ""),
        ("Fee", 2, "Professional Subscriber"),
    ]


async def test_a_passage_gets_the_definition_of_its_own_document(service):
    passage = wire.Passage(text="The Fee is due.", document_id=POLICY.document_id)
    assert [each.definition.document_id for each in await define(service, passages=[passage])] == [
        POLICY.document_id
    ]


async def test_a_question_gets_the_definition_of_every_source(service):
    found = await define(service, passages=[wire.Passage(text="what is the fee?")])
    assert {each.definition.source for each in found} == {"corvid", "meridian"}


async def test_definitions_are_searched_in_scope(service):
    assert [
        each.definition.source for each in await define(service, terms=["fee"], sources=["meridian"])
    ] == ["meridian"]
    assert not (await define(service, terms=["fee"], document_ids=[AGREEMENT.document_id]))[0].conflicting


async def test_paging_sees_every_definition_once(service):
    request = wire.FindDefinitionsRequest(terms=["Fee", "Professional Subscriber"], page_size=2)
    first = await service.call(service.retrieval.FindDefinitions, request)
    request.page_token = first.next_page_token
    second = await service.call(service.retrieval.FindDefinitions, request)

    assert len(first.definitions) == 2
    assert len(second.definitions) == 1
    assert not second.next_page_token
    found = [*first.definitions, *second.definitions]
    assert len({each.definition.definition_id for each in found}) == 3


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (wire.FindDefinitionsRequest(), "INVALID_FIELD", "terms"),
        (
            wire.FindDefinitionsRequest(terms=["a"], passages=[wire.Passage(text="a")]),
            "INVALID_FIELD",
            "terms",
        ),
        (wire.FindDefinitionsRequest(terms=map(str, range(101))), "INVALID_FIELD", "terms"),
        (wire.FindDefinitionsRequest(terms=["a", ""]), "INVALID_FIELD", "terms[1]"),
        (wire.FindDefinitionsRequest(terms=["a" * 201]), "INVALID_FIELD", "terms[0]"),
        (wire.FindDefinitionsRequest(passages=[wire.Passage()] * 51), "INVALID_FIELD", "passages"),
        (
            wire.FindDefinitionsRequest(passages=[wire.Passage(text="a" * 20_001)]),
            "INVALID_FIELD",
            "passages[0].text",
        ),
        (wire.FindDefinitionsRequest(terms=["a"], max_depth=-1), "INVALID_FIELD", "max_depth"),
        (wire.FindDefinitionsRequest(terms=["a"], page_size=-1), "INVALID_FIELD", "page_size"),
        (wire.FindDefinitionsRequest(terms=["a"], page_token="x"), "INVALID_FIELD", "page_token"),
        (wire.FindDefinitionsRequest(terms=["a"], sources=["cmee"]), "SOURCE_NOT_FOUND", "sources[0]"),
        (
            wire.FindDefinitionsRequest(terms=["a"], document_ids=["x"]),
            "DOCUMENT_NOT_FOUND",
            "document_ids[0]",
        ),
    ],
)
async def test_bad_requests_for_definitions_are_refused_with_the_field(service, request_, reason, field):
    refused = await refusal(service, service.retrieval.FindDefinitions, request_)
    assert (refused.reason, refused.field) == (reason, field)


# Chunks and terms


async def test_chunks_are_read_in_the_order_asked(service):
    chunk_ids = [AGREEMENT.chunk_id(4), POLICY.chunk_id(0), AGREEMENT.chunk_id(4)]
    response = await service.call(service.retrieval.GetChunks, wire.GetChunksRequest(chunk_ids=chunk_ids))
    assert [chunk.chunk_id for chunk in response.chunks] == chunk_ids
    assert [one.document_id for one in response.documents] == sorted(
        {chunk.document_id for chunk in response.chunks}
    )
    assert {one.generation for one in response.documents} == {chunk.generation for chunk in response.chunks}


@pytest.mark.parametrize(
    ("chunk_ids", "reason", "field"),
    [
        ([], "INVALID_FIELD", "chunk_ids"),
        (list(map(str, range(101))), "INVALID_FIELD", "chunk_ids"),
        ([AGREEMENT.chunk_id(0), "gone"], "CHUNK_NOT_FOUND", "chunk_ids[1]"),
        ([""], "CHUNK_NOT_FOUND", "chunk_ids[0]"),
    ],
)
async def test_missing_chunks_are_named(service, chunk_ids, reason, field):
    refused = await refusal(service, service.retrieval.GetChunks, wire.GetChunksRequest(chunk_ids=chunk_ids))
    assert (refused.reason, refused.field) == (reason, field)


async def test_terms_are_counted_with_all_their_words_in_any_inflection(service):
    terms = ["Professional subscribers", "audits", "unicorn", "§", "fee"]
    request = wire.CountTermsRequest(terms=terms, sources=["meridian"])

    response = await service.call(service.retrieval.CountTerms, request)

    assert [(each.term, each.chunks) for each in response.counts] == [
        ("Professional subscribers", 2),
        ("audits", 1),
        ("unicorn", 0),
        ("§", 0),
        ("fee", 3),
    ]
    assert (response.documents, response.pages, response.unreadable_pages) == (1, 3, 2)


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (wire.CountTermsRequest(), "INVALID_FIELD", "terms"),
        (wire.CountTermsRequest(terms=map(str, range(51))), "INVALID_FIELD", "terms"),
        (wire.CountTermsRequest(terms=["a" * 201]), "INVALID_FIELD", "terms[0]"),
        (wire.CountTermsRequest(terms=["a"], sources=["cmee"]), "SOURCE_NOT_FOUND", "sources[0]"),
        (wire.CountTermsRequest(terms=["a"], document_ids=["x"]), "DOCUMENT_NOT_FOUND", "document_ids[0]"),
    ],
)
async def test_bad_counts_are_refused_with_the_field(service, request_, reason, field):
    refused = await refusal(service, service.retrieval.CountTerms, request_)
    assert (refused.reason, refused.field) == (reason, field)


async def test_all_reads_name_the_revision_they_saw(service):
    revision = (await search(service, "fee")).index_revision
    definitions = await service.call(
        service.retrieval.FindDefinitions, wire.FindDefinitionsRequest(terms=["fee"])
    )
    chunks = await service.call(
        service.retrieval.GetChunks, wire.GetChunksRequest(chunk_ids=[POLICY.chunk_id(0)])
    )
    counts = await service.call(service.retrieval.CountTerms, wire.CountTermsRequest(terms=["fee"]))
    contexts = [await assemble(service, query="fee"), await assemble(service, sources=["corvid"])]
    assert {each.index_revision for each in (definitions, chunks, counts, *contexts)} == {revision}
