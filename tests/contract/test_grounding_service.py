"""GroundingService over real sockets, beside a real index and without a model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1 import grounding_service_pb2 as grounding_pb2
from clausegate.answer.v1.grounding_service_pb2 import (
    CheckGroundingRequest,
    GroundingClaim,
    VerifyCitationRequest,
)
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceStub
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from clausegate.answer.v1.query_service_pb2_grpc import QueryServiceStub
from clausegate.corpus.v1 import citation_pb2
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.span_pb2 import Span
from clausegate.retrieval.v1.index_service_pb2 import RemoveDocumentRequest
from services.answer.verification.signing import SigningKeysBroken
from tests.contract.model_stack import CORPUS, LICENCE, TEXTS, answering, failure_of, index_of
from tests.contract.retrieval_index import Text, service_at

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = "# spring\nk-2025:" + "0f" * 32 + "\n"
ROTATED = "k-2026:" + "a1" * 32 + "\n" + KEYS
NOTICE_RULE = "Either party may terminate this Agreement for convenience on ninety (90) days’ written notice."
FEE = "The Licensee shall pay a monthly display fee of USD 120.50 for each Device that shows market data."
VERDICTS = grounding_pb2.GroundingVerdict
Stub = GroundingServiceStub


def written(folder: Path, text: str) -> Path:
    path = folder / "signing-keys"
    path.write_text(text)
    return path


@asynccontextmanager
async def serving(index: str, folder: Path, keys: str = "") -> AsyncIterator[tuple[Stub, QueryServiceStub]]:
    settings = {"signing_keys_file": written(folder, keys)} if keys else {}
    async with answering(index, folder, **settings) as stubs, open_channel(stubs.address) as channel:
        yield GroundingServiceStub(channel), stubs.queries


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory) -> AsyncIterator[str]:
    async with index_of(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def signed(index, tmp_path_factory) -> AsyncIterator[tuple[Stub, Citation]]:
    """The service with a key, and a citation it has signed."""
    async with serving(index, tmp_path_factory.mktemp("signed"), KEYS) as (stub, queries):
        response = await queries.Query(
            QueryRequest(query="How can the agreement be terminated for convenience?", sources=["cme"])
        )
        yield stub, response.citations[0]


@pytest_asyncio.fixture(loop_scope="module")
async def checks(index, tmp_path) -> AsyncIterator[Stub]:
    async with serving(index, tmp_path) as (stub, _):
        yield stub


async def check_claim(stub: Stub, text: str, *quotes: str, **scope: object) -> tuple[object, object]:
    request = CheckGroundingRequest(claims=[GroundingClaim(text=text, quotes=quotes)], **scope)
    response = await stub.CheckGrounding(request)
    return response.claims[0], response


async def verify(stub: Stub, citation: Citation) -> grounding_pb2.VerifyCitationResponse:
    return await stub.VerifyCitation(VerifyCitationRequest(citation=citation))


async def failure(call) -> object:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return failure_of(caught.value)


def citation_of(quote: str, document: Text = LICENCE) -> Citation:
    start = TEXTS[document.document_id].index(quote)
    return Citation(
        document=document.document_id, quote=quote, span=Span(start=start, end=start + len(quote))
    )


# CheckGrounding


async def test_the_documents_own_words_are_verbatim_and_cited(checks):
    claim, response = await check_claim(checks, NOTICE_RULE)
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_VERBATIM
    (citation,) = response.citations
    assert list(claim.citation_numbers) == [citation.number]
    assert TEXTS[citation.document][citation.span.start : citation.span.end] == citation.quote == NOTICE_RULE
    assert citation.certificate.model == "extractive"
    assert response.grounded
    assert response.index_revision


async def test_a_claim_that_its_quotes_carry_is_supported(checks):
    claim, response = await check_claim(
        checks, "Termination for convenience takes 90 days' notice.", NOTICE_RULE
    )
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_SUPPORTED
    assert [one.quote for one in response.citations] == [NOTICE_RULE]
    assert response.grounded


async def test_a_claim_that_says_otherwise_than_its_quotes_is_contradicted(checks):
    claim, response = await check_claim(checks, "Each party must give 60 days' notice.", NOTICE_RULE)
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_CONTRADICTED
    number = next(finding for finding in claim.findings if finding.rule == grounding_pb2.LINT_RULE_NUMBER)
    assert claim.text[number.span.start : number.span.end] == "60 days"
    assert number.clause_text == "ninety (90) days"
    assert not response.grounded


@pytest.mark.parametrize("quotes", [(), ("may share data with its clients",)])
async def test_a_condition_that_a_claim_cuts_off_is_overstated(tmp_path, quotes):
    permit = Text("cme/permit.txt", ["A Vendor may share data with its clients if CME consents to it."])
    async with index_of(tmp_path / "index", (permit,)) as index, serving(index, tmp_path) as (stub, _):
        claim, _ = await check_claim(stub, "A Vendor may share data with its clients", *quotes)
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_OVERSTATED
    assert [finding.rule for finding in claim.findings] == [grounding_pb2.LINT_RULE_CONDITION]


@pytest.mark.parametrize("quotes", [(), ("may share data with its clients",)])
async def test_words_cut_out_of_a_denial_are_overstated(tmp_path, quotes):
    denial = Text("cme/denial.txt", ["Fees are due. No Vendor may share data with its clients."])
    async with index_of(tmp_path / "index", (denial,)) as index, serving(index, tmp_path) as (stub, _):
        claim, _ = await check_claim(stub, "Vendor may share data with its clients.", *quotes)
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_OVERSTATED
    assert {finding.rule for finding in claim.findings} >= {grounding_pb2.LINT_RULE_NEGATION}


@pytest.mark.parametrize(
    "quote",
    [
        NOTICE_RULE.replace("ninety (90)", "sixty (60)"),
        "Either party may terminate this Agreement … on ninety (90) days’ written notice.",
        f"{NOTICE_RULE} {FEE}",
        "The fee is waived for everybody who asks politely.",
    ],
    ids=["altered", "ellipsis", "stitched", "invented"],
)
async def test_a_quote_that_stands_nowhere_is_misquoted_and_named(checks, quote):
    claim, response = await check_claim(checks, "Notice is needed.", quote, NOTICE_RULE)
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_MISQUOTED
    assert list(claim.missing_quotes) == [quote]
    numbers = list(claim.citation_numbers)
    assert [one.quote for one in response.citations if one.number in numbers] == [NOTICE_RULE]
    assert not response.grounded


async def test_a_claim_without_quotes_is_supported_by_a_clause_that_says_it_in_other_words(checks):
    claim, response = await check_claim(checks, "The agreement can be ended on ninety days’ notice.")
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_SUPPORTED
    (citation,) = response.citations
    assert list(claim.citation_numbers) == [citation.number] == [claim.nearest_citation_number]
    assert claim.nearest_clause.text == citation.quote == LICENCE.paragraphs[2]
    assert not claim.nearest_clause.quoted
    assert claim.nearest_clause.document_label == claim.nearest_clause.title != ""
    assert response.grounded


@pytest.mark.parametrize(
    ("text", "verdict", "marked", "instead"),
    [
        ("Either party can end it on sixty days’ notice.", "CONTRADICTED", "sixty days", "ninety (90) days"),
        ("Fees paid in advance are refunded.", "CONTRADICTED", "", "not refunded"),
        ("Fees are invoiced in advance by courier.", "OVERSTATED", "courier", ""),
        ("The canteen serves vegetarian meals.", "NOT_FOUND", "", ""),
    ],
)
async def test_what_a_claim_without_quotes_says_beyond_the_nearest_clause_is_marked(
    checks, text, verdict, marked, instead
):
    claim, response = await check_claim(checks, text)
    assert VERDICTS.Name(claim.verdict) == f"GROUNDING_VERDICT_{verdict}"
    found = [(text[one.span.start : one.span.end], one.clause_text) for one in claim.findings]
    assert ((marked, instead) in found) == bool(marked or instead)
    assert not claim.citation_numbers
    assert not response.grounded
    nearest = next(one for one in response.citations if one.number == claim.nearest_citation_number)
    assert claim.nearest_clause.text == nearest.quote
    assert (await verify(checks, nearest)).text == grounding_pb2.TEXT_STATE_PRESENT


async def test_quotes_within_quotation_marks_of_a_claim_count_as_its_quotes(checks):
    claim, _ = await check_claim(checks, f"The licence says: “{NOTICE_RULE}”")
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_SUPPORTED


async def test_a_text_is_checked_sentence_by_sentence(checks):
    text = f"{NOTICE_RULE} {FEE} [1]\n\nNobody ever bakes bread. "
    response = await checks.CheckGrounding(CheckGroundingRequest(text=text))
    assert [claim.verdict for claim in response.claims] == [
        VERDICTS.GROUNDING_VERDICT_VERBATIM,
        VERDICTS.GROUNDING_VERDICT_VERBATIM,
        VERDICTS.GROUNDING_VERDICT_NOT_FOUND,
    ]
    assert [number for claim in response.claims for number in claim.citation_numbers] == [1, 2]


async def test_an_answer_of_ours_is_grounded(index, tmp_path):
    async with serving(index, tmp_path) as (stub, queries):
        answer = await queries.Query(QueryRequest(query="What is the monthly display fee?"))
        response = await stub.CheckGrounding(CheckGroundingRequest(text=answer.answer.split("\n", 1)[-1]))
    assert response.grounded


async def test_words_are_looked_for_within_the_scope_only(checks):
    inside, _ = await check_claim(checks, NOTICE_RULE, document_ids=["cme/licence.txt"])
    outside, _ = await check_claim(checks, NOTICE_RULE, sources=["opra"])
    assert inside.verdict == VERDICTS.GROUNDING_VERDICT_VERBATIM
    assert outside.verdict == VERDICTS.GROUNDING_VERDICT_NOT_FOUND


async def test_a_quote_in_another_setting_is_found_and_given_in_the_documents_words(checks):
    claim, response = await check_claim(
        checks, "The first tier costs USD 1,250 a year.", "a non-exclusive licence of the first tier."
    )
    assert response.citations[0].quote == "a non-\nexclusive licence of the ﬁrst tier."
    assert response.citations[0].match_level == citation_pb2.MATCH_LEVEL_FOLDED
    assert claim.verdict == VERDICTS.GROUNDING_VERDICT_OVERSTATED


async def test_citations_of_a_check_are_signed(signed):
    stub, _ = signed
    _, response = await check_claim(stub, NOTICE_RULE)
    verified = await verify(stub, response.citations[0])
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_VALID
    assert verified.text == grounding_pb2.TEXT_STATE_PRESENT


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (CheckGroundingRequest(), "text"),
        (CheckGroundingRequest(text="  \n"), "text"),
        (CheckGroundingRequest(text="…"), "text"),
        (CheckGroundingRequest(text="x" * 20_001), "text"),
        (CheckGroundingRequest(text="A bell\a."), "text"),
        (CheckGroundingRequest(text="One is here. " * 101), "text"),
        (CheckGroundingRequest(text="One.", claims=[GroundingClaim(text="One.")]), "claims"),
        (CheckGroundingRequest(claims=[GroundingClaim(text="One.")] * 101), "claims"),
        (CheckGroundingRequest(claims=[GroundingClaim(text="One."), GroundingClaim()]), "claims[1].text"),
        (CheckGroundingRequest(claims=[GroundingClaim(text="x" * 4_001)]), "claims[0].text"),
        (CheckGroundingRequest(claims=[GroundingClaim(text="x", quotes=["q"] * 11)]), "claims[0].quotes"),
        (CheckGroundingRequest(claims=[GroundingClaim(text="x", quotes=["q", " "])]), "claims[0].quotes[1]"),
        (
            CheckGroundingRequest(claims=[GroundingClaim(text="x", quotes=["q" * 8_001])]),
            "claims[0].quotes[0]",
        ),
        (CheckGroundingRequest(text="One.", sources=["cme"] * 101), "sources"),
        (CheckGroundingRequest(text="One.", document_ids=[""]), "document_ids[0]"),
    ],
)
async def test_a_check_that_cannot_be_made_names_its_field(checks, request_, field):
    failed = await failure(checks.CheckGrounding(request_))
    assert (failed.kind, failed.field) == (("INVALID_ARGUMENT", "INVALID_FIELD"), field)


async def test_unknown_sources_and_documents_are_not_found(checks):
    no_source = await failure(
        checks.CheckGrounding(CheckGroundingRequest(text="One.", sources=["cme", "nope"]))
    )
    no_document = await failure(
        checks.CheckGrounding(CheckGroundingRequest(text="One.", document_ids=["cme/none.txt"]))
    )
    assert (no_source.kind, no_source.field) == (("NOT_FOUND", "SOURCE_NOT_FOUND"), "sources[1]")
    assert (no_document.kind, no_document.field) == (("NOT_FOUND", "DOCUMENT_NOT_FOUND"), "document_ids[0]")


async def test_without_retrieval_a_check_fails_as_unavailable(tmp_path, free_port):
    async with serving(f"127.0.0.1:{free_port()}", tmp_path) as (stub, _):
        checked = await failure(stub.CheckGrounding(CheckGroundingRequest(text="One."), timeout=5))
        verified = await failure(
            stub.VerifyCitation(VerifyCitationRequest(citation=citation_of(FEE)), timeout=5)
        )
    assert checked.kind == verified.kind == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")


async def test_every_call_leaves_an_audit_record(index, tmp_path):
    async with serving(index, tmp_path) as (stub, _):
        await check_claim(stub, NOTICE_RULE)
        await verify(stub, citation_of(FEE))
        await failure(stub.VerifyCitation(VerifyCitationRequest()))
    lines = (tmp_path / "logs" / "queries-000000000001.jsonl").read_text().splitlines()
    told = [(record["task"], record["outcome"], record["error_reason"]) for record in map(json.loads, lines)]
    assert told == [
        ("grounding", "answered", None),
        ("citation", "answered", None),
        ("citation", "error", "INVALID_FIELD"),
    ]


# VerifyCitation: signatures


async def test_a_citation_of_ours_is_valid_and_present(signed):
    stub, citation = signed
    verified = await verify(stub, citation)
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_VALID
    assert verified.text == grounding_pb2.TEXT_STATE_PRESENT
    assert verified.match_level == citation_pb2.MATCH_LEVEL_EXACT
    assert not verified.HasField("current_span")
    assert "cited place" in verified.explanation


def leaves(message, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a message type that holds a value, by its path."""
    for field in message.fields:
        if field.message_type:
            yield from leaves(field.message_type, (*path, field.name))
        else:
            yield (*path, field.name)


