from pathlib import Path

from embedded.settings import EmbeddedSettings
from gateway.settings import GatewaySettings
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings

EXAMPLE = Path(__file__).resolve().parents[3] / ".env.example"
PROCESSES = (EmbeddedSettings, GatewaySettings, IngestSettings, RetrievalSettings, AnswerSettings)


def test_the_example_lists_every_setting_and_no_other():
    settings = {f"CLAUSEGATE_{name.upper()}" for process in PROCESSES for name in process.model_fields}
    lines = EXAMPLE.read_text().splitlines()
    listed = [line[1:].partition("=")[0] for line in lines if line.startswith("#CLAUSEGATE_")]

    assert sorted(listed) == sorted(settings)
