"""The upload's form: two texts and one file, which is spooled to disk and hashed as it comes."""

from __future__ import annotations

import hashlib
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from chassis.errors import InvalidInput
from gateway.errors import MalformedRequest, UploadTooLarge
from gateway.limits import BodyLimits, check_content_type, limited_stream
from gateway.messages import shown

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

TEXT_FIELDS = ("source", "path")
FILE_FIELD = "file"
MAX_TEXT_BYTES = 4096
"""Longest text field; what it names is at most 1,024 bytes."""
MAX_BOUNDARY_BYTES = 70
"""RFC 2046, 5.1.1."""
OVERHEAD_BYTES = 64 * 2**10
"""Room for the other fields, headers and boundaries around the file."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A complete form, but for the file's bytes: they are where `read_upload` was told to spool them."""

    source: str
    path: str
    sha256: str
    size_bytes: int


async def read_upload(request: Request, spool: BinaryIO, limits: BodyLimits) -> Upload:
    """Read the form and write its file to `spool`.

    Raises `UnsupportedContentType`, `UploadTooLarge`, `TooSlow`, `InvalidInput` for a field that is
    missing, given twice or too long, and `MalformedRequest` for an unknown one or a form that cannot be read.
    All that concern a field name it.
    """
    check_content_type(request, "multipart/form-data")
    form = _Form()
    parser = MultipartParser(_boundary(request), form.callbacks)
    limit, form_limits = limits.bytes, replace(limits, bytes=limits.bytes + OVERHEAD_BYTES)
    too_large = UploadTooLarge(f"The file is larger than {limit} bytes.", field=FILE_FIELD)
    async with aclosing(limited_stream(request, form_limits, too_large)) as stream:
        async for data in stream:
            _feed(parser, data)
            await run_in_threadpool(form.store, spool)
    if not form.ended:
        raise MalformedRequest("The form ends in the middle.")
    if form.size_bytes > limit:
        raise too_large
    spool.seek(0)
    return form.upload()


def _boundary(request: Request) -> bytes:
    _, parameters = parse_options_header(request.headers["content-type"])
    boundary = parameters.get(b"boundary", b"")
    if not 0 < len(boundary) <= MAX_BOUNDARY_BYTES:
        message = f"multipart/form-data needs a boundary of at most {MAX_BOUNDARY_BYTES} bytes."
        raise MalformedRequest(message, field="Content-Type")
    return boundary


def _feed(parser: MultipartParser, data: bytes) -> None:
    try:
        parser.write(data)
    except FormParserError as error:
        raise MalformedRequest("The body is not valid multipart/form-data.") from error


class _Form:
    """Collects what the parser finds, part by part."""

    def __init__(self) -> None:
        self.ended = False
        self.size_bytes = 0
        self._hash = hashlib.sha256()
        self._values: dict[str, bytearray] = {}
        self._name = ""
        self._header = bytearray()
        self._header_value = bytearray()
        self._unstored: list[bytes] = []

    @property
    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_begin": self._on_part_begin,
            "on_part_data": self._on_part_data,
            "on_end": self._on_end,
        }

    def _on_part_begin(self) -> None:
        self._name = ""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, parameters = parse_options_header(bytes(self._header_value))
            self._name = parameters.get(b"name", b"").decode(errors="backslashreplace")
        self._header.clear()
        self._header_value.clear()

    def _on_headers_finished(self) -> None:
        if self._name not in (*TEXT_FIELDS, FILE_FIELD):
            raise MalformedRequest("There is no such field.", field=shown(self._name))
        if self._name in self._values:
            raise InvalidInput("Must be given once.", field=self._name)
        self._values[self._name] = bytearray()

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._name == FILE_FIELD:
            self._unstored.append(data[start:end])
            return
        value = self._values[self._name]
        value += data[start:end]
        if len(value) > MAX_TEXT_BYTES:
            raise InvalidInput(f"Must be at most {MAX_TEXT_BYTES} bytes.", field=self._name)

    def _on_end(self) -> None:
        self.ended = True

    def store(self, spool: BinaryIO) -> None:
        """Write and hash what has come of the file since the last call."""
        for data in self._unstored:
            self._hash.update(data)
            self.size_bytes += spool.write(data)
        self._unstored.clear()

    def upload(self) -> Upload:
        for name in (*TEXT_FIELDS, FILE_FIELD):
            if name not in self._values:
                raise InvalidInput("Is required.", field=name)
        return Upload(self._text("source"), self._text("path"), self._hash.hexdigest(), self.size_bytes)

    def _text(self, name: str) -> str:
        try:
            return self._values[name].decode()
        except UnicodeDecodeError as error:
            raise InvalidInput("Must be UTF-8.", field=name) from error
