import pytest

from embedded.announcing import announcement
from embedded.settings import EmbeddedSettings


def test_a_person_reads_the_addresses_and_how_to_stop():
    assert announcement(EmbeddedSettings()) == (
        "Clausegate is serving.\n"
        "  REST  http://127.0.0.1:8000, with a page to try it at /docs\n"
        '  gRPC  127.0.0.1:7000: clausegate ask "…" --server 127.0.0.1:7000\n'
        "  Data  .data\n"
        "Ctrl-C stops it."
    )


def test_with_tls_the_addresses_say_so():
    told = announcement(EmbeddedSettings(tls_certificate_file="cert.pem", tls_key_file="key.pem"))

    assert ("https://127.0.0.1:8000," in told, "--server https://127.0.0.1:7000" in told) == (True, True)


@pytest.mark.parametrize(
    ("rest", "shown"),
    [("", []), ("unix:/tmp/rest", ["  REST  unix:/tmp/rest, with a page to try it at /docs"])],
)
def test_what_is_not_served_by_tcp_is_told_as_it_is(rest, shown):
    told = announcement(EmbeddedSettings(gateway_address=rest)).splitlines()

    assert [line for line in told if "REST" in line] == shown