def tampered(citation: Citation, path: tuple[str, ...], change: Callable[[object], object]) -> Citation:
    copy = Citation()
    copy.CopyFrom(citation)
    owner = copy
    for name in path[:-1]:
        inner = getattr(owner, name)
        repeated = name in ("parts", "highlights", "boxes")
        owner = (inner[0] if inner else inner.add()) if repeated else inner
    setattr(owner, path[-1], change(getattr(owner, path[-1])))
    return copy


def other(value: object) -> object:
    match value:
        case int() | float():
            return value + 1
        case str():
            return f"{value}0"
        case _:
            return value + b"0"


@pytest.mark.parametrize(
    "path", [path for path in leaves(Citation.DESCRIPTOR) if path != ("number",)], ids=".".join
)
async def test_no_field_of_a_signed_citation_can_be_changed(signed, path):
    stub, citation = signed
    verified = await verify(stub, tampered(citation, path, other))
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_INVALID


@pytest.mark.parametrize("path", [("page",), ("last_page",), ("section",), ("certificate",)], ids=".".join)
async def test_no_field_of_a_signed_citation_can_be_left_out(signed, path):
    stub, citation = signed
    copy = Citation()
    copy.CopyFrom(citation)
    copy.ClearField(path[0])
    expected = "UNSIGNED" if path == ("certificate",) else "INVALID"
    verified = await verify(stub, copy)
    assert verified.signature == grounding_pb2.SignatureState.Value(f"SIGNATURE_STATE_{expected}")


