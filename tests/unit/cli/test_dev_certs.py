"""Certificates for trying TLS: who they are for, who may read them, and that none is lost."""

import stat
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store
from typer.testing import CliRunner

from cli.main import app

KEYS = {"server.key", "client.key"}
FILES = {"ca.pem", "server.pem", "client.pem"} | KEYS


def made(folder, *options):
    return CliRunner().invoke(app, ["dev-certs", str(folder), *options])


def certificate(file):
    return x509.load_pem_x509_certificate(file.read_bytes())


def test_what_is_made_is_private_where_it_must_be(tmp_path):
    done = made(tmp_path / "certs")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "certs").iterdir()}

    assert done.exit_code == 0
    assert modes.keys() == FILES
    assert {modes[name] for name in KEYS} == {0o600}
    assert f"CLAUSEGATE_TLS_KEY_FILE={tmp_path}/certs/server.key" in done.stdout.splitlines()


def test_a_strict_verifier_takes_the_certificates_for_the_names_that_were_asked_for(tmp_path):
    made(tmp_path, "--host", "retrieval", "--host", "10.1.2.3", "--host", "*.example.com", "--days", "3")
    verifying = PolicyBuilder().store(Store([certificate(tmp_path / "ca.pem")]))
    server, client = certificate(tmp_path / "server.pem"), certificate(tmp_path / "client.pem")
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    for name in ("localhost", "retrieval", "a.example.com"):
        verifying.build_server_verifier(x509.DNSName(name)).verify(server, [])
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
    ]
    left = server.not_valid_after_utc - datetime.now(UTC)
    assert left.days == 2
    assert client.extensions.get_extension_for_class(x509.ExtendedKeyUsage)


def test_nothing_is_replaced_unless_it_is_asked_for(tmp_path):
    made(tmp_path)
    (tmp_path / "server.key").chmod(0o644)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    refused = made(tmp_path)
    unchanged = {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    forced = made(tmp_path, "--force")

    assert (refused.exit_code, unchanged, forced.exit_code) == (1, True, 0)
    assert "--force" in refused.stderr
    assert not set(before.values()) & {each.read_bytes() for each in tmp_path.iterdir()}
    assert stat.S_IMODE((tmp_path / "server.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("host", ["https://retrieval", "retrieval:7002", "", "büro", "a..b", "-a", "1:2:3:4"])
def test_what_is_no_host_is_refused(tmp_path, host):
    done = made(tmp_path / "certs", "--host", host)

    assert done.exit_code == 1
    assert "--host" in done.stderr
    assert not (tmp_path / "certs").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    done = made(tmp_path / "file")

    assert done.exit_code == 1
    assert str(tmp_path / "file") in done.stderr
