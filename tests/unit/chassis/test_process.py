import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chassis.process import run_process
from chassis.settings import ProcessSettings


async def never(settings: ProcessSettings) -> None:
    raise AssertionError("it ran")


@pytest.mark.parametrize("arguments", [["--port", "80"], ["serve"], [""]], ids=["option", "word", "nothing"])
def test_a_process_that_is_given_arguments_does_not_run_as_if_it_had_heard_them(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        run_process("gateway", ProcessSettings, never, arguments)

    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert told.err.startswith("usage: gateway takes no arguments.")


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_a_process_that_is_asked_for_help_says_how_it_is_set_up(asked, capsys):
    with pytest.raises(SystemExit) as ended:
        run_process("gateway", ProcessSettings, never, [asked])

    assert ended.value.code == 0
    assert "CLAUSEGATE_" in capsys.readouterr().out


STARTING = """
import asyncio
from chassis.process import run_process
from chassis.settings import ProcessSettings

async def run(settings):
    print("starting", flush=True)
    await asyncio.sleep(600)

run_process("gateway", ProcessSettings, run)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_asked_to_stop_while_it_starts_ends(number):
    with subprocess.Popen(
        [sys.executable, "-c", STARTING],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "starting\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, "")
