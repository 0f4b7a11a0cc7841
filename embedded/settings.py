"""What can be set about the embedded stack; the settings of the services in it apply too."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from chassis.settings import ProcessSettings


class EmbeddedSettings(ProcessSettings):
    """Read from variables that begin with `CLAUSEGATE_`."""

    address: str = Field(
        default="127.0.0.1:7000",
        pattern=r"^(unix:.+|.+:[1-9][0-9]*)$",
        description="Where all services are served by gRPC: `host:port` or `unix:path`.",
    )
    gateway_address: str = Field(
        default="127.0.0.1:8000",
        description="Where REST is served: `host:port` or `unix:path`; empty for no REST.",
    )
    keep_traces: bool = Field(
        default=True,
        description="Whether the latest traces are kept in logs/traces.jsonl, for `clausegate trace`.",
    )
    log_queries: bool = Field(default=False, description="Whether audit records are logged as well.")
    record_model_calls: Path | None = Field(
        default=None,
        description="File to record model calls, times and ids to, for replaying; holds document text.",
    )
    replay_model_calls: Path | None = Field(
        default=None, description="File to replay them from; no model server is called."
    )
