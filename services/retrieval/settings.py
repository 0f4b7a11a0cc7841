"""Settings of the retrieval process."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from inference.settings import ModelServerSettings

LOCAL_MODEL = "all-MiniLM-L6-v2"
"""The embedding model that runs in this process."""


class RetrievalSettings(ModelServerSettings):
    """Variables that begin with `CLAUSEGATE_`."""

    retrieval_address: str = Field(default="127.0.0.1:7002", description="Where the service listens.")
    model_dir: Path = Field(
        default=Path(".data/model"),
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
        default=3072,
        ge=1,
        le=16_384,
        description="Numbers in a vector of the model server's; text-embedding-3 gives what is asked for.",
    )
    embedding_threads: int = Field(
        default=0, ge=0, le=256, description="Threads that embed passages; 0 means one for each core."
    )

    record_model_calls: Path | None = Field(
        default=None,
        description="File to record a model server's vectors of questions to; each process has its own.",
    )
    replay_model_calls: Path | None = Field(
        default=None, description="File to replay them from; no model server is called."
    )

    @model_validator(mode="after")
    def _can_embed(self) -> RetrievalSettings:
        served = self.embedding_model != LOCAL_MODEL and not self.replay_model_calls
        if served and not self.names_model_server:
            raise ValueError(
                f"the embedding model {self.embedding_model} needs a model server: set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL for a compatible one"
            )
        return self
