"""What the OpenAPI document says of a route that sends a file."""

from __future__ import annotations

from gateway.originals import DOWNLOAD, MEDIA_TYPES, TEXT
from gateway.schemas import Schema


def _header(name: str, description: str) -> Schema:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }


FILE_PARAMETERS: tuple[Schema, ...] = (
    {
        "name": DOWNLOAD,
        "in": "query",
        "required": False,
        "description": "Whether a browser is to save the file instead of showing it. Default false.",
        "schema": {"type": "boolean"},
    },
    _header("Range", "The part that is wanted, as `bytes=0-1023`. Of several nothing is taken: all is sent."),
    _header("If-Range", "The `ETag` of the version that `Range` is of; of another one all is sent."),
    _header("If-None-Match", "The `ETag` of what the client has: if that is the file still, 304."),
)
"""Beside the path, in place of the fields of the request."""
_HEADERS: Schema = {
    "X-Trace-Id": {"$ref": "#/components/headers/TraceId"},
    "ETag": {"description": "SHA-256 of the whole file.", "schema": {"type": "string"}},
}
_FILE: Schema = {media_type: {} for media_type in (*MEDIA_TYPES.values(), TEXT)}
FILE_RESPONSES: Schema = {
    "200": {"description": "The whole file.", "headers": _HEADERS, "content": _FILE},
    "206": {"description": "The part that `Range` asks for.", "headers": _HEADERS, "content": _FILE},
    "304": {"description": "The client has it.", "headers": _HEADERS},
}
