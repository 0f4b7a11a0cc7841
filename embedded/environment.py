"""What the environment says that nothing here reads: a setting that is spelled wrong does nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from chassis.settings import PREFIX
from embedded.settings import EmbeddedSettings
from gateway.settings import GatewaySettings
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings

PROCESSES = (EmbeddedSettings, GatewaySettings, IngestSettings, RetrievalSettings, AnswerSettings)
OF_COMMANDS = ("SERVER", "CREDENTIAL", "CA_FILE", "CLIENT_CERTIFICATE_FILE", "CLIENT_KEY_FILE")
"""What `clausegate` reads besides; often set in the same shell."""
LIKENESS = 0.75
"""How alike two names are, 0 to 1, for one to be offered for the other."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A variable that begins like a setting and is none."""

    variable: str
    nearest: str
    """The setting that is spelled most like it; empty where none is."""

    def __str__(self) -> str:
        advice = f"did you mean {self.nearest}?" if self.nearest else ".env.example lists them"
        return f"{self.variable} is no setting; {advice}"


def unknown_variables(environment: Iterable[str] | None = None) -> Iterator[Unknown]:
    """Those among names of variables, by default of this process, by name."""
    fields = [name.upper() for process in PROCESSES for name in process.model_fields]
    known = {*fields, *OF_COMMANDS}
    names = os.environ if environment is None else environment  # noqa: TID251
    for name in sorted(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)):
        if name not in known:
            near = get_close_matches(name, known, 1, LIKENESS)
            yield Unknown(f"{PREFIX}{name}", f"{PREFIX}{near[0]}" if near else "")
