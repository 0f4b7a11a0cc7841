"""Pages of a PDF as pictures, over REST and gRPC, with the boxes of a citation marked."""

from __future__ import annotations

import base64
import hashlib

import pymupdf
import pytest
import pytest_asyncio

from chassis.api_keys import new_key
from chassis.auth import Caller
from clausegate.corpus.v1.citation_pb2 import QuoteBox
from tests.contract.gateway_services import problem_in
from tests.contract.keyed_stack import ANNA, NOW, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

ICES, ICE = new_key(Caller("acme", "ivan", sources=frozenset({"ice"})), NOW)
WORDS = "The Licensee shall pay a monthly fee of USD 120.50."
QUESTION = "What monthly fee shall the Licensee pay?"


def pdf(width: float = 595, height: float = 842, turned: int = 0) -> bytes:
    with pymupdf.open() as document:
        page = document.new_page(width=width, height=height)
        page.insert_text((20, 72), WORDS)
        page.set_rotation(turned)
        return document.tobytes()


FILES = {
    "licence.pdf": pdf(),
    "turned.pdf": pdf(turned=90),
    "tower.pdf": pdf(width=300, height=14_000),
    "licence.txt": WORDS.encode(),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("pages"), more_keys=[ICES]) as stack:
        async with stack.client(ANNA) as anna:
            for path, content in FILES.items():
                await anna.ingest(content, source="cme", path=path)
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def http(stack):
    async with stack.http(f"Bearer {ANNA}") as http:
        yield http


def place(path: str, page: int | str = 1) -> str:
    return f"/v1/documents/cme/{path}/pages/{page}:render"


def colours(png: bytes) -> set[bytes]:
    """The colours of the picture's pixels."""
    samples = pymupdf.Pixmap(png).samples
    return {samples[at : at + 3] for at in range(0, len(samples), 3)}


async def test_a_page_is_a_picture_as_wide_as_asked(http):
    response = await http.get(place("licence.pdf"), params={"width": 400})

    assert response.headers["content-type"] == "image/png"
    picture = pymupdf.Pixmap(response.content)
    assert (picture.width, picture.height) == (400, 567)
    assert response.headers["cache-control"] == "private, no-cache"
    assert response.headers["etag"] == f'"{hashlib.sha256(response.content).hexdigest()}"'


async def test_who_has_the_picture_is_told_so(http):
    first = await http.get(place("licence.pdf"))
    again = await http.get(place("licence.pdf"), headers={"If-None-Match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")


async def test_the_message_says_what_the_picture_is_of(http):
    response = await http.get(place("turned.pdf"), headers={"Accept": "application/json"})
    told = response.json()

    assert (told["pageWidth"], told["pageHeight"], told["rotation"]) == (842.0, 595.0, 90)
    assert (told["width"], told["height"], told["pageCount"]) == (1000, 707, 1)
    assert told["contentSha256"] == hashlib.sha256(FILES["turned.pdf"]).hexdigest()
    assert pymupdf.Pixmap(base64.b64decode(told["png"])).width == 1000


def dark(pixels: pymupdf.Pixmap, box: tuple[int, int, int, int]) -> tuple[int, int]:
    """How many dark pixels there are, and how many of them within the box."""
    samples, width = pixels.samples, pixels.width
    found = [
        (at % width, at // width)
        for at in range(len(samples) // 3)
        if samples[3 * at] + samples[3 * at + 1] + samples[3 * at + 2] < 300
    ]
    left, top, right, bottom = box
    return len(found), sum(left <= across < right and top <= down < bottom for across, down in found)


@pytest.mark.parametrize("path", ["licence.pdf", "turned.pdf"])
async def test_the_boxes_of_a_citation_mark_its_words(stack, http, path):
    async with stack.client(ANNA) as client:
        answer = await client.query(QUESTION, document_ids=[f"cme/{path}"], gate=False)
    [box] = answer.citations[0].boxes
    told = f"{box.left},{box.top},{box.right},{box.bottom}"
    plain = await http.get(place(path), headers={"Accept": "application/json"})
    marked = await http.get(place(path), params={"boxes": told})
    scale = 1000 / plain.json()["pageWidth"]
    picture = pymupdf.Pixmap(marked.content)
    ink, within = dark(
        picture,
        tuple(round(edge * scale) for edge in (box.left, box.top, box.right, box.bottom)),
    )

    assert bytes((255, 255, 102)) in colours(marked.content)
    assert bytes((255, 255, 102)) not in colours(base64.b64decode(plain.json()["png"]))
    assert ink == within > 0


async def test_boxes_that_overlap_are_no_darker(http):
    boxes = ["10,50,200,90", "100,60,300,100", "-50,-50,20,20", "590,800,9000,9000"]
    response = await http.get(place("licence.pdf"), params={"boxes": boxes})

    assert {colour[2] for colour in colours(response.content) if colour[:2] == b"\xff\xff"} == {102, 255}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"width": 199}, "width"),
        ({"width": 2001}, "width"),
        ({"width": -5}, "width"),
        ({"boxes": "1,2,3"}, "boxes[0]"),
        ({"boxes": ["1,2,3,4", "3,2,1,4"]}, "boxes[1]"),
        ({"boxes": "nan,0,1,1"}, "boxes[0]"),
        ({"boxes": ["1,2,3,4"] * 501}, "boxes"),
    ],
)
async def test_what_cannot_be_drawn_is_named(http, query, field):
    problem_in(await http.get(place("licence.pdf"), params=query), 400, "INVALID_FIELD", field)


