"""The command `dev-certs`: certificates for trying TLS, made in a moment and good for a while."""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.authority import Validity, new_authority, new_client, new_server
from cli.errors import CommandError
from cli.files import private, write_text
from cli.output import Output
from cli.running import run

app = typer.Typer()

THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
AUTHORITY = "ca.pem"
MAX_DAYS = 397
"""What browsers accept at most."""
_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}$)(\*\.)?{_LABEL}(\.{_LABEL})*")


@app.command("dev-certs")
def dev_certs(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the files, made if missing.")],
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name or IP address that the processes are called by, besides this machine's; may be "
            "repeated.",
        ),
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="How long they are valid.")] = 30,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Make certificates for trying TLS, and print the settings that use them.

    An authority, a certificate for all processes, and one for clients. The authority's key is thrown away, so
    that nothing else is ever signed by it: for more names make all of them anew.
    """
    output = Output(as_json=False)

    async def work() -> int:
        hosts = list(dict.fromkeys([*THIS_MACHINE, *(_host(name) for name in host or ())]))
        files = _made(hosts, Validity.of_days(days, datetime.now(UTC)))
        _write(folder, files, force=force)
        output.verbatim("\n".join(_settings(folder.resolve())))
        output.notes([f"valid for {days} days, for {', '.join(hosts)}; to be tried with, not relied on"])
        return 0

    run(work(), output)


def _host(name: str) -> str:
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    if not _NAME.fullmatch(name):
        raise CommandError(f"--host: expected a name or an IP address without scheme and port, got “{name}”")
    return name


def _made(hosts: Sequence[str], validity: Validity) -> Mapping[str, bytes]:
    """The contents of all files by name."""
    authority = new_authority("Clausegate trial authority", validity)
    server = new_server(authority, hosts, validity)
    client = new_client(authority, "Clausegate trial client", validity)
    return {
        AUTHORITY: authority.certificate_pem(),
        "server.key": server.key_pem(),
        "server.pem": server.certificate_pem(),
        "client.key": client.key_pem(),
        "client.pem": client.certificate_pem(),
    }


def _write(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        raise CommandError(f"{folder}: {', '.join(there)} there already; --force replaces them")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            secret = name.endswith(".key")
            if secret:
                (folder / name).unlink(missing_ok=True)  # with a mode that others may have widened
            write_text(folder / name, content.decode(), opener=private if secret else None)
    except OSError as error:
        raise CommandError(f"{folder}: {error.strerror}") from error


def _settings(folder: Path) -> list[str]:
    """Lines for a shell or an environment file."""

    def setting(name: str, file: str) -> str:
        return f"CLAUSEGATE_{name}={shlex.quote(str(folder / file))}"

    return [
        "# Processes: they serve TLS alone, call each other by TLS, and let in who shows a certificate.",
        setting("TLS_CERTIFICATE_FILE", "server.pem"),
        setting("TLS_KEY_FILE", "server.key"),
        setting("TLS_CA_FILE", AUTHORITY),
        "CLAUSEGATE_TLS_CLIENT_CERTIFICATES=required",
        "# Commands with --server https://localhost:8000:",
        setting("CA_FILE", AUTHORITY),
        setting("CLIENT_CERTIFICATE_FILE", "client.pem"),
        setting("CLIENT_KEY_FILE", "client.key"),
    ]
