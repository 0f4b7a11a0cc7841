"""What every test may use, and the rule that no test reaches beyond this machine."""

from __future__ import annotations

import os
import shutil
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import certifi
import httpcore2
import hypothesis
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from chassis.addresses import is_loopback
from tests import ports


class BeyondThisMachine(AssertionError):
    """A test tried to reach another host; models and stores of tests run here."""


def _only_this_machine(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: Python tells it of every connection. Subprocesses of tests have no key to use one."""
    if event == "socket.connect" and isinstance(address := arguments[1], tuple):
        host = str(address[0])
        if not is_loopback(host):
            raise BeyondThisMachine(f"connection to {host}")


sys.addaudithook(_only_this_machine)

# Hypothesis by itself lets an example fail that takes .2 s, which on a busy machine says nothing of the code.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile("quick")

# Every client of HTTP reads the certificates of all public authorities, .03 s of processor time, and tests
# make a thousand clients, which call this machine alone. So there is one authority, whose key nobody has.
AUTHORITY = str(Path(__file__).parent / "data" / "authority.pem")
certifi.where = lambda: AUTHORITY
httpcore2.default_ssl_context = lambda **_: ssl.create_default_context(cafile=AUTHORITY)

# Settings and keys of the person who runs the tests are not the tests': a key would send documents away.
for name in [name for name in os.environ if name.startswith(("CLAUSEGATE_", "OPENAI_"))]:  # noqa: TID251
    del os.environ[name]  # noqa: TID251

# A process has one provider, the first: that of a command which runs within a test would sample nothing.
trace.set_tracer_provider(TracerProvider())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a quarter of their time tests wait, for deadlines and pauses."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """Makes numbers of TCP ports that were free on loopback a moment ago."""
    return ports.free_port


@pytest.fixture(scope="session")
def socket_dirs() -> Iterator[Callable[[], Path]]:
    """Makes folders whose names are short enough for Unix sockets (107 bytes), unlike `tmp_path`."""
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="cg-")))
        return made[-1]

    yield make
    for folder in made:
        shutil.rmtree(folder)
