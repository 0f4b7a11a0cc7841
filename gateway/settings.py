"""What can be set about the gateway."""

from __future__ import annotations

from pydantic import Field

from chassis.settings import ProcessSettings


class GatewaySettings(ProcessSettings):
    """Read from variables that begin with `CLAUSEGATE_`."""

    gateway_address: str = Field(
        default="127.0.0.1:8000",
        description="Where to serve HTTP: `host:port` (port 0: any free one) or `unix:path`.",
    )
    ingest_address: str = Field(default="127.0.0.1:7001", description="The ingest service.")
    retrieval_address: str = Field(default="127.0.0.1:7002", description="The retrieval service.")
    answer_address: str = Field(default="127.0.0.1:7003", description="The answer service.")
    request_deadline_seconds: float = Field(
        default=240.0,
        gt=0,
        description="Time for a request that does not say `X-Request-Timeout`: two calls of a model.",
    )
    max_deadline_seconds: float = Field(
        default=600.0,
        gt=0,
        description="The most that `X-Request-Timeout` can ask for, unless a file is ingested.",
    )
    upload_deadline_seconds: float = Field(
        default=3600.0,
        gt=0,
        description="Time for ingesting a file, uploaded or archived, and the most that can be asked for.",
    )
    max_body_bytes: int = Field(default=4 * 2**20, ge=1, description="Largest JSON body.")
    max_upload_bytes: int = Field(
        default=100 * 2**20, ge=1, description="Largest uploaded file; ingest has a limit of its own."
    )
    max_running_requests: int = Field(
        default=256, ge=1, description="Requests that run at once; more are answered 429."
    )
    heartbeat_seconds: float = Field(
        default=15.0, gt=0, description="Pause in an event stream after which a comment keeps it open."
    )
    health_deadline_seconds: float = Field(
        default=2.0, gt=0, description="Time for a service to say that it is serving."
    )
