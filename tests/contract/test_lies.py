"""Lies made of words of the documents: no article calls one sourced, no check calls one supported."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chassis.channel import open_channel
from clausegate.answer.v1 import grounding_service_pb2 as grounding_pb2
from clausegate.answer.v1.article_service_pb2 import CompileArticleRequest
from clausegate.answer.v1.grounding_service_pb2 import CheckGroundingRequest, GroundingClaim
from clausegate.answer.v1.grounding_service_pb2_grpc import GroundingServiceStub
from clausegate.corpus.v1 import article_pb2
from tests.contract.model_stack import Stubs, answering, index_of
from tests.contract.retrieval_index import Text
from tests.fakes.behaviours import Says, json_reply
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import read
from tests.lies import lies

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIES = list(lies())[::5]
TOLD = [Text(f"lie{i}/a.txt", [said]) for i, (_, said, _) in enumerate(LIES)]
WHOLE = "The Licensor keeps all rights in its trade marks."
VERDICTS = grounding_pb2.GroundingVerdict
UNSOUND = {VERDICTS.GROUNDING_VERDICT_OVERSTATED, VERDICTS.GROUNDING_VERDICT_CONTRADICTED}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stubs(server, tmp_path_factory) -> AsyncIterator[Stubs]:
    documents = (*TOLD, Text("truth/a.txt", [WHOLE]))
    async with (
        index_of(tmp_path_factory.mktemp("index"), documents) as index,
        answering(index, tmp_path_factory.mktemp("answer"), server.url, model_attempts=1) as found,
    ):
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def checks(stubs) -> AsyncIterator[GroundingServiceStub]:
    async with open_channel(stubs.address) as channel:
        yield GroundingServiceStub(channel)


def source_of(said: str) -> str:
    """The source of the first document that says this alone."""
    return next(one.document_id.partition("/")[0] for one in TOLD if one.paragraphs == [said])


def lying(said: str, lie: str):
    """A model that quotes what stands there, and says something else."""

    def respond(request) -> Says:
        passages = read(request).passages.values()
        claims = [
            {
                "claim": text,
                "confidence": "sourced",
                "quote": quote,
                "chunk": next(one.handle for one in passages if quote in one.text),
            }
            for text, quote in ((lie, said), (WHOLE, WHOLE))
        ]
        return json_reply(
            {
                "title": "What is agreed",
                "summary": f"{lie} {WHOLE}",
                "key_claims": claims,
                "concepts": ["rights"],
                "backlink_suggestions": [],
                "open_questions": [],
                "article_body": f"## Rights\n\n- {lie}\n- {WHOLE}",
            }
        )

    return respond


@pytest.mark.parametrize(("kind", "said", "lie"), [one for one in LIES if one[0] != "factor"])
async def test_an_article_tells_no_lie_as_sourced_nor_in_its_prose(stubs, server, kind, said, lie):
    server.respond = lying(said, lie)
    request = CompileArticleRequest(sources=[source_of(said), "truth"], topic="rights")
    article = (await stubs.articles.CompileArticle(request)).article
    assert [one.confidence for one in article.key_claims] == [
        article_pb2.CLAIM_CONFIDENCE_INFERRED,
        article_pb2.CLAIM_CONFIDENCE_SOURCED,
    ]
    assert (article.downgraded_claims, article.summary) == (1, WHOLE)
    assert article.article_body == f"## Rights\n\n- {WHOLE}"
    assert article.sentences_left_out == 2


@pytest.mark.parametrize(("kind", "said", "lie"), LIES)
async def test_a_check_calls_a_lie_overstated_or_contradicted(checks, kind, said, lie):
    claims = [GroundingClaim(text=lie, quotes=[said])]
    response = await checks.CheckGrounding(CheckGroundingRequest(claims=claims, sources=[source_of(said)]))
    assert [one.verdict in UNSOUND for one in response.claims] == [True]


@pytest.mark.parametrize(("kind", "said", "lie"), LIES)
async def test_a_check_of_a_lie_without_quotes_finds_no_support(checks, kind, said, lie):
    response = await checks.CheckGrounding(CheckGroundingRequest(text=lie, sources=[source_of(said)]))
    assert not response.grounded
    assert {one.verdict for one in response.claims} <= UNSOUND


@pytest.mark.parametrize(("kind", "said", "lie"), [one for one in LIES if one[2][1:-1] in one[1]])
async def test_a_lie_that_is_cut_out_of_a_document_is_not_verbatim(checks, kind, said, lie):
    response = await checks.CheckGrounding(CheckGroundingRequest(text=lie, sources=[source_of(said)]))
    assert [one.verdict for one in response.claims] == [VERDICTS.GROUNDING_VERDICT_OVERSTATED]


async def test_a_check_says_what_words_cannot_tell(checks):
    said = "The Licensor keeps all rights in its trade marks."
    claims = [
        GroundingClaim(text="The Licensor holds all rights in its trade marks.", quotes=[said]),
        GroundingClaim(text=said),
    ]
    response = await checks.CheckGrounding(CheckGroundingRequest(claims=claims))
    told, whole = response.claims
    assert told.verdict == VERDICTS.GROUNDING_VERDICT_SUPPORTED
    assert list(told.caveats) == [grounding_pb2.GROUNDING_CAVEAT_OTHER_WORD]
    assert (whole.verdict, list(whole.caveats)) == (VERDICTS.GROUNDING_VERDICT_VERBATIM, [])
