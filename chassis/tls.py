"""TLS by settings: what a process shows to others and whom it trusts, as its files stand now."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc

from chassis.errors import CannotStart
from chassis.settings import NO_TLS, TlsFiles
from chassis.watched_file import Version, read_regular, version_of

logger = logging.getLogger(__name__)

CERTIFICATE = "CLAUSEGATE_TLS_CERTIFICATE_FILE"
KEY = "CLAUSEGATE_TLS_KEY_FILE"
CA = "CLAUSEGATE_TLS_CA_FILE"


class TlsBroken(CannotStart):
    """A file of certificates or keys cannot be used; the message names the setting and the file."""

    @property
    def may_pass(self) -> bool:
        """Whether it may be over while the file stays as it is, such as a want of descriptors."""
        return isinstance(self.__cause__, OSError) and not isinstance(self.__cause__, ssl.SSLError)


_State = tuple[Version | None, ...]


@dataclass(frozen=True, slots=True)
class Pem:
    """The contents of the files, which fit each other; None where none is named."""

    chain: bytes | None
    key: bytes | None
    ca: bytes | None


class Tls:
    """The files of the settings. A new version is taken once it fits; until then the last one goes on."""

    def __init__(
        self, files: TlsFiles, *, serves: bool, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """For serving, or for calling only. Raises `TlsBroken`."""
        self.files = files
        self._serves = serves
        self._now = now
        self._lock = threading.Lock()  # gRPC asks from threads of its own
        self._seen = self._state()
        self._failed: tuple[_State, str] | None = None
        self._pem = self._read()

    def pem(self) -> Pem:
        """The files as they stand, the same object for as long as they do. Looking costs microseconds."""
        with self._lock:
            state = self._state()
            if state != self._seen:
                self._reread(state)
            return self._pem

    def _reread(self, state: _State) -> None:
        try:
            self._pem = self._read()
        except TlsBroken as error:
            if not error.may_pass:
                self._seen = state
            if (state, str(error)) != self._failed:
                self._failed = state, str(error)
                logger.error(
                    "certificates cannot be read again; those read before go on", extra={"error": str(error)}
                )
        else:
            self._seen = state
            logger.info("certificates read again")

    def _state(self) -> _State:
        named = (self.files.certificate, self.files.key, self.files.ca)
        return tuple(None if file is None else version_of(file) for file in named)

    def _read(self) -> Pem:
        files, now = self.files, self._now()
        if files == NO_TLS:
            return Pem(None, None, None)
        # Not at the top: cryptography takes 9 MB and 30 ms, for nothing where there is no TLS.
        from chassis.certificates import check_authorities, check_chain, check_key, check_purpose

        with _naming(CA, files.ca):
            ca = read_regular(files.ca) if files.ca else None
            if ca is not None:
                check_authorities(ca, now)
        with _naming(CERTIFICATE, files.certificate):
            chain = read_regular(files.certificate) if files.certificate else None
            own = None if chain is None else check_chain(chain, now)
            if own is not None and self._serves:
                check_purpose(own)
        with _naming(KEY, files.key):
            key = read_regular(files.key) if files.key else None
            if key is not None and own is not None:
                check_key(key, own)
        return Pem(chain, key, ca)


@contextmanager
def _naming(setting: str, file: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # ssl's among them, which a key of too few bits is one of
        raise TlsBroken(f"{setting}: {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise TlsBroken(f"{setting}: {file}: {error}") from error


def server_credentials(tls: Tls) -> grpc.ServerCredentials:
    """For a gRPC server's port: every connection gets the certificate of its moment. At least TLS 1.2."""
    required = tls.files.client_certificates
    given = tls.pem()

    def fetched() -> grpc.ServerCertificateConfiguration | None:
        nonlocal given
        pem = tls.pem()
        if pem is given:
            return None
        given = pem
        return _configuration(pem, required)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(given, required),
        fetched,  # type: ignore[arg-type]  # None is for no change, which the stubs do not know
        required,
    )


def _configuration(pem: Pem, required: bool) -> grpc.ServerCertificateConfiguration:
    assert pem.key is not None and pem.chain is not None  # noqa: PT018
    return grpc.ssl_server_certificate_configuration([(pem.key, pem.chain)], pem.ca if required else None)


def channel_credentials(pem: Pem) -> grpc.ChannelCredentials:
    """For a channel: whom it trusts, and the process's certificate for who asks for one."""
    return grpc.ssl_channel_credentials(pem.ca, pem.key, pem.chain)


def server_context(tls: Tls) -> ssl.SSLContext:
    """For an asyncio server: every connection gets the certificate of its moment. At least TLS 1.2.

    Raises `TlsBroken`.
    """
    context = _Latest(ssl.PROTOCOL_TLS_SERVER)
    context.follow(tls)
    return context


class _Latest(ssl.SSLContext):
    """Makes each connection in a context of the files as they stand."""

    def follow(self, tls: Tls) -> None:
        self._tls = tls
        self._pem, self._context = tls.pem(), _context(tls.files)

    def wrap_bio(self, *arguments: object, **named: object) -> ssl.SSLObject:
        """What asyncio asks for when a connection begins."""
        pem = self._tls.pem()
        if pem is not self._pem:
            with suppress(TlsBroken):  # replaced once more since it was read; the next connection looks again
                self._context, self._pem = _context(self._tls.files), pem
        return self._context.wrap_bio(*arguments, **named)  # type: ignore[arg-type]


def _context(files: TlsFiles) -> ssl.SSLContext:
    assert files.certificate is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with _naming(CERTIFICATE, files.certificate):
        context.load_cert_chain(files.certificate, files.key)
    if files.client_certificates:
        context.verify_mode = ssl.CERT_REQUIRED
        with _naming(CA, files.ca):
            context.load_verify_locations(files.ca)
    return context
