"""The base of every process's settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import SettingsConfigDict, SettingsError

from chassis.index_key import IndexKeyBroken, IndexKeys, read_index_key_file, read_index_keys
from chassis.limits.settings import LimitSettings
from chassis.token_settings import TokenSettings

PREFIX = "CLAUSEGATE_"
SETTINGS_ERRORS = (ValidationError, SettingsError)
"""What constructing settings raises."""


class ClientCertificates(StrEnum):
    """Whether callers show a certificate."""

    OFF = "off"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """What the settings name, all in PEM. A certificate and its key come together."""

    certificate: Path | None = None
    """The process's own certificate, then those that signed it. With it, TCP addresses are served by TLS."""
    key: Path | None = None
    ca: Path | None = None
    """Authorities of the certificates of those that the process calls, and of its callers. With it, services
    at TCP addresses are called by TLS."""
    client_certificates: bool = False
    """Whether callers need a certificate that an authority in `ca` signed."""


NO_TLS = TlsFiles()


class ProcessSettings(TokenSettings, LimitSettings):
    """Read once in `__main__` from variables that begin with `CLAUSEGATE_`, then passed on as values."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, allow_inf_nan=False)

    data_dir: Path = Field(
        default=Path(".data"), description="Folder below which the process keeps its files."
    )
    api_keys_file: Path | None = Field(
        default=None,
        description=(
            "File of API keys, see `clausegate keys`; callers then need one, or a token. Without both the "
            "one tenant is `default`, and only loopback addresses and Unix sockets can be bound."
        ),
    )
    index_key: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "Key of 64 hexadecimal digits by which ingest alone writes to the index, see `clausegate "
            "new-index-key`; the same for ingest and retrieval, and nobody else's. Both need one where "
            "callers need credentials."
        ),
    )
    index_key_file: Path | None = Field(
        default=None, description="File that holds it instead; the first line signs, all are accepted."
    )
    drain_seconds: float = Field(
        default=10.0, ge=0, le=300, description="How long running calls may go on after a stop was asked for."
    )

    tls_certificate_file: Path | None = Field(
        default=None,
        description=(
            "File of the process's certificate and of those that signed it, in PEM. TCP addresses are then "
            "served by TLS only; services that ask for a certificate are shown it."
        ),
    )
    tls_key_file: Path | None = Field(
        default=None, description="File of the certificate's private key, in PEM, without a password."
    )
    tls_ca_file: Path | None = Field(
        default=None,
        description=(
            "File of the authorities, in PEM, whose certificates are trusted. Services at TCP addresses are "
            "then called by TLS only."
        ),
    )
    tls_client_certificates: ClientCertificates = Field(
        default=ClientCertificates.OFF,
        description=(
            "`required`: who connects by TCP shows a certificate that an authority of the file signed. It "
            "does not replace a credential."
        ),
    )

    @field_validator("*", mode="before")
    @classmethod
    def _files_have_names(cls, value: object, info: ValidationInfo) -> object:
        """An empty one, as from an unset variable of a shell, would be the working folder."""
        named = cls.model_fields[info.field_name or ""].annotation in (Path, Path | None)
        if named and value == "":
            raise ValueError("is empty; name a file or folder, or leave the setting out")
        return value

    @model_validator(mode="after")
    def _tls_files_go_together(self) -> Self:
        if (self.tls_certificate_file is None) != (self.tls_key_file is None):
            raise ValueError(
                f"{PREFIX}TLS_CERTIFICATE_FILE and {PREFIX}TLS_KEY_FILE go together, and one is missing"
            )
        if self.tls_client_certificates is ClientCertificates.REQUIRED and not (
            self.tls_certificate_file and self.tls_ca_file
        ):
            raise ValueError(
                f"{PREFIX}TLS_CLIENT_CERTIFICATES=required needs {PREFIX}TLS_CERTIFICATE_FILE and "
                f"{PREFIX}TLS_CA_FILE"
            )
        return self

    def index_keys(self) -> IndexKeys | None:
        """What the settings name; None for nothing. Raises `IndexKeyBroken`."""
        if self.index_key_file is not None:
            return read_index_key_file(self.index_key_file)
        key = self.index_key.get_secret_value()
        return read_index_keys(key, f"{PREFIX}INDEX_KEY") if key else None

    def required_index_keys(self) -> IndexKeys | None:
        """The same for a service that writes to the index, or keeps it. Raises `IndexKeyBroken` without one
        where callers need credentials: theirs would open the index past ingest, or nobody's.
        """
        keys = self.index_keys()
        if keys is None and (self.api_keys_file or self.jwt_issuer):
            raise IndexKeyBroken(
                f"{PREFIX}INDEX_KEY_FILE is missing: callers need credentials, so ingest and retrieval need "
                "a key that they share; `clausegate new-index-key` makes one"
            )
        return keys

    def tls_files(self) -> TlsFiles:
        """What the settings name."""
        return TlsFiles(
            self.tls_certificate_file,
            self.tls_key_file,
            self.tls_ca_file,
            self.tls_client_certificates is ClientCertificates.REQUIRED,
        )


def settings_problem(error: ValidationError | SettingsError) -> str:
    """What is wrong with which settings, on one line, without their values: some are secrets."""
    if isinstance(error, SettingsError):
        return f"settings: {error}"
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return f"settings: {'; '.join(_said(problem['loc'], problem['msg']) for problem in found)}"


def _said(location: tuple[int | str, ...], message: str) -> str:
    """One error; what is wrong with several settings together has no location."""
    message = message.removeprefix("Value error, ")
    if not location:
        return message
    name = str(location[0])
    variable = name if name.isupper() else f"{PREFIX}{name.upper()}"
    return f"{'.'.join([variable, *map(str, location[1:])])}: {message}"
