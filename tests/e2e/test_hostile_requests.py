# ruff: noqa: E501 - tables of hostile markup
"""What strangers may send to the running product: made-up calls, and documents full of addresses."""

from __future__ import annotations

import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docx
import grpc
import httpx
import pymupdf
import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chassis.access import access_of
from chassis.errors import ServiceError
from chassis.status import error_of
from gateway.contracts import CONTRACTS, load_contracts
from gateway.openapi import openapi_document
from tests.e2e.processes import embedded_stack, wait_until

OPENAPI = openapi_document(load_contracts())
OPERATIONS = [
    (path, verb) for path, item in OPENAPI["paths"].items() for verb in item if verb != "parameters"
]
RPCS = [
    f"/{file.package}.{service.name}/{method.name}"
    for file in descriptor_pb2.FileDescriptorSet.FromString(CONTRACTS.read_bytes()).file
    for service in file.service
    for method in service.method
]
TYPED_FAILURES = (501, 503, 504)
"""No model is configured here, and the header `X-Request-Timeout` may ask for a millisecond."""
FEW = settings(
    max_examples=3, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck)
)
MANY = settings(FEW, max_examples=300)
DEEP = 3_000


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, socket_dirs, free_port):
    """A stack of its own: what is sent here may leave documents."""
    data = tmp_path_factory.mktemp("attacked") / "data"
    with embedded_stack(data, socket_dirs(), free_port()) as stack:
        yield stack


@pytest.fixture(scope="module")
def schema():
    from schemathesis import openapi  # takes a second to load, and only this test needs it

    return openapi.from_dict(OPENAPI)


def call_operation(schema, path, verb, stack) -> None:
    from schemathesis.specs.openapi import checks

    @given(case=schema[path][verb].as_strategy())
    def call(case):
        response = case.call(base_url=stack.url, timeout=30)
        case.validate_response(
            response,
            checks=[
                checks.status_code_conformance,
                checks.content_type_conformance,
                checks.response_headers_conformance,
                checks.response_schema_conformance,
            ],
        )
        assert response.status_code < 500 or response.status_code in TYPED_FAILURES
        if response.status_code >= 400 and path.startswith("/v1/"):
            assert response.headers["content-type"] == ["application/problem+json"]
            assert response.json()["reason"]

    return call


@pytest.mark.parametrize(("path", "verb"), OPERATIONS)
def test_any_call_of_an_operation_is_answered_as_documented(schema, attacked, path, verb):
    FEW(call_operation(schema, path, verb, attacked))()


@pytest.mark.soak
@pytest.mark.parametrize(("path", "verb"), OPERATIONS)
def test_many_calls_of_an_operation_are_answered_as_documented(schema, attacked, path, verb):
    MANY(call_operation(schema, path, verb, attacked))()


def test_the_documented_operations_are_the_served_ones(attacked):
    assert httpx.get(f"{attacked.url}/openapi.json").json()["paths"].keys() == OPENAPI["paths"].keys()


def nested(depth: int) -> bytes:
    """A message within a message within …"""
    message = b""
    for _ in range(depth):
        length, size = len(message), b""
        while length > 127:
            size += bytes([length & 127 | 128])
            length >>= 7
        message = b"\x0a" + size + bytes([length]) + message
    return message


MESSAGES = {
    "nothing": b"",
    "a text of no UTF-8": b"\x0a\x03\xff\xfe\xfd\x12\x03\xff\xfe\xfd",
    "an unknown field": b"\xfa\x07\x03abc" * 100,
    "a length beyond the end": b"\x0a\xff\xff\x03abc",
    "groups without end": b"\x0b" * 20_000,
    "messages without end": nested(DEEP),
}


def status_of(channel: grpc.Channel, rpc: str, message: bytes) -> grpc.StatusCode:
    """What a call with one message ends with; raises when the status is not one of ours."""
    call = channel.stream_stream(rpc)
    try:
        list(call(iter([message]), timeout=30))
    except grpc.RpcError as failed:
        error = failed
    else:
        return grpc.StatusCode.OK
    assert any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata())
    return error.code()


def failure_of(channel: grpc.Channel, rpc: str, message: bytes) -> ServiceError:
    """What a call with one message fails with."""
    with pytest.raises(grpc.RpcError) as failed:
        list(channel.stream_stream(rpc)(iter([message]), timeout=30))
    return error_of(failed.value)


UNTYPED = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)


