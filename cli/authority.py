"""Makes certificates for trying TLS: an authority, and what it signs."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCKS_DIFFER = timedelta(minutes=5)
"""How much earlier than now certificates are valid: other machines' clocks may be behind."""
SERVER = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
"""Uses of a process's certificate: it listens, and it calls others."""
CLIENT = (ExtendedKeyUsageOID.CLIENT_AUTH,)


@dataclass(frozen=True, slots=True)
class Validity:
    """From when until when a certificate is valid."""

    begin: datetime
    end: datetime

    @classmethod
    def of_days(cls, days: int, now: datetime) -> Validity:
        """`days` from now, and a little before."""
        return cls(now - CLOCKS_DIFFER, now + timedelta(days=days))


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A private key and the certificate of its public one."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def key_pem(self) -> bytes:
        """The private key, without a password."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def certificate_pem(self) -> bytes:
        """The certificate."""
        return self.certificate.public_bytes(Encoding.PEM)


def new_authority(name: str, validity: Validity) -> KeyPair:
    """An authority that signs certificates of processes and clients, and no further authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(name)
    builder = (
        _builder(subject, subject, key, validity)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
    )
    return KeyPair(key, builder.sign(key, hashes.SHA256()))


def new_server(authority: KeyPair, hosts: Sequence[str], validity: Validity) -> KeyPair:
    """The certificate of a process that is called by any of `hosts`: names and literals of IP addresses.

    Raises `ValueError` for what is neither.
    """
    return _signed(authority, hosts[0], hosts, SERVER, validity)


def new_client(authority: KeyPair, name: str, validity: Validity) -> KeyPair:
    """The certificate of who only calls."""
    return _signed(authority, name, (), CLIENT, validity)


def _signed(
    authority: KeyPair,
    name: str,
    hosts: Sequence[str],
    purposes: Sequence[x509.ObjectIdentifier],
    validity: Validity,
) -> KeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate
    issuer_key = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    builder = (
        _builder(_named(name), issuer.subject, key, validity)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer_key), critical=False
        )
    )
    if hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return KeyPair(key, builder.sign(authority.key, hashes.SHA256()))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, validity: Validity
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.begin)
        .not_valid_after(validity.end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
