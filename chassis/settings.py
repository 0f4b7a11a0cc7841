"""The base of every process's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

PREFIX = "CLAUSEGATE_"
SETTINGS_ERRORS = (ValidationError, SettingsError)
"""What constructing settings raises."""


class ProcessSettings(BaseSettings):
    """Read once in `__main__` from variables that begin with `CLAUSEGATE_`, then passed on as values."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, allow_inf_nan=False)

    data_dir: Path = Field(
        default=Path(".data"), description="Folder below which the process keeps its files."
    )
    api_keys_file: Path | None = Field(
        default=None,
        description=(
            "File of API keys, see `clausegate keys`; callers then need one. Without it the one tenant is "
            "`default`, and only loopback addresses and Unix sockets can be bound."
        ),
    )
    drain_seconds: float = Field(
        default=10.0, ge=0, le=300, description="How long running calls may go on after a stop was asked for."
    )


def settings_problem(error: ValidationError | SettingsError) -> str:
    """What is wrong with which settings, on one line, without their values: some are secrets."""
    if isinstance(error, SettingsError):
        return f"settings: {error}"
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return f"settings: {'; '.join(_said(each['loc'], each['msg']) for each in found)}"


def _said(location: tuple[int | str, ...], message: str) -> str:
    """One error; what is wrong with several settings together has no location."""
    message = message.removeprefix("Value error, ")
    if not location:
        return message
    name = str(location[0])
    variable = name if name.isupper() else f"{PREFIX}{name.upper()}"
    return f"{'.'.join([variable, *map(str, location[1:])])}: {message}"