async def test_a_citation_may_be_renumbered(signed):
    stub, citation = signed
    verified = await verify(stub, tampered(citation, ("number",), other))
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_VALID


async def test_after_a_rotation_old_signatures_hold_and_new_ones_name_the_new_key(signed, index, tmp_path):
    _, citation = signed
    async with serving(index, tmp_path, ROTATED) as (stub, _):
        old = await verify(stub, citation)
        _, response = await check_claim(stub, NOTICE_RULE)
    assert old.signature == grounding_pb2.SIGNATURE_STATE_VALID
    assert citation.certificate.key_id == "k-2025"
    assert response.citations[0].certificate.key_id == "k-2026"


async def test_without_its_key_a_signature_is_invalid_and_the_text_is_still_checked(signed, checks):
    _, citation = signed
    verified = await verify(checks, citation)
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_INVALID
    assert verified.text == grounding_pb2.TEXT_STATE_PRESENT


async def test_a_broken_file_of_keys_stops_the_service_and_shows_no_key(index, tmp_path):
    with pytest.raises(SigningKeysBroken, match="signing-keys, line 2: ") as caught:
        async with serving(index, tmp_path, "good:" + "0f" * 32 + "\nbad:" + "0e" * 31):
            pass
    assert "0e0e" not in str(caught.value)


