"""Checks certificates, keys and authorities in PEM: what TLS would find wrong later is said at the start."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

CURVES = ("secp256r1", "secp384r1")
"""What every TLS library at hand takes; gRPC's takes no Ed25519 and, as a client, no secp521r1."""
FOR_SERVERS = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}


class Unfit(ValueError):
    """What is checked cannot be used; the message says why and names no file."""


def check_chain(chain: bytes, now: datetime) -> x509.Certificate:
    """The first certificate of `chain`: the process's own, which those that signed it may follow.

    Raises `Unfit` when it is no PEM, not valid at `now`, or its key of a kind that TLS libraries refuse.
    """
    certificates = _parsed(chain)
    for certificate in certificates:
        _check_time(certificate, now)
    own = certificates[0]
    key = own.public_key()
    usual = isinstance(key, rsa.RSAPublicKey) or (
        isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in CURVES
    )
    if not usual:
        raise Unfit(f"the certificate's key is neither RSA nor of a usual curve ({', '.join(CURVES)})")
    return own


def check_purpose(own: x509.Certificate) -> None:
    """Raise `Unfit` for a certificate that clients do not take from a server."""
    try:
        usage = own.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    except ValueError as error:
        raise Unfit("the certificate's extensions cannot be read") from error
    if FOR_SERVERS.isdisjoint(usage):
        raise Unfit("the certificate is not for servers (extended key usage serverAuth)")


def check_key(key: bytes, own: x509.Certificate) -> None:
    """Raise `Unfit` unless `key` is the private key of the certificate, in PEM and without a password."""
    try:
        private = load_pem_private_key(key, None)
    except TypeError as error:
        raise Unfit("the key is encrypted, and is to be one without a password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Unfit("no private key in PEM") from error
    if _encoded(private.public_key()) != _encoded(own.public_key()):
        raise Unfit("the key does not fit the first certificate of the chain")


def check_authorities(authorities: bytes, now: datetime) -> None:
    """Raise `Unfit` unless these are certificates in PEM, and one at least has not expired at `now`."""
    certificates = _parsed(authorities)
    if all(certificate.not_valid_after_utc < now for certificate in certificates):
        _check_time(certificates[0], now)


def _parsed(pem: bytes) -> Sequence[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise Unfit("no certificates in PEM") from error


def _check_time(certificate: x509.Certificate, now: datetime) -> None:
    name = certificate.subject.rfc4514_string()
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if end < now:
        raise Unfit(f"the certificate of {name} expired at {end.isoformat()}")
    if begin > now:
        raise Unfit(f"the certificate of {name} is not valid before {begin.isoformat()}")


def _encoded(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def a_name_of(der: bytes) -> str:
    """A name or IP address that a certificate is for; empty when it is for none."""
    try:
        names = x509.load_der_x509_certificate(der).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except x509.ExtensionNotFound:
        return ""
    return next((str(name.value) for name in names.value), "")
