import resource

import pytest

from chassis.process import allow_descriptors


@pytest.fixture(autouse=True)
def limits():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_process_may_open_what_the_system_allows_whatever_its_shell_says():
    allow_descriptors(0)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == min(hard, 65_536)


def test_a_system_that_allows_fewer_than_there_may_be_connections_is_warned_of(caplog):
    allow_descriptors(10_000_000)

    [record] = caplog.records
    assert (record.levelname, record.connections) == ("WARNING", 10_000_000)
