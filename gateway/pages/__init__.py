"""The pages for people, the console and the documentation: files without a build step, from this host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

Page = Callable[[Request], Awaitable[Response]]

HERE = Path(__file__).parent
CONSOLE = HERE / "console"
FILES = {
    "/": CONSOLE / "index.html",
    "/ask": CONSOLE / "index.html",
    **{f"/console/{file.name}": file for file in sorted(CONSOLE.iterdir()) if file.suffix != ".html"},
    "/docs": HERE / "docs.html",
    "/docs/docs.css": HERE / "docs.css",
    "/docs/docs.js": HERE / "docs.js",
}
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        # No string may become HTML, a script or the address of one: text of documents stays text.
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def served(content: bytes, media_type: str) -> Page:
    """An endpoint that answers the same to everybody."""

    async def answer(request: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=media_type)

    return answer


def pages() -> dict[str, Page]:
    """The endpoints of the pages by path."""
    return {path: served(file.read_bytes(), MEDIA_TYPES[file.suffix]) for path, file in FILES.items()}
