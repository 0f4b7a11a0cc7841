"""Settings of the retrieval process."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from inference.settings import ModelServerSettings


class RetrievalSettings(ModelServerSettings):
    """Variables that begin with `CLAUSEGATE_`."""

    retrieval_address: str = Field(default="127.0.0.1:7002", description="Where the service listens.")
    model_dir: Path = Field(
        default=Path(".data/model"),
        description="Folder of the local embedding model, as `clausegate fetch-model` leaves it, or one that "
        "holds config.json, tokenizer.json and model.safetensors.",
    )
    embedding_threads: int = Field(
        default=0, ge=0, le=256, description="Threads that embed passages; 0 means one for each core."
    )
