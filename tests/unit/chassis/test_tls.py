"""What settings and files of TLS are taken, and what is said of the others."""

from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from pydantic import ValidationError

from chassis.settings import NO_TLS, ProcessSettings, TlsFiles, settings_problem
from chassis.tls import Tls, TlsBroken
from tests.contract.certificates import NOW, files, pairs

PASSWORD = serialization.BestAvailableEncryption(b"secret")
PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8


def problem(**settings):
    with pytest.raises(ValidationError) as refused:
        ProcessSettings(**settings)
    return settings_problem(refused.value)


@pytest.mark.parametrize("name", ["tls_certificate_file", "tls_key_file"])
def test_a_certificate_and_its_key_go_together(name):
    said = problem(**{name: "somewhere.pem"})

    assert "CLAUSEGATE_TLS_CERTIFICATE_FILE and CLAUSEGATE_TLS_KEY_FILE go together" in said


@pytest.mark.parametrize(
    "given", [{}, {"tls_ca_file": "ca"}, {"tls_certificate_file": "c", "tls_key_file": "k"}]
)
def test_client_certificates_need_authorities_and_a_certificate_of_ones_own(given):
    said = problem(tls_client_certificates="required", **given)

    assert "CLAUSEGATE_TLS_CLIENT_CERTIFICATES=required needs" in said


def test_without_settings_there_is_no_tls():
    assert ProcessSettings().tls_files() == NO_TLS


def broken(tls_files, *, serves=True, now=NOW):
    """What is said of files that cannot be used."""
    with pytest.raises(TlsBroken) as refused:
        Tls(tls_files, serves=serves, now=lambda: now)
    said = str(refused.value)
    assert "\n" not in said
    return said


def test_files_that_fit_are_taken(tmp_path):
    pem = Tls(files(tmp_path, "server", "ca"), serves=True).pem()

    assert (pem.chain, pem.key) == (pairs()["server"].certificate_pem(), pairs()["server"].key_pem())
    assert pem.ca == pairs()["ca"].certificate_pem()


@pytest.mark.parametrize(
    ("name", "setting"), [("server.pem", "CERTIFICATE"), ("server.key", "KEY"), ("ca.pem", "CA")]
)
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file"),
        (b"", "in PEM"),
        (b"\xff\xfe", "in PEM"),
        (b"-----BEGIN CERTIFICATE-----", "in PEM"),
    ],
    ids=["missing", "empty", "binary", "cut off"],
)
def test_a_file_that_holds_nothing_of_the_kind_is_named(tmp_path, name, setting, content, why):
    tls_files = files(tmp_path, "server", "ca")
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    said = broken(tls_files)

    assert said.startswith(f"CLAUSEGATE_TLS_{setting}_FILE: {tmp_path / name}: ")
    assert why in said


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (pairs()["renewed"].key_pem(), "does not fit"),
        (pairs()["server"].key.private_bytes(PEM, PKCS8, PASSWORD), "is encrypted"),
    ],
    ids=["another's", "encrypted"],
)
def test_a_key_that_cannot_be_used_is_named(tmp_path, key, why):
    tls_files = files(tmp_path, "server")
    tls_files.key.write_bytes(key)

    assert broken(tls_files).startswith(f"CLAUSEGATE_TLS_KEY_FILE: {tls_files.key}: ")
    assert why in broken(tls_files)


@pytest.mark.parametrize(
    ("days", "why"), [(-1, "is not valid before"), (2, "expired at")], ids=["too early", "too late"]
)
def test_a_certificate_that_is_not_valid_now_is_refused(tmp_path, days, why):
    assert why in broken(files(tmp_path, "server"), now=NOW + timedelta(days=days))


def test_an_authority_that_has_expired_is_refused_unless_another_has_not(tmp_path):
    authority = tmp_path / "ca.pem"
    old, new = pairs()["expired"].certificate_pem(), pairs()["ca"].certificate_pem()
    authority.write_bytes(old)
    said = broken(TlsFiles(ca=authority), serves=False)
    authority.write_bytes(old + new)

    assert said.startswith(
        f"CLAUSEGATE_TLS_CA_FILE: {authority}: the certificate of CN=localhost expired at "
    )
    assert Tls(TlsFiles(ca=authority), serves=False).pem().ca == old + new


def test_a_certificate_for_clients_alone_is_shown_but_not_served(tmp_path):
    tls_files = files(tmp_path, "client")

    assert "not for servers" in broken(tls_files)
    assert Tls(tls_files, serves=False).pem().chain


def test_a_key_of_a_kind_that_grpc_refuses_is_refused_at_the_start(tmp_path):
    from cryptography import x509

    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, NOW, NOW + timedelta(days=1))
        .sign(key, None)
        .public_bytes(PEM)
    )
    tls_files = files(tmp_path, "server")
    tls_files.certificate.write_bytes(certificate)

    assert "neither RSA nor of a usual curve" in broken(tls_files)
