"""The base of every process's settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ProcessSettings(BaseSettings):
    """Read once in `__main__` from variables that begin with `CLAUSEGATE_`, then passed on as values."""

    model_config = SettingsConfigDict(env_prefix="CLAUSEGATE_", extra="ignore", frozen=True)

    data_dir: Path = Field(
        default=Path(".data"), description="Folder below which the process keeps its files."
    )
    drain_seconds: float = Field(
        default=10.0, ge=0, le=300, description="How long running calls may go on after a stop was asked for."
    )
