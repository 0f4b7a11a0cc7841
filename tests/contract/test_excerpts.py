"""A part of a document's text with words around it, over REST and gRPC."""

from __future__ import annotations

import random

import pytest
import pytest_asyncio

from chassis.api_keys import new_key
from chassis.auth import Caller
from clausegate import ClausegateError
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits
from tests.contract.gateway_services import problem_in
from tests.contract.keyed_stack import ANNA, NOW, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

ICES, ICE = new_key(Caller("acme", "ivan", sources=frozenset({"ice"})), NOW)
NAME, DOCUMENT = "terms.md", "cme/terms.md"
SECTIONS = {
    "Fees": [
        f"The Licensee shall pay fee {number} within {number} days of its invoice." for number in range(90)
    ],
    "Use": [f"The Licensee shall not pass on data set {number} to anybody else." for number in range(60)],
    "Notices": ["Notices are given in writing.", "<script>alert(1)</script> is text & nothing else."],
}
CONTENT = "# Terms\n\n" + "\n\n".join(
    f"## {title}\n\n{' '.join(sentences)}" for title, sentences in SECTIONS.items()
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("excerpts"), more_keys=[ICES]) as stack:
        async with stack.client(ANNA) as anna:
            await anna.ingest(CONTENT.encode(), source="cme", path=NAME)
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def anna(stack):
    async with stack.client(ANNA) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def http(stack):
    async with stack.http(f"Bearer {ANNA}") as http:
        yield http


@pytest.fixture(scope="module")
def extracted(tmp_path_factory) -> str:
    """The text as ingest reads it."""
    file = tmp_path_factory.mktemp("read") / NAME
    file.write_text(CONTENT)
    return parse(file, format_of(NAME), ParsingLimits(), lambda done, total: None).text


PLACE = f"/v1/documents/{DOCUMENT}:text"


async def test_every_part_is_what_the_document_says_there(anna, extracted):
    rng = random.Random(16)
    for _ in range(60):
        start = rng.randrange(len(extracted) - 1)
        end = min(len(extracted), start + rng.randint(1, 3_000))
        around = rng.choice((0, 1, 30, 500, 5_000))
        told = await anna.get_text(DOCUMENT, start, end, around=around)

        assert len(told.text) == told.span.end - told.span.start
        assert told.text.split() == extracted[told.span.start : told.span.end].split()
        assert (told.wanted.start, told.wanted.end) == (start, end)
        assert start - around <= told.span.start <= start
        assert end <= told.span.end <= end + around


async def test_the_words_around_are_whole(anna, extracted):
    start = extracted.index("fee 40")
    told = await anna.get_text(DOCUMENT, start, start + 6, around=37)
    before, after = told.text.split("fee 40")

    assert (set(before.split()) | set(after.split())) <= set(extracted.split())
    assert before
    assert after


async def test_the_words_of_a_citation_are_found_in_their_context(anna):
    answer = await anna.query("What shall the Licensee not pass on?", document_ids=[DOCUMENT], gate=False)
    citation = answer.citations[0]
    told = await anna.get_text(DOCUMENT, citation.span.start, citation.span.end)
    at = told.wanted.start - told.span.start

    assert told.text[at : at + told.wanted.end - told.wanted.start] == citation.parts[0].text
    assert (told.section, told.generation) == (citation.section, citation.certificate.generation)


@pytest.mark.parametrize("title", SECTIONS)
async def test_a_whole_section_is_given_for_any_place_in_it(anna, extracted, title):
    sentences = SECTIONS[title]
    for sentence in (sentences[0], sentences[len(sentences) // 2], sentences[-1]):
        start = extracted.index(sentence)
        told = await anna.get_text(DOCUMENT, start, start + 1, around=0, whole_section=True)

        assert all(other in " ".join(told.text.split()) for other in sentences)
        assert not any(other[0] in told.text for name, other in SECTIONS.items() if name != title)


async def test_rest_gives_the_text_as_json(http, extracted):
    start = extracted.index("<script>")
    response = await http.get(PLACE, params={"start": start, "end": start + 8, "around": 0})

    assert response.headers["content-type"] == "application/json"
    assert response.json()["text"] == "<script>"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "end"),
        ({"start": 5, "end": 5}, "end"),
        ({"start": -1, "end": 5}, "end"),
        ({"start": 0, "end": 20_001}, "end"),
        ({"start": 0, "end": 5, "around": 5_001}, "around"),
        ({"start": 0, "end": 5, "around": -1}, "around"),
        ({"start": 10**6, "end": 10**6 + 5}, "start"),
    ],
)
async def test_what_is_no_part_of_the_text_is_named(http, query, field):
    problem_in(await http.get(PLACE, params=query), 400, "INVALID_FIELD", field)


async def test_what_is_not_there_is_404(stack, http):
    problem_in(
        await http.get("/v1/documents/cme/none.md:text?end=5"), 404, "DOCUMENT_NOT_FOUND", "documentId"
    )
    async with stack.client(ICE) as ivan:
        with pytest.raises(ClausegateError) as refused:
            await ivan.get_text(DOCUMENT, 0, 50)
    assert refused.value.reason == "DOCUMENT_NOT_FOUND"
