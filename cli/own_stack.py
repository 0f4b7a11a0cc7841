"""What a command runs over its own data: the embedded stack at a Unix socket, or a change of the index."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

import typer

from chassis.folders import DataInUse, owned
from chassis.logs import JsonFormatter
from chassis.process import CANNOT_START
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from cli.errors import CommandError
from embedded.environment import unknown_variables
from embedded.settings import EmbeddedSettings
from embedded.wiring import stack
from services.retrieval.reindex import Outcome, run
from services.retrieval.settings import RetrievalSettings

LOG_BYTES = 10_000_000
WITHOUT_CREDENTIALS: dict[str, Any] = {
    "api_keys_file": None,
    "jwt_issuer": "",
    "jwt_audience": "",
    "jwt_jwks": "",
    "tls_certificate_file": None,
    "tls_key_file": None,
    "tls_ca_file": None,
    "tls_client_certificates": "off",
}
"""Nobody else reaches the socket, so that what the environment says for servers does not count."""
AUDIT_LOGGER = logging.getLogger("services.answer.records.audit")


class AuditEcho(logging.StreamHandler[TextIO]):
    """Prints the audit records among what is logged, one JSON object a line, on standard error."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Only records of queries."""
        return hasattr(record, "record")

    def format(self, record: logging.LogRecord) -> str:
        """The audit record alone."""
        return json.dumps(vars(record)["record"], ensure_ascii=False)


@asynccontextmanager
async def own_stack(
    data: Path, *, log_queries: bool = False, record: Path | None = None, replay: Path | None = None
) -> AsyncIterator[str]:
    """Run the embedded stack over `data`, without REST; yields its address.

    With `log_queries` the audit record of every query goes to standard error. Model calls are recorded in
    `record`, or played back from `replay`.
    """
    for unknown in unknown_variables():
        typer.echo(f"note: {unknown}", err=True)
    # The folder's name is short: a Unix socket's path has at most 107 bytes.
    with (
        services_within(data, "name its address, e.g. --server 127.0.0.1:7000"),
        tempfile.TemporaryDirectory(prefix="clausegate-", dir="/tmp") as folder,
    ):
        if log_queries:
            AUDIT_LOGGER.addHandler(AuditEcho())
        settings = EmbeddedSettings(
            data_dir=data,
            **WITHOUT_CREDENTIALS,
            address=f"unix:{folder}/grpc",
            gateway_address="",
            drain_seconds=1,
            log_queries=log_queries,
        )
        files = {"record_model_calls": record, "replay_model_calls": replay}
        settings = settings.model_copy(update={name: file for name, file in files.items() if file})
        async with stack(settings):
            yield settings.address


async def change_over(data: Path, drop_old: bool, say: Callable[[str], None]) -> Outcome:
    """Let an index of the settings' embedding model take the place of the old one, or drop old ones.

    Files below `data` have one owner: nothing else may serve them meanwhile. Weaviate goes on serving.
    """
    with services_within(data, "stop it first"):
        settings = RetrievalSettings(data_dir=data)
        with owned(data) if settings.store == "embedded" else nullcontext():
            return await run(settings, drop_old=drop_old, say=say)


@contextmanager
def services_within(data: Path, when_in_use: str) -> Iterator[None]:
    """Run services over `data` within a command: they log to a file there, away from the terminal.

    Raises `CommandError` when they cannot start; `when_in_use` says what to do while another process serves.
    """
    with telemetry("clausegate"):
        _log_to(data / "logs" / "command.log")
        try:
            yield
        except DataInUse as error:
            raise CommandError(f"{error}; {when_in_use}") from error
        except CANNOT_START as error:
            raise CommandError(str(error)) from error
        except SETTINGS_ERRORS as error:
            raise CommandError(settings_problem(error)) from error


def _log_to(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; --data names a folder to write to") from error
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
