"""The index of the settings' store, for the time of a command that makes it anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from chassis.folders import owned
from cli.own_stack import services_within
from services.retrieval.reindex import Outcome, run
from services.retrieval.settings import RetrievalSettings


async def change_over(data: Path, drop_old: bool, say: Callable[[str], None]) -> Outcome:
    """Let an index of the settings' embedding model take the place of the old one, or drop old ones.

    Files below `data` have one owner: nothing else may serve them meanwhile. Weaviate goes on serving.
    """
    with services_within(data, "stop it first"):
        settings = RetrievalSettings(data_dir=data)
        with owned(data) if settings.store == "embedded" else nullcontext():
            return await run(settings, drop_old=drop_old, say=say)
