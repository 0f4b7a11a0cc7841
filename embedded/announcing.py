"""Tells a person at a terminal where the stack serves."""

from __future__ import annotations

from embedded.settings import EmbeddedSettings


def announcement(settings: EmbeddedSettings) -> str:
    """The addresses, what to try there, and how to stop."""
    secure = settings.tls_certificate_file is not None
    scheme, server = ("https", f"https://{settings.address}") if secure else ("http", settings.address)
    lines = ["Clausegate is serving."]
    if settings.gateway_address:
        rest = settings.gateway_address
        url = rest if rest.startswith("unix:") else f"{scheme}://{rest}"
        lines.append(f"  REST  {url}, with a page to try it at /docs")
    lines += [
        f'  gRPC  {settings.address}: clausegate ask "…" --server {server}',
        f"  Data  {settings.data_dir}",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)
