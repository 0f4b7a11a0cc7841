"""The four processes and their settings, as a container's environment makes them."""

from gateway.settings import GatewaySettings
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings

SETTINGS = {
    "gateway": GatewaySettings,
    "ingest": IngestSettings,
    "retrieval": RetrievalSettings,
    "answer": AnswerSettings,
}


def variables(settings):
    """The names under which a class of settings looks into the environment."""
    return {
        (field.validation_alias or f"CLAUSEGATE_{name}").upper()
        for name, field in settings.model_fields.items()
    }


def settings_of(manifests, name, monkeypatch):
    """What a process reads from what its container is given."""
    for key, value in manifests.environment(name).items():
        monkeypatch.setenv(key, value)
    return SETTINGS[name]()
