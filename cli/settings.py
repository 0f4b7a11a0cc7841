"""What a command takes from the environment besides its options: secrets, since options can be seen."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.settings import PREFIX


class CommandSettings(BaseSettings):
    """Read from variables that begin with `CLAUSEGATE_`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    api_key: SecretStr = Field(
        default=SecretStr(""), description="API key that commands present to the gateway of `--server`."
    )
