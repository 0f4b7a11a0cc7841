import pytest

from chassis.limits.deadlines import set_deadline, time_left


@pytest.fixture(autouse=True)
def _no_deadline_afterwards():
    yield
    set_deadline(None)


def test_without_a_deadline_the_limit_counts():
    assert time_left(5) == 5


def test_a_deadline_shortens_the_limit_but_never_lengthens_it():
    set_deadline(60)

    assert time_left(5) == 5
    assert 59 < time_left(100) <= 60


def test_nothing_is_left_after_the_deadline():
    set_deadline(-1)

    assert time_left(5) == 0
