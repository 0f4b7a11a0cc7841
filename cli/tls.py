"""How commands call a gateway by TLS: whom they trust, what they show, and what is said when it fails."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx

from cli.errors import CommandError
from cli.settings import CommandSettings

CA = "CLAUSEGATE_CA_FILE"
CERTIFICATE = "CLAUSEGATE_CLIENT_CERTIFICATE_FILE"
KEY = "CLAUSEGATE_CLIENT_KEY_FILE"

ADVICE = {
    "CERTIFICATE_REQUIRED": f"it asks for a client certificate: set {CERTIFICATE} and {KEY}",
    "UNKNOWN_CA": f"it does not trust the certificate in {CERTIFICATE}",
    "ALERT_CERTIFICATE_EXPIRED": f"the certificate in {CERTIFICATE} has expired",
    "WRONG_VERSION_NUMBER": "it does not speak TLS: try http:// in place of https://",
}
"""What is the matter, by a part of OpenSSL's name for it."""
BROKEN_OFF = "The connection broke off. "
NO_TLS = "It may speak TLS only: try https:// in place of http://."
NO_CERTIFICATE = f"It may ask for a client certificate that it trusts: see {CERTIFICATE}."


def tls_context(settings: CommandSettings) -> ssl.SSLContext:
    """What https:// is called with. Without settings the public authorities are trusted.

    Raises `CommandError`.
    """
    ca, certificate, key = settings.ca_file, settings.client_certificate_file, settings.client_key_file
    if (certificate is None) != (key is None):
        raise CommandError(f"{CERTIFICATE} and {KEY} go together, and one is missing")
    try:
        context = httpx.create_ssl_context() if ca is None else ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise _unusable(CA, ca, error) from error
    if certificate is not None:
        try:
            # OpenSSL asks the terminal for a password unless there is one: an empty one opens nothing.
            context.load_cert_chain(certificate, key, password="")
        except OSError as error:
            raise _unusable(f"{CERTIFICATE} and {KEY}", certificate, error) from error
    return context


def _unusable(setting: str, file: Path | None, error: OSError) -> CommandError:
    reason = error.reason if isinstance(error, ssl.SSLError) and error.reason else error.strerror
    return CommandError(f"{setting}: {file}: {reason or 'no certificates in PEM'}")


def advice(error: httpx.TransportError) -> str:
    """What may be done about a connection that failed; empty when TLS is hardly the matter."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message}); {CA} names whom to trust"
    if _broken_off(error):
        # So TLS 1.3 refuses who shows no certificate, or one that is not trusted, and who speaks no TLS.
        return BROKEN_OFF + (NO_TLS if error.request.url.scheme == "http" else NO_CERTIFICATE)
    return next((said for name, said in ADVICE.items() if name in str(error)), "")


def _broken_off(error: httpx.TransportError) -> bool:
    """Whether the other side went without a word, as far as can be told."""
    silent = isinstance(error, httpx.ReadError) and not str(error)
    return silent or "disconnected without sending a response" in str(error)
