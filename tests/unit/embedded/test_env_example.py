import re
from pathlib import Path

import pytest

from cli.settings import CommandSettings
from embedded.settings import EmbeddedSettings
from gateway.settings import GatewaySettings
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings

EXAMPLE = Path(__file__).resolve().parents[3] / ".env.example"
PROCESSES = (
    EmbeddedSettings,
    GatewaySettings,
    IngestSettings,
    RetrievalSettings,
    AnswerSettings,
    CommandSettings,
)


def test_the_example_lists_every_setting_and_no_other():
    settings = {
        field.validation_alias or f"CLAUSEGATE_{name.upper()}"
        for process in PROCESSES
        for name, field in process.model_fields.items()
    }
    listed = re.findall(r"^#([A-Z0-9_]+)=", EXAMPLE.read_text(), re.MULTILINE)

    assert sorted(listed) == sorted(settings)


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.__name__)
def test_the_example_gives_the_defaults(process, monkeypatch):
    defaults = process()
    for name, value in re.findall(r"^#([A-Z0-9_]+)=(.+)$", EXAMPLE.read_text(), re.MULTILINE):
        monkeypatch.setenv(name, value)

    assert process() == defaults
