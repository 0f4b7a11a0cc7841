"""The commands of API keys: what callers of a gateway, or of services, present."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from chassis.api_keys import ApiKey, new_key
from chassis.auth import Caller
from cli.errors import CommandError
from cli.key_file import changing, read_keys
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


@keys.command()
def create(
    file: File,
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose documents the key opens.")],
    subject: Annotated[str, typer.Option(metavar="NAME", help="Who uses it, as audit records name them.")],
    json: Json = False,
) -> None:
    """Make a key and print it, this once; processes that run take it from their next call."""
    output = Output(json)

    async def work() -> int:
        try:
            caller = Caller(tenant, subject)
        except ValueError as error:
            raise CommandError(str(error)) from error
        key, presented = new_key(caller, datetime.now(UTC).replace(microsecond=0))
        with changing(file) as known:
            known.append(key)
        if json:
            output.json({**_as_json(key), "apiKey": presented})
        else:
            output.verbatim(presented)
            output.notes([f"key {key.key_id} of {subject} ({tenant}); it is shown this once"])
        return 0

    run(work(), output)


@keys.command("list")
def list_keys(file: File, json: Json = False) -> None:
    """List all keys, revoked ones among them."""
    output = Output(json)

    async def work() -> int:
        known = read_keys(file)
        if json:
            output.json({"keys": [_as_json(key) for key in known]})
        else:
            rows = (
                (
                    Text(key.key_id, "cyan"),
                    key.caller.tenant,
                    key.caller.subject,
                    key.created.isoformat(),
                    key.revoked.isoformat() if key.revoked else "",
                )
                for key in known
            )
            print_table(output.console, ("Key", "Tenant", "Subject", "Created", "Revoked"), rows)
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
        with changing(file) as known:
            number = next((i for i, key in enumerate(known) if key.key_id == key_id), None)
            if number is None:
                raise CommandError("no key has this id; `clausegate keys list` shows them")
            if known[number].revoked is None:
                known[number] = replace(known[number], revoked=datetime.now(UTC).replace(microsecond=0))
            revoked = known[number]
        if json:
            output.json(_as_json(revoked))
        else:
            output.console.print(f"revoked {key_id}", markup=False)
        return 0

    run(work(), output)


def _as_json(key: ApiKey) -> Mapping[str, object]:
    return {
        "keyId": key.key_id,
        "tenant": key.caller.tenant,
        "subject": key.caller.subject,
        "created": key.created.isoformat(),
        "revoked": key.revoked.isoformat() if key.revoked else None,
    }