@pytest.mark.parametrize("page", [2, 999, 2**31 - 1])
async def test_a_page_that_is_not_there_is_404(http, page):
    problem_in(await http.get(place("licence.pdf", page)), 404, "PAGE_NOT_FOUND", "page")


@pytest.mark.parametrize("page", [0, -1, "x"])
async def test_what_is_no_number_of_a_page_is_refused(http, page):
    problem_in(await http.get(place("licence.pdf", page)), 400, "INVALID_FIELD", "page")


async def test_a_text_has_no_page_to_draw(http):
    problem_in(await http.get(place("licence.txt")), 400, "DOCUMENT_FORMAT_UNSUPPORTED", "documentId")


async def test_a_page_that_is_too_high_for_its_width_is_refused(http):
    problem_in(await http.get(place("tower.pdf")), 413, "DOCUMENT_TOO_LARGE", "page")
    assert (await http.get(place("tower.pdf"), params={"width": 200})).status_code == 413


async def test_a_page_of_another_source_is_as_absent_as_none(stack):
    async with stack.http(f"Bearer {ICE}") as http:
        held, none = await http.get(place("licence.pdf")), await http.get(place("none.pdf"))

    problem_in(held, 404, "DOCUMENT_NOT_FOUND", "documentId")
    assert {**held.json(), "traceId": ""} == {**none.json(), "traceId": ""}


async def test_a_damaged_original_is_not_drawn(stack, http):
    content = pdf(width=500)
    async with stack.client(ANNA) as client:
        await client.ingest(content, source="cme", path="damaged.pdf")
    [blob] = stack.data.rglob(hashlib.sha256(content).hexdigest())
    blob.write_bytes(content.replace(b"500", b"400"))

    problem_in(await http.get(place("damaged.pdf")), 500, "ORIGINAL_DAMAGED", "documentId")


async def test_nothing_that_was_drawn_from_is_left_behind(stack, http):
    assert (await http.get(place("licence.pdf"), params={"width": 321})).status_code == 200
    assert list((stack.data / "archive" / ".spool").iterdir()) == []


async def test_the_service_draws_over_grpc(stack):
    async with stack.client(ANNA) as client:
        boxes = [
            QuoteBox(page=1, left=1.0, top=1, right=50.5, bottom=20),
            QuoteBox(page=2, right=9, bottom=9),
        ]
        response = await client.render_page("cme/licence.pdf", 1, width=200, boxes=boxes)

    assert (response.width, response.page_width, response.page_height) == (200, 595.0, 842.0)
    assert pymupdf.Pixmap(response.png).pixel(10, 3) == (255, 255, 102)
