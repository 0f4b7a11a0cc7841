import errno
import sqlite3
from contextlib import closing

import pytest

from chassis.errors import StorageUnavailable
from chassis.storage import is_storage_failure, storage_errors


def test_a_full_disk_is_a_typed_error_that_says_when_to_try_again():
    with pytest.raises(StorageUnavailable) as failure, storage_errors():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert failure.value.code == "UNAVAILABLE"
    assert failure.value.retry_after_seconds
    assert "space" not in failure.value.message


def test_a_full_database_is_one_too():
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA max_page_count = 2")
    with closing(database), pytest.raises(StorageUnavailable), storage_errors():
        database.execute("CREATE TABLE filling AS SELECT zeroblob(100000) AS bytes")


@pytest.mark.parametrize(
    "error", [TimeoutError(), ConnectionResetError(errno.ECONNRESET, "reset"), ValueError()]
)
def test_other_errors_stay_what_they_are(error):
    assert not is_storage_failure(error)
    with pytest.raises(type(error)), storage_errors():
        raise error
