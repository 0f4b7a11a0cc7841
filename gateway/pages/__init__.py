"""The documentation page: three files without a build step, served by the gateway and usable offline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

Page = Callable[[Request], Awaitable[Response]]

HERE = Path(__file__).parent
FILES = {
    "/docs": ("docs.html", "text/html"),
    "/docs/docs.css": ("docs.css", "text/css"),
    "/docs/docs.js": ("docs.js", "text/javascript"),
}
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def served(content: bytes, media_type: str) -> Page:
    """An endpoint that answers the same to everybody."""

    async def answer(request: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=media_type)

    return answer


def pages() -> dict[str, Page]:
    """The documentation's endpoints by path."""
    return {
        path: served((HERE / name).read_bytes(), media_type) for path, (name, media_type) in FILES.items()
    }
