"""The commands of API keys, which callers of services and of a gateway present, and the file of keys."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from chassis.access import Scope
from chassis.api_keys import ApiKey, from_json, new_key, to_json
from chassis.auth import EVERY_SOURCE, Caller
from chassis.watched_file import read_regular
from cli.errors import CommandError
from cli.files import private, write_text
from cli.output import Output
from cli.parameters import Json
from cli.running import run
from cli.tables import print_table

app = typer.Typer()
keys = typer.Typer(no_args_is_help=True, help="Make, list and revoke the API keys of a deployment.")
app.add_typer(keys, name="keys")

File = Annotated[
    Path,
    typer.Option(
        "--file",
        envvar="CLAUSEGATE_API_KEYS_FILE",
        metavar="FILE",
        help="The file of keys.",
    ),
]
Scopes = Annotated[
    list[Scope] | None,
    typer.Option("--scope", help="What it may do; repeat for several. Query and ingest unless given."),
]
Sources = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="A source it may read and write; repeat for several. All unless given.",
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN",
        help="When it ends: 12h, 90d or 8w from now, or a date (its first moment in UTC) or time in ISO "
        "8601. Never unless given.",
    ),
]
DEFAULT_SCOPES = (Scope.QUERY, Scope.INGEST)
"""What a key may do for which nobody has said it: the daily work, and nothing of an operator's."""
_DURATION = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@keys.command()
def create(  # noqa: PLR0913 - its parameters are the options of the command
    file: File,
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose documents the key opens.")],
    subject: Annotated[str, typer.Option(metavar="NAME", help="Who uses it, as audit records name them.")],
    scopes: Scopes = None,
    sources: Sources = None,
    expires: Expires = None,
    json: Json = False,
) -> None:
    """Make a key and print it, this once; processes that run take it from their next call."""
    output = Output(json)

    async def work() -> int:
        now = datetime.now(UTC).replace(microsecond=0)
        try:
            caller = Caller(tenant, subject, frozenset(scopes or DEFAULT_SCOPES), frozenset(sources or ()))
            key, presented = new_key(caller, now, expiry_of(expires, now) if expires is not None else None)
        except ValueError as error:
            raise CommandError(str(error)) from error
        with changing(file) as known:
            known.append(key)
        if json:
            output.json({**_as_json(key, now), "apiKey": presented})
        else:
            output.verbatim(presented)
            until = f"{_state(key, now)}{' UTC' if key.expires else ''}"
            described = f"{subject} ({tenant}): {_scopes(key)}; {_sources(key)}; {until}"
            output.notes([f"key {key.key_id} of {described}. It is shown this once"])
        return 0

    run(work(), output)


def expiry_of(text: str, now: datetime) -> datetime:
    """When a key that is made now ends. Raises `ValueError`, also for what has passed."""
    duration = _DURATION.fullmatch(text)
    if duration:
        return now + timedelta(**{_UNITS[duration[2]]: int(duration[1])})
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError("--expires: expected 12h, 90d, 8w, or a date or time in ISO 8601") from error
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        instant = instant.replace(tzinfo=UTC)
    if instant.tzinfo is None:
        raise ValueError("--expires: a time needs its zone, as in 2027-01-31T18:00+01:00")
    if instant <= now:
        raise ValueError("--expires: this has passed")
    return instant.astimezone(UTC)


@keys.command("list")
def list_keys(file: File, json: Json = False) -> None:
    """List all keys, expired and revoked ones among them."""
    output = Output(json)

    async def work() -> int:
        now = datetime.now(UTC)
        known = read_keys(file)
        if json:
            output.json({"keys": [_as_json(key, now) for key in known]})
        else:
            rows = (
                (
                    Text(key.key_id, "cyan"),
                    key.caller.tenant,
                    key.caller.subject,
                    _scopes(key),
                    _sources(key),
                    _state(key, now),
                )
                for key in known
            )
            columns = ("Key", "Tenant", "Subject", "Scopes", "Sources", "State (UTC)")
            print_table(output.console, columns, rows, whole="Key")
        return 0

    run(work(), output)


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="As `keys list` shows it.")],
    file: File,
    json: Json = False,
) -> None:
    """Revoke a key; processes that run refuse it from their next call. It stays listed."""
    output = Output(json)

    async def work() -> int:
        now = datetime.now(UTC).replace(microsecond=0)
        with changing(file) as known:
            number = next((i for i, key in enumerate(known) if key.key_id == key_id), None)
            if number is None:
                raise CommandError("no key has this id; `clausegate keys list` shows them")
            if known[number].revoked is None:
                known[number] = replace(known[number], revoked=now)
            revoked = known[number]
        if json:
            output.json(_as_json(revoked, now))
        else:
            output.console.print(f"revoked {key_id}", markup=False)
        return 0

    run(work(), output)


def _scopes(key: ApiKey) -> str:
    return ", ".join(sorted(key.caller.scopes))


def _sources(key: ApiKey) -> str:
    return ", ".join(sorted(key.caller.sources)) or "all sources"


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked:
        return f"revoked {_minute(key.revoked)}"
    if key.expires is None:
        return "does not expire"
    return f"{'expired' if key.has_expired(now) else 'expires'} {_minute(key.expires)}"


def _minute(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _as_json(key: ApiKey, now: datetime) -> Mapping[str, object]:
    return {
        "keyId": key.key_id,
        "tenant": key.caller.tenant,
        "subject": key.caller.subject,
        "scopes": sorted(key.caller.scopes),
        "sources": sorted(key.caller.sources) or [EVERY_SOURCE],
        "created": key.created.isoformat(),
        "expires": key.expires.isoformat() if key.expires else None,
        "expired": key.has_expired(now),
        "revoked": key.revoked.isoformat() if key.revoked else None,
    }


def read_keys(path: Path) -> tuple[ApiKey, ...]:
    """All keys in order. Raises `CommandError`."""
    try:
        return from_json(read_regular(path).decode("utf-8"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # the latter of JSON that is nested too deeply
        raise CommandError(f"{path}: not a file of API keys: {error}") from error


@contextmanager
def changing(path: Path) -> Iterator[list[ApiKey]]:
    """The keys, none when there is no file yet, to be changed within the block; written at its end.

    Another change waits meanwhile. Nothing is written when the block raises. Raises `CommandError`.
    """
    path = path.resolve()
    with _alone(path):
        keys = list(read_keys(path)) if path.exists() else []
        yield keys
        write_text(path, to_json(keys), opener=private)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock beside the file: a lock on the file itself would go with the version that is replaced."""
    try:
        lock = open(path.with_name(f".{path.name}.lock"), "w", opener=private)  # noqa: SIM115
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