@pytest.mark.parametrize("name", MESSAGES)
def test_no_message_of_any_rpc_ends_in_an_internal_error(attacked, name):
    with grpc.insecure_channel(attacked.grpc) as channel:
        statuses = {rpc: status_of(channel, rpc, MESSAGES[name]) for rpc in RPCS}

    assert {rpc: status for rpc, status in statuses.items() if status in UNTYPED} == {}


POOL = DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(CONTRACTS.read_bytes()).file:
    POOL.Add(_file)


def enum_paths(kind, path=(), within=()):
    """Paths of fields to every enum that a message may hold; a message within itself is looked at once."""
    for field in kind.fields:
        if field.enum_type is not None:
            yield (*path, field)
        elif field.message_type is not None and field.message_type not in within:
            yield from enum_paths(field.message_type, (*path, field), (*within, kind))


def with_number(kind, path, number):
    """A message with a number at a path, in whatever lists lead there; and the path as an error names it."""
    message = GetMessageClass(kind)()
    owner, named = message, []
    for field in path[:-1]:
        owner = getattr(owner, field.name).add() if field.is_repeated else getattr(owner, field.name)
        named.append(f"{field.name}[0]" if field.is_repeated else field.name)
    last = path[-1]
    if last.is_repeated:
        getattr(owner, last.name).append(number)
    else:
        setattr(owner, last.name, number)
    return message, ".".join([*named, f"{last.name}[0]" if last.is_repeated else last.name])


CHOICES = [
    (rpc, path)
    for rpc in RPCS
    if not access_of(rpc).ingest_only
    for path in enum_paths(POOL.FindMethodByName(rpc[1:].replace("/", ".")).input_type)
]


def test_requests_have_choices_in_many_places():
    assert len(CHOICES) >= 5


@pytest.mark.parametrize(
    ("rpc", "path"), CHOICES, ids=lambda one: one if isinstance(one, str) else ".".join(f.name for f in one)
)
@pytest.mark.parametrize("number", [99, -7])
def test_a_choice_that_nobody_has_defined_is_named(attacked, rpc, path, number):
    kind = POOL.FindMethodByName(rpc[1:].replace("/", ".")).input_type
    message, field = with_number(kind, path, number)
    with grpc.insecure_channel(attacked.grpc) as channel:
        failed = failure_of(channel, rpc, message.SerializeToString())
    assert (failed.code, failed.field) == ("INVALID_ARGUMENT", field)


NAMED_IN_PATHS = [
    "/v1/documents/{}",
    "/v1/projects/{}",
    "/v1/articles/{}",
    "/v1/documents?sources={}",
    "/v1/chunks?chunk_ids={}",
    "/v1/chunks:list?document_id={}",
]


@pytest.mark.parametrize("path", NAMED_IN_PATHS)
@pytest.mark.parametrize("length", [1_100, 6_000, 12_000])
def test_a_name_of_many_kilobytes_is_refused_for_good(attacked, path, length):
    response = httpx.get(attacked.url + path.format("x" * length))
    assert (response.status_code, response.json()["reason"]) == (400, "INVALID_FIELD")
    assert "retry-after" not in response.headers


@pytest.mark.parametrize("length", [9_000, 10_000, 15_000])
def test_a_header_of_many_kilobytes_is_refused_for_good(attacked, length):
    headers = {"Authorization": f"Bearer {'x' * length}"}
    response = httpx.get(f"{attacked.url}/v1/documents", headers=headers)
    assert response.status_code in (200, 400, 401, 431)


@pytest.mark.soak
@pytest.mark.parametrize("rpc", RPCS)
def test_no_bytes_sent_to_an_rpc_end_in_an_internal_error(attacked, rpc):
    with grpc.insecure_channel(attacked.grpc) as channel:

        @MANY
        @given(
            message=st.binary(max_size=300)
            | st.builds(lambda a, b: a + b, st.binary(), st.sampled_from(sorted(MESSAGES.values())))
        )
        def call(message):
            assert status_of(channel, rpc, message) not in UNTYPED

        call()


@contextmanager
def listener() -> Iterator[tuple[int, list[object]]]:
    """A port of loopback, and who connected to it."""
    met: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                met.append(address)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], met
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def hostile_html(url: str) -> bytes:
    return f"""<!DOCTYPE html SYSTEM "{url}/dtd"><html><head><base href="{url}/"><title>Terms</title>
    <meta http-equiv="refresh" content="0; url={url}/refresh"><link rel="stylesheet" href="{url}/css">
    <style>@import url({url}/import); p {{ background: url({url}/background) }}</style><script src="{url}/js"></script>
    </head><body background="{url}/body"><p>The fee is USD 400.</p><img src="{url}/img" srcset="{url}/set 2x">
    <iframe src="{url}/iframe"></iframe><object data="{url}/object"></object><embed src="{url}/embed">
    <video src="{url}/video" poster="{url}/poster"></video><svg><image href="{url}/svg"/><use href="{url}/use#x"/></svg>
    <form action="{url}/form"><input type="image" src="{url}/input"></form></body></html>""".encode()


