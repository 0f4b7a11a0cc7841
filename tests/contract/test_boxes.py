"""Citations say where their words stand on the pages of a PDF, from the upload to the verified answer."""

from __future__ import annotations

import pymupdf
import pytest
import pytest_asyncio

from clausegate.answer.v1.grounding_service_pb2 import TextState
from evals.boxes import is_right, pages_of
from tests.contract.keyed_stack import ANNA, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "Which monthly display fee shall the Licensee pay for each device?"
CONDITIONS = "What may the Licensee not do without the consent of the Vendor?"
FIRST_PAGE = [
    "LICENCE AGREEMENT",
    "",
    "1. Fees",
    "",
    "The Licensee shall pay a monthly display fee of USD 120.50 for each device that shows the",
    "market data of the Vendor.",
    "",
    "2. Use",
    "",
    "Without the consent of the Vendor the Licensee shall not:",
]
SECOND_PAGE = [
    "(a) redistribute the market data to any third party; or",
    "",
    "(b) store the market data for more than one day.",
]


def pdf(turned: int) -> bytes:
    with pymupdf.open() as document:
        for lines in (FIRST_PAGE, SECOND_PAGE):
            page = document.new_page()
            page.insert_text((72, 90), lines, fontsize=11)
            page.set_rotation(turned)
        return document.tobytes()


FILES = {
    "straight.pdf": pdf(0),
    "turned.pdf": pdf(90),
    "same.txt": "\n".join(FIRST_PAGE + SECOND_PAGE).encode(),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("boxes")) as stack, stack.client(ANNA) as anna:
        for path, content in FILES.items():
            await anna.ingest(content, source="cme", path=path)
        yield anna


@pytest.mark.parametrize("question", [QUESTION, CONDITIONS])
@pytest.mark.parametrize("path", ["straight.pdf", "turned.pdf"])
async def test_the_words_under_the_boxes_of_a_citation_are_its_own(client, path, question):
    response = await client.query(question, document_ids=[f"cme/{path}"], gate=False)

    assert response.citations
    assert all(citation.boxes for citation in response.citations)
    assert all(is_right(citation, pages_of(FILES[path])) for citation in response.citations)


async def test_a_quote_over_two_pages_has_boxes_on_both(client):
    response = await client.query(CONDITIONS, document_ids=["cme/straight.pdf"], gate=False)

    assert {box.page for citation in response.citations for box in citation.boxes} >= {1, 2}


async def test_a_text_without_pages_has_no_boxes(client):
    response = await client.query(QUESTION, document_ids=["cme/same.txt"], gate=False)

    assert [len(citation.boxes) for citation in response.citations] == [0] * len(response.citations)
    assert response.citations


async def test_a_citation_with_boxes_is_verified(client):
    response = await client.query(QUESTION, document_ids=["cme/straight.pdf"], gate=False)
    verified = await client.verify_citation(response.citations[0])

    assert verified.text == TextState.TEXT_STATE_PRESENT
