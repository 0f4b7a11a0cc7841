"""A run of a minute and a half; `make faults` runs longer."""

import pytest

from tests.faults.running import run


@pytest.mark.soak
async def test_what_was_acknowledged_stays_and_nothing_wrong_is_said_whatever_breaks(tmp_path):
    report = await run(tmp_path, seconds=90, seed=6)
    print(report.text)
    assert report.violations == []
