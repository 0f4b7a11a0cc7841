"""The original of a document over REST and gRPC: whole, in part, and never as a page that runs."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

import pymupdf
import pytest
import pytest_asyncio

from chassis.api_keys import new_key
from chassis.auth import Caller
from clausegate.errors import clausegate_errors
from clausegate.ingest.v1 import ingest_service_pb2 as wire
from tests.contract.gateway_services import problem_in
from tests.contract.keyed_stack import ANNA, NOW, keyed_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

ICES, ICE = new_key(Caller("acme", "ivan", sources=frozenset({"ice"})), NOW)
NAME = 'Lizenz "neu" für 2026.txt'
TEXT = f"cme/Verträge/{NAME}"
HTML = "cme/page.html"
PDF = "cme/licence.pdf"
CONTENT = {
    TEXT: b"LICENCE\n\nSection 1. Fees\n\nA fee is due for each device in each month.\n",
    HTML: b"<html><body><script>document.title = 'taken'</script><p>A fee is due.</p><!--%b--></body></html>"
    % b"".join(b" %d" % number for number in range(250_000)),
}


def pdf() -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "The Licensee shall pay a fee of USD 400.")
        return document.tobytes()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory):
    async with keyed_stack(tmp_path_factory.mktemp("originals"), more_keys=[ICES]) as stack:
        CONTENT[PDF] = pdf()
        async with stack.client(ANNA) as anna:
            for document_id, content in CONTENT.items():
                source, _, path = document_id.partition("/")
                await anna.ingest(content, source=source, path=path)
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def anna(stack):
    async with stack.http(f"Bearer {ANNA}") as http:
        yield http


def place(document_id: str) -> str:
    return f"/v1/documents/{quote(document_id)}:original"


def tag(document_id: str) -> str:
    return f'"{hashlib.sha256(CONTENT[document_id]).hexdigest()}"'


@pytest.mark.parametrize("document_id", [TEXT, HTML, PDF])
async def test_the_file_comes_back_as_it_was_ingested(anna, document_id):
    response = await anna.get(place(document_id))

    assert response.status_code == 200
    assert response.content == CONTENT[document_id]
    assert response.headers["content-length"] == str(len(CONTENT[document_id]))
    assert response.headers["etag"] == tag(document_id)
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("document_id", "media_type"), [(TEXT, "text/plain"), (HTML, "text/plain"), (PDF, "application/pdf")]
)
@pytest.mark.parametrize(("query", "kind"), [("", "inline"), ("?download=true", "attachment")])
async def test_no_browser_runs_what_a_document_holds(anna, document_id, media_type, query, kind):
    headers = (await anna.get(place(document_id) + query)).headers

    assert headers["content-type"].partition(";")[0] == media_type
    assert headers["content-disposition"].partition(";")[0] == kind
    assert "default-src 'none'" in headers["content-security-policy"]
    assert ("sandbox" in headers["content-security-policy"]) is (document_id != PDF)


async def test_a_name_is_told_in_letters_that_every_browser_takes(anna):
    told = (await anna.head(place(TEXT))).headers["content-disposition"]

    assert told == f"inline; filename=\"Lizenz _neu_ f_r 2026.txt\"; filename*=UTF-8''{quote(NAME)}"


async def test_the_head_alone_says_how_long_the_file_is(anna):
    response = await anna.head(place(TEXT))

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-length"] == str(len(CONTENT[TEXT]))


LENGTH = len(CONTENT[HTML])


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-29", 10, 30),
        ("bytes=1200000-1600000", 1_200_000, 1_600_001),
        (f"bytes={LENGTH - 1}-", LENGTH - 1, LENGTH),
        ("bytes=-7", LENGTH - 7, LENGTH),
        (f"bytes=5-{LENGTH * 2}", 5, LENGTH),
        (f"bytes=-{LENGTH * 2}", 0, LENGTH),
        ("Bytes=0-99", 0, 100),
    ],
)
async def test_a_range_is_that_part_of_the_file(anna, wanted, start, end):
    response = await anna.get(place(HTML), headers={"Range": wanted})

    assert response.status_code == 206
    assert response.content == CONTENT[HTML][start:end]
    assert response.headers["content-range"] == f"bytes {start}-{end - 1}/{LENGTH}"
    assert response.headers["etag"] == tag(HTML)


@pytest.mark.parametrize("wanted", [f"bytes={LENGTH}-", f"bytes={LENGTH}-{LENGTH + 9}", "bytes=-0"])
async def test_a_range_beyond_the_file_is_416_and_says_how_long_it_is(anna, wanted):
    response = await anna.get(place(HTML), headers={"Range": wanted})

    problem_in(response, 416, "INVALID_FIELD", "Range")
    assert response.headers["content-range"] == f"bytes */{LENGTH}"


@pytest.mark.parametrize("wanted", ["bytes=9-5", "bytes=0-4,8-9", "lines=0-4", "bytes=", "bytes=a-b"])
async def test_what_is_no_range_is_answered_with_the_whole_file(anna, wanted):
    response = await anna.get(place(TEXT), headers={"Range": wanted})

    assert (response.status_code, response.content) == (200, CONTENT[TEXT])


@pytest.mark.parametrize("known", ["{tag}", 'W/{tag}, "x"', '"x", {tag}', "*"])
async def test_who_has_the_file_is_told_so(anna, known):
    response = await anna.get(place(PDF), headers={"If-None-Match": known.format(tag=tag(PDF))})

    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["etag"] == tag(PDF)


async def test_who_has_another_file_gets_it(anna):
    response = await anna.get(place(PDF), headers={"If-None-Match": tag(HTML)})

    assert (response.status_code, response.content) == (200, CONTENT[PDF])


@pytest.mark.parametrize(("version", "status", "end"), [(PDF, 206, 10), (HTML, 200, None)])
async def test_the_rest_of_another_version_is_not_mixed_with_this_one(anna, version, status, end):
    headers = {"Range": "bytes=0-9", "If-Range": tag(version)}
    response = await anna.get(place(PDF), headers=headers)

    assert (response.status_code, response.content) == (status, CONTENT[PDF][:end])


@pytest.mark.parametrize("document_id", ["cme/none.pdf", "ice/none.pdf"])
async def test_a_document_that_is_not_there_is_404(anna, document_id):
    problem_in(await anna.get(place(document_id)), 404, "DOCUMENT_NOT_FOUND", "documentId")


async def test_a_document_of_another_source_is_as_absent_as_none(stack):
    async with stack.http(f"Bearer {ICE}") as http:
        held = await http.get(place(PDF), headers={"If-None-Match": tag(PDF)})
        none = await http.get(place("cme/none.pdf"))

    problem_in(held, 404, "DOCUMENT_NOT_FOUND", "documentId")
    assert {**held.json(), "traceId": ""} == {**none.json(), "traceId": ""}


@pytest.mark.parametrize(("query", "field"), [("?download=yes", "download"), ("?offset=3", "offset")])
async def test_what_the_route_does_not_take_is_named(anna, query, field):
    reason = "INVALID_FIELD" if field == "download" else "MALFORMED_REQUEST"
    problem_in(await anna.get(place(PDF) + query), 400, reason, field)


async def test_a_damaged_original_sends_no_byte(stack, anna):
    content = b"A fee is due for each month.\n"
    async with stack.client(ANNA) as client:
        await client.ingest(content, source="cme", path="damaged.txt")
    digest = hashlib.sha256(content).hexdigest()
    [blob] = stack.data.rglob(digest)
    blob.write_bytes(content.replace(b"month", b"years"))

    problem_in(await anna.get(place("cme/damaged.txt")), 500, "ORIGINAL_DAMAGED", "documentId")


async def test_the_service_tells_what_the_file_is_before_its_bytes(stack):
    async with stack.client(ANNA) as client:
        request = wire.GetOriginalRequest(document_id=HTML, offset=-5, length=3)
        with clausegate_errors():
            parts = [part async for part in client._ingest.GetOriginal(request, timeout=20)]
        whole = b"".join([part async for part in client.get_original(HTML)])

    assert parts[0].file.file_name == "page.html"
    assert (parts[0].file.size_bytes, parts[0].file.offset) == (LENGTH, LENGTH - 5)
    assert [part.data for part in parts[1:]] == [CONTENT[HTML][-5:-2]]
    assert whole == CONTENT[HTML]


async def test_a_negative_length_is_refused(stack):
    async with stack.client(ANNA) as client:
        request = wire.GetOriginalRequest(document_id=HTML, length=-1)
        with pytest.raises(Exception, match="length") as refused, clausegate_errors():
            [part async for part in client._ingest.GetOriginal(request, timeout=20)]

    assert refused.value.code == "INVALID_ARGUMENT"
