"""What a command takes from the environment besides its options: secrets, since options can be seen, and what
is the same for every command."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.settings import PREFIX


class CommandSettings(BaseSettings):
    """Read from variables that begin with `CLAUSEGATE_`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    credential: SecretStr = Field(
        default=SecretStr(""),
        description="API key or token (JWT) that commands present to the services of `--server`.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="File of the authorities, in PEM, that commands trust instead of the public ones.",
    )
    client_certificate_file: Path | None = Field(
        default=None, description="File of the certificate, in PEM, that commands show to who asks for one."
    )
    client_key_file: Path | None = Field(
        default=None, description="File of its private key, in PEM, without a password."
    )