# VerifyCitation: text


async def test_a_citation_without_certificate_is_checked_against_the_live_version(checks):
    verified = await verify(checks, citation_of(FEE))
    assert verified.signature == grounding_pb2.SIGNATURE_STATE_UNSIGNED
    assert verified.text == grounding_pb2.TEXT_STATE_PRESENT


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": FEE.replace("120.50", "12.50")},
        {"span": Span(start=5, end=5 + len(FEE))},
        {"span": Span(start=2_000_000_000, end=2_000_000_001)},
        {"document": "cme/none.txt"},
    ],
    ids=["other words", "other place", "beyond the document", "unknown document"],
)
async def test_words_that_do_not_stand_at_the_cited_place_are_gone(checks, changed):
    citation = citation_of(FEE)
    for name, value in changed.items():
        citation.ClearField(name)
        citation.MergeFrom(Citation(**{name: value}))
    verified = await verify(checks, citation)
    assert verified.text == grounding_pb2.TEXT_STATE_GONE
    assert verified.match_level == citation_pb2.MATCH_LEVEL_UNSPECIFIED


async def test_words_of_a_file_that_is_not_live_are_superseded_whatever_generation_they_name(checks):
    _, response = await check_claim(checks, FEE)
    citation = response.citations[0]
    citation.certificate.document_sha256 = "0" * 64
    verified = await verify(checks, citation)
    assert verified.text == grounding_pb2.TEXT_STATE_SUPERSEDED


