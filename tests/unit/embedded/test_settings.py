import pytest
from pydantic import ValidationError

from embedded.settings import EmbeddedSettings


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.0.0.1", "unix:", "7000"])
def test_an_address_that_services_cannot_know_in_advance_is_refused(address):
    with pytest.raises(ValidationError, match="address"):
        EmbeddedSettings(address=address)


@pytest.mark.parametrize("address", ["127.0.0.1:7000", "[::1]:7000", "unix:/run/clausegate"])
def test_an_address_is_a_port_or_a_socket(address):
    assert EmbeddedSettings(address=address).address == address
