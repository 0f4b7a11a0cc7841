import pytest
from pydantic import ValidationError

from inference.settings import ModelServerSettings


def test_without_key_and_address_no_model_server_is_named():
    assert not ModelServerSettings().names_model_server


@pytest.mark.parametrize("named", [{"OPENAI_API_KEY": "sk-1"}, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}])
def test_a_key_or_an_address_names_one(named):
    assert ModelServerSettings(**named).names_model_server


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8080", "localhost/v1", "ftp://host/v1", "http://", "http://[/v1", "http://host:99999/v1"],
)
def test_an_address_that_is_none_is_refused_at_start(address):
    with pytest.raises(ValidationError, match="OPENAI_BASE_URL"):
        ModelServerSettings(OPENAI_BASE_URL=address)


def test_a_key_that_no_header_can_hold_is_refused_without_being_shown():
    with pytest.raises(ValidationError, match="no key has") as refused:
        ModelServerSettings(OPENAI_API_KEY="sk-secret\nsk-other")

    assert "secret" not in str(refused.value)


def test_a_key_loses_the_line_break_of_its_file_and_is_never_printed():
    settings = ModelServerSettings(OPENAI_API_KEY="sk-secret\n")

    assert settings.openai_api_key.get_secret_value() == "sk-secret"
    assert "secret" not in repr(settings)