async def test_a_citation_follows_its_document_through_its_versions(tmp_path):
    document = Text("cme/moving.txt", ["A first paragraph on fees. The fee is USD 7 a month."])
    longer = dataclasses.replace(document, paragraphs=["A preamble comes first now.", *document.paragraphs])
    other_fee = dataclasses.replace(document, paragraphs=["The fee is USD 8 a month from now on."])
    async with (
        index_of(tmp_path / "index", (document,)) as index,
        serving(index, tmp_path, KEYS) as (stub, _),
        open_channel(index) as channel,
    ):
        store = service_at(channel)
        _, response = await check_claim(stub, "The fee is USD 7 a month.")
        citation = response.citations[0]
        seen = [await verify(stub, citation)]
        await store.put(longer)
        seen.append(await verify(stub, citation))
        await store.put(other_fee)
        seen.append(await verify(stub, citation))
        await store.call(store.index.RemoveDocument, RemoveDocumentRequest(document_id=document.document_id))
        seen.append(await verify(stub, citation))
    assert [grounding_pb2.TextState.Name(one.text).removeprefix("TEXT_STATE_") for one in seen] == [
        "PRESENT",
        "SUPERSEDED",
        "SUPERSEDED",
        "GONE",
    ]
    moved = "\n\n".join(longer.paragraphs)
    span = seen[1].current_span
    assert moved[span.start : span.end] == citation.quote
    assert [one.HasField("current_span") for one in seen] == [False, True, False, False]
    assert {one.signature for one in seen} == {grounding_pb2.SIGNATURE_STATE_VALID}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"document": ""}, "citation.document"),
        ({"document": "x" * 1_025}, "citation.document"),
        ({"document": "cme/\a"}, "citation.document"),
        ({"quote": ""}, "citation.quote"),
        ({"quote": "x" * 20_001}, "citation.quote"),
        ({"quote": "a\x00b"}, "citation.quote"),
        ({"span": None}, "citation.span"),
        ({"span": Span(start=-1, end=4)}, "citation.span"),
        ({"span": Span(start=4, end=4)}, "citation.span"),
        ({"span": Span(start=5, end=4)}, "citation.span"),
    ],
)
async def test_a_citation_that_cannot_be_looked_up_names_its_field(checks, changed, field):
    citation = citation_of(FEE)
    for name, value in changed.items():
        citation.ClearField(name)
        citation.MergeFrom(Citation(**{name: value}))
    failed = await failure(verify(checks, citation))
    assert (failed.kind, failed.field) == (("INVALID_ARGUMENT", "INVALID_FIELD"), field)


async def test_every_document_of_the_corpus_can_be_cited_and_verified(checks):
    for document in CORPUS:
        verified = await verify(checks, citation_of(document.paragraphs[0], document))
        assert verified.text == grounding_pb2.TEXT_STATE_PRESENT
