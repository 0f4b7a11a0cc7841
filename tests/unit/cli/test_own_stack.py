"""What keeps the services of a command from starting is one line."""

import pytest

from cli.errors import CommandError
from cli.own_stack import services_within
from tests.processwide import logging_taken_back


def test_a_folder_that_cannot_be_written_is_named_with_the_option(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file, where a folder should be")

    with (
        logging_taken_back(),
        pytest.raises(CommandError) as refused,
        services_within(taken, "stop it first"),
    ):
        pass

    assert str(refused.value).startswith(f"{taken}/logs/command.log: Not a directory; --data names")
