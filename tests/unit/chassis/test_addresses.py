import pytest

from chassis.addresses import UNIX_PATH_LIMIT, AddressRefused, check_bindable

LOCAL = ["127.0.0.1:0", "127.8.9.1:1", "[::1]:7000", "localhost:80", "unix:/tmp/s"]
OTHERS = ["0.0.0.0:7000", "[::]:7000", "10.0.0.1:7000", "example.com:80", ":7000"]


@pytest.mark.parametrize("address", LOCAL)
def test_loopback_and_unix_sockets_may_be_bound(address):
    assert check_bindable(address, credentials_configured=False) == address


@pytest.mark.parametrize("address", OTHERS)
def test_an_address_that_others_reach_is_refused_without_credentials(address):
    with pytest.raises(AddressRefused, match="CLAUSEGATE_API_KEYS_FILE"):
        check_bindable(address, credentials_configured=False)


@pytest.mark.parametrize("address", LOCAL + OTHERS)
def test_any_address_may_be_bound_where_callers_need_a_credential(address):
    assert check_bindable(address, credentials_configured=True) == address


@pytest.mark.parametrize("credentials_configured", [True, False])
@pytest.mark.parametrize(
    "address", ["", "7000", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:²", "127.0.0.1:70000"]
)
def test_a_malformed_address_says_what_is_expected(address, credentials_configured):
    with pytest.raises(AddressRefused, match="expected host:port or unix:path"):
        check_bindable(address, credentials_configured=credentials_configured)


def test_a_socket_path_beyond_the_limit_of_the_platform_is_refused():
    check_bindable("unix:" + "x" * UNIX_PATH_LIMIT, credentials_configured=False)
    with pytest.raises(AddressRefused, match="1 to 107 bytes"):
        check_bindable("unix:" + "x" * (UNIX_PATH_LIMIT + 1), credentials_configured=False)