def hostile_markdown(url: str) -> bytes:
    return f"# Terms\n\nThe fee is USD 400. ![x]({url}/img) <{url}/auto> [a]\n\n[a]: {url}/ref\n\n<img src={url}/html>\n".encode()


def hostile_text(url: str) -> bytes:
    return f"Terms\n\nThe fee is USD 400; see {url}/text and file:///etc/passwd.\n".encode()


def hostile_docx(url: str) -> bytes:
    """A DOCX whose parts, template, images and entities are said to be elsewhere."""
    template = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("The fee is USD 400.")
    document.save(template)
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    outside = "".join(
        f'<Relationship Id="out{number}" Type="{office}/{kind}" Target="{url}/{kind}" TargetMode="External"/>'
        for number, kind in enumerate(
            ("image", "attachedTemplate", "hyperlink", "footnotes", "oleObject", "subDocument")
        )
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(template) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "word/_rels/document.xml.rels":
                content = content.replace(b"</Relationships>", f"{outside}</Relationships>".encode())
            if entry.filename == "word/document.xml":
                start = content.index(b"<w:document")
                declared = f'<!DOCTYPE w SYSTEM "{url}/dtd" [<!ENTITY x SYSTEM "{url}/entity">]>'
                content = content[:start] + declared.encode() + content[start:]
                content = content.replace(b"USD 400.", b"USD 400. &x;")
            new.writestr(entry.filename, content)
    return buffer.getvalue()


def hostile_pdf(url: str) -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "The fee is USD 400.")
    page.insert_link({"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(0, 0, 600, 800), "uri": f"{url}/uri"})
    actions = [
        f"<</S/URI/URI({url}/open)>>",
        f"<</S/Launch/F<</FS/URL/F({url}/launch)>>>>",
        f"<</S/SubmitForm/F<</FS/URL/F({url}/submit)>>>>",
        f"<</S/GoToR/F<</FS/URL/F({url}/remote)>>/D[0/Fit]>>",
        f"<</S/JavaScript/JS(this.getURL\\('{url}/js'\\))>>",
    ]
    xrefs = []
    for action in actions:
        xrefs.append(document.get_new_xref())
        document.update_object(xrefs[-1], action)
    catalog = document.pdf_catalog()
    document.xref_set_key(catalog, "OpenAction", f"{xrefs[4]} 0 R")
    document.xref_set_key(
        catalog, "AA", "<<" + "".join(f"/W{i} {xref} 0 R" for i, xref in enumerate(xrefs)) + ">>"
    )
    document.xref_set_key(page.xref, "AA", f"<</O {xrefs[2]} 0 R>>")
    external = document.get_new_xref()
    document.update_object(
        external, f"<</Type/XObject/Subtype/Image/Width 1/Height 1/F<</FS/URL/F({url}/stream)>>>>"
    )
    return document.tobytes()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("terms.html", hostile_html),
        ("terms.md", hostile_markdown),
        ("terms.txt", hostile_text),
        ("terms.docx", hostile_docx),
        ("terms.pdf", hostile_pdf),
    ],
)
def test_no_address_in_a_document_is_ever_visited(attacked, name, make):
    with listener() as (port, met):
        files = {"file": make(f"http://127.0.0.1:{port}")}
        form = {"source": "strangers", "path": name}
        answer = httpx.post(f"{attacked.url}/v1/documents", data=form, files=files, timeout=60)
        with socket.create_connection(("127.0.0.1", port)) as own:
            wait_until(lambda: met, 30)
            own_address = own.getsockname()

    assert answer.is_success, answer.text
    assert met == [own_address]


def test_a_parser_of_the_running_product_is_confined(attacked):
    httpx.post(
        f"{attacked.url}/v1/documents",
        data={"source": "strangers", "path": "confined.txt"},
        files={"file": b"The fee is USD 400."},
        timeout=60,
    )
    states = [(folder / "status").read_text() for folder in parsers_of(attacked.process.pid)]

    assert states
    assert all("Seccomp:\t2" in state and "NoNewPrivs:\t1" in state for state in states)


def parsers_of(service: int) -> list[Path]:
    children = (Path("/proc") / str(service) / "task").glob("*/children")
    pids = [pid for listed in children for pid in listed.read_text().split()]
    return [Path("/proc") / pid for pid in pids]
