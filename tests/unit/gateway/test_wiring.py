import re

import pytest

from gateway.wiring import bound_socket


def test_an_address_that_cannot_be_bound_is_named():
    with bound_socket("127.0.0.1:0") as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        with (
            pytest.raises(OSError, match=f"cannot bind {address}: Address already in use"),
            bound_socket(address),
        ):
            pass


def test_a_socket_in_a_folder_that_is_missing_is_named(tmp_path):
    address = f"unix:{tmp_path}/missing/socket"

    with (
        pytest.raises(OSError, match=f"cannot bind {re.escape(address)}: No such file"),
        bound_socket(address),
    ):
        pass
