"""Settings of every process that calls a model server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from chassis.settings import ProcessSettings
from inference.fetch import DEFAULT_ENCODINGS_DIR

OPENAI = "https://api.openai.com/v1"
"""Where calls go when a key is set and no address is."""


class ModelServerSettings(ProcessSettings):
    """One OpenAI-compatible endpoint for all tasks. Without key and address no model server is called."""

    # A key that is refused is not to be printed.
    model_config = SettingsConfigDict(hide_input_in_errors=True)

    openai_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="OPENAI_API_KEY",
        description="Key of the model server. Setting it, or the address, sends document text there.",
    )
    openai_base_url: str = Field(
        default="",
        validation_alias="OPENAI_BASE_URL",
        description="Address of the model server, for example http://127.0.0.1:8080/v1; empty: OpenAI's.",
    )
    model_deadline_seconds: float = Field(
        default=120.0, gt=0, le=600, description="Limit of each call of a model, repeats among it."
    )
    model_attempts: int = Field(default=3, ge=1, le=10, description="Times that one call is sent at most.")
    model_concurrency: int = Field(default=16, ge=1, le=1000, description="Calls that run at once.")
    model_queue: int = Field(
        default=1024, ge=0, le=10_000, description="Calls that may wait; more are refused at once."
    )
    tiktoken_cache_dir: Path = Field(
        default=DEFAULT_ENCODINGS_DIR,
        validation_alias="TIKTOKEN_CACHE_DIR",
        description="Folder of the encodings that count tokens, as `clausegate fetch-model` leaves it and "
        "tiktoken keeps it. A model whose encoding is not in it is estimated; nothing is fetched.",
    )
    model_text_in_spans: bool = Field(
        default=False,
        description="Whether spans hold prompts and replies, and logs a model server's words: document text.",
    )

    @field_validator("openai_api_key")
    @classmethod
    def _fits_a_header(cls, key: SecretStr) -> SecretStr:
        """Files of secrets often end with a line break, which no header may hold."""
        stripped = key.get_secret_value().strip()
        if not (stripped.isascii() and stripped.isprintable()):
            raise ValueError("it holds characters that no key has")
        return SecretStr(stripped)

    @field_validator("openai_base_url")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        """Raises `ValueError`, also for brackets and ports that are none."""
        parts = urlsplit(address)
        if address and not (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0):
            raise ValueError("it must be an address such as http://127.0.0.1:8080/v1")
        return address

    @property
    def model_host(self) -> str:
        """The host that a model server's calls go to; empty when none is named."""
        address = self.openai_base_url or OPENAI
        return urlsplit(address).hostname or "" if self.names_model_server else ""

    @property
    def names_model_server(self) -> bool:
        """Whether a model server may be called."""
        return bool(self.openai_api_key.get_secret_value() or self.openai_base_url)
