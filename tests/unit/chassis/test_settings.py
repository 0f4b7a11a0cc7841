import pytest
from pydantic import Field, SecretStr, model_validator

from chassis.settings import SETTINGS_ERRORS, ProcessSettings, settings_problem


class Settings(ProcessSettings):
    key: SecretStr = Field(default=SecretStr(""), validation_alias="OPENAI_API_KEY", max_length=3)
    prices: dict[str, float] = Field(default={})
    least: int = 0
    most: int = 9

    @model_validator(mode="after")
    def _in_order(self):
        if self.least > self.most:
            raise ValueError("the least is more than the most")
        return self


def problem(**variables):
    with pytest.MonkeyPatch.context() as environment:
        for name, value in variables.items():
            environment.setenv(name, value)
        with pytest.raises(SETTINGS_ERRORS) as caught:
            Settings()
    return settings_problem(caught.value)


def test_what_is_wrong_is_named_as_it_is_set():
    said = problem(CLAUSEGATE_LEAST="few", CLAUSEGATE_DRAIN_SECONDS="-1")
    assert said == (
        "settings: CLAUSEGATE_DRAIN_SECONDS: Input should be greater than or equal to 0; CLAUSEGATE_LEAST: "
        "Input should be a valid integer, unable to parse string as an integer"
    )


def test_an_empty_file_is_not_the_working_folder():
    said = problem(CLAUSEGATE_API_KEYS_FILE="")
    assert said == (
        "settings: CLAUSEGATE_API_KEYS_FILE: is empty; name a file or folder, or leave the setting out"
    )


def test_a_place_within_a_setting_is_named():
    assert problem(CLAUSEGATE_PRICES='{"m": "dear"}').startswith("settings: CLAUSEGATE_PRICES.m: ")


def test_what_is_wrong_with_several_together_is_its_own_sentence():
    said = problem(CLAUSEGATE_LEAST="10")
    assert said == "settings: the least is more than the most"


def test_no_value_is_repeated():
    said = problem(OPENAI_API_KEY="secret")
    assert said.startswith("settings: OPENAI_API_KEY: ")
    assert "secret" not in said


def test_json_that_cannot_be_read_names_its_setting():
    said = problem(CLAUSEGATE_PRICES="{")
    assert "prices" in said
    assert "\n" not in said
