"""Settings of the retrieval process."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from inference.fetch import DEFAULT_MODEL_DIR, LOCAL_MODEL
from inference.settings import ModelServerSettings

DIMENSIONS = {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536, "text-embedding-ada-002": 1536}
"""Numbers in a vector of OpenAI's embedding models, as its documentation tells them."""


class RetrievalSettings(ModelServerSettings):
    """Variables that begin with `CLAUSEGATE_`."""

    retrieval_address: str = Field(default="127.0.0.1:7002", description="Where the service listens.")
    model_dir: Path = Field(
        default=DEFAULT_MODEL_DIR,
        description="Folder of the local embedding model, as `clausegate fetch-model` leaves it, or one that "
        "holds config.json, tokenizer.json and model.safetensors.",
    )
    embedding_model: str = Field(
        default=LOCAL_MODEL,
        min_length=1,
        description=f"Model that embeds texts: {LOCAL_MODEL} runs here; any other is the model server's, "
        "which then gets all text. An index keeps the model that it was made with.",
    )
    embedding_dimension: int = Field(
        default=0,
        ge=0,
        le=16_384,
        description="Numbers in a vector of the model server's. 0 means all that OpenAI's embedding models "
        "give; another model needs it said, and text-embedding-3 gives fewer if asked to.",
    )
    embedding_threads: int = Field(
        default=0, ge=0, le=256, description="Threads that embed passages; 0 means one for each core."
    )

    restricted_indexes: int = Field(
        default=16,
        ge=1,
        le=10_000,
        description="Sets of sources that credentials are restricted to, of which an overview is kept in "
        "memory: about 18 MiB each at 10,000 chunks. One more takes the place of the least recently used.",
    )

    store: Literal["embedded", "weaviate"] = Field(
        default="embedded", description="What keeps the index: files below the data folder, or Weaviate."
    )
    weaviate_url: str = Field(
        default="http://127.0.0.1:8080",
        pattern=r"^https?://[^/?#@\s]+$",
        description="Weaviate's REST address, scheme and host, with a port unless it is the scheme's.",
    )
    weaviate_grpc_url: str = Field(
        default="http://127.0.0.1:50051",
        pattern=r"^https?://[^/?#@\s]+:[0-9]+$",
        description="Weaviate's gRPC address, with a port; https for TLS.",
    )
    weaviate_api_key: SecretStr = Field(default=SecretStr(""), description="Weaviate's key; empty: none.")
    weaviate_api_key_file: Path | None = Field(
        default=None, description="File that holds it instead, as secrets are mounted."
    )
    weaviate_prefix: str = Field(
        default="Clausegate",
        pattern=r"^[A-Z][A-Za-z0-9]{0,31}$",
        description="What the names of its collections begin with; one index for each prefix.",
    )
    weaviate_replicas: int = Field(
        default=1, ge=1, le=9, description="Copies of every new collection: 3 on three nodes or more."
    )
    weaviate_quantization: Literal["rq8", "none"] = Field(
        default="rq8",
        description="How a new collection keeps vectors in memory: a byte a number (rq8), or four (none).",
    )
    weaviate_read_seconds: float = Field(
        default=10.0, gt=0, le=300, description="Limit of each read from Weaviate."
    )
    weaviate_write_seconds: float = Field(
        default=30.0, gt=0, le=300, description="Limit of each write to Weaviate."
    )

    record_model_calls: Path | None = Field(
        default=None,
        description="File to record a model server's vectors of questions to; each process has its own.",
    )
    replay_model_calls: Path | None = Field(
        default=None, description="File to replay them from; no model server is called."
    )

    @field_validator("weaviate_url", "weaviate_grpc_url")
    @classmethod
    def _names_host_and_port(cls, url: str) -> str:
        parts = urlsplit(url)
        if not parts.hostname or parts.port == 0:  # a port that is none raises by itself
            raise ValueError("must name a host, and a port from 1 to 65535 if any")
        return url

    @field_validator("weaviate_api_key")
    @classmethod
    def _can_be_sent(cls, key: SecretStr) -> SecretStr:
        stripped = key.get_secret_value().strip()
        if not (stripped.isascii() and stripped.isprintable()):
            raise ValueError("must be printable ASCII")
        return SecretStr(stripped)

    def dimension(self) -> int:
        """Numbers in a vector of the served model: those that are set, else all that it gives."""
        return self.embedding_dimension or DIMENSIONS[self.embedding_model]

    def weaviate_key(self) -> str:
        """Weaviate's key, from its file or setting; empty for none. Raises `OSError` for a file without."""
        path = self.weaviate_api_key_file
        if path is None:
            return self.weaviate_api_key.get_secret_value()
        try:
            key = path.read_bytes().decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not a key"
            raise OSError(f"CLAUSEGATE_WEAVIATE_API_KEY_FILE cannot be read: {path}: {why}") from error
        if not key:
            raise OSError(f"CLAUSEGATE_WEAVIATE_API_KEY_FILE holds no key: {path}")
        return key

    @model_validator(mode="after")
    def _can_embed(self) -> RetrievalSettings:
        served = self.embedding_model != LOCAL_MODEL and not self.replay_model_calls
        if served and not self.names_model_server:
            raise ValueError(
                f"the embedding model {self.embedding_model} needs a model server: set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL for a compatible one"
            )
        if not self.embedding_dimension and self.embedding_model not in (LOCAL_MODEL, *DIMENSIONS):
            raise ValueError(
                f"how many numbers a vector of {self.embedding_model} has is not known here: set "
                "CLAUSEGATE_EMBEDDING_DIMENSION"
            )
        return self
