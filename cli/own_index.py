"""The index of the settings' store, for the time of a command that makes it anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from chassis.process import CANNOT_START
from chassis.settings import SETTINGS_ERRORS, settings_problem
from chassis.telemetry import telemetry
from cli.errors import CommandError
from cli.own_stack import log_to
from embedded.lock import DataInUse, owned
from services.retrieval.reindex import Outcome, run
from services.retrieval.settings import RetrievalSettings


async def change_over(data: Path, drop_old: bool, say: Callable[[str], None]) -> Outcome:
    """Let an index of the settings' embedding model take the place of the old one, or drop old ones.

    Files below `data` have one owner: nothing else may serve them meanwhile. Weaviate goes on serving.
    """
    with telemetry("clausegate"):
        log_to(data / "logs" / "command.log")
        try:
            settings = RetrievalSettings(data_dir=data)
            with owned(data) if settings.store == "embedded" else nullcontext():
                return await run(settings, drop_old=drop_old, say=say)
        except DataInUse as error:
            raise CommandError(f"{error}; stop it first") from error
        except CANNOT_START as error:
            raise CommandError(str(error)) from error
        except SETTINGS_ERRORS as error:
            raise CommandError(settings_problem(error)) from error
