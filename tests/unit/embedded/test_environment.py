import pytest

from cli.settings import CommandSettings
from embedded.environment import OF_COMMANDS, unknown_variables


@pytest.mark.parametrize(
    "name", ["CLAUSEGATE_ANSWER_MODEL", "CLAUSEGATE_SERVER", "CLAUSEGATE_STORE", "OPENAI_API_KEY", "PATH"]
)
def test_a_setting_is_not_told(name):
    assert list(unknown_variables([name])) == []


def test_a_variable_that_is_no_setting_is_told_with_the_one_nearest_to_it():
    assert list(map(str, unknown_variables(["CLAUSEGATE_ANSWER_MODLE", "CLAUSEGATE_XYZZY"]))) == [
        "CLAUSEGATE_ANSWER_MODLE is no setting; did you mean CLAUSEGATE_ANSWER_MODEL?",
        "CLAUSEGATE_XYZZY is no setting; .env.example lists them",
    ]


def test_what_commands_read_is_known():
    assert {name.upper() for name in CommandSettings.model_fields} <= set(OF_COMMANDS)
