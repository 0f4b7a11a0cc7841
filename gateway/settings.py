"""What can be set about the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from chassis.settings import PREFIX, ProcessSettings

HTTPS_ORIGIN = r"https://[a-z0-9.-]+(:[0-9]+)?"
LOOPBACK_ORIGIN = r"http://(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]+)?"


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
    max_body_bytes: int = Field(default=4 * 2**20, ge=1, description="Largest JSON body.")
    max_upload_bytes: int = Field(
        default=100 * 2**20, ge=1, description="Largest uploaded file; ingest has a limit of its own."
    )
    max_running_uploads: int = Field(
        default=64,
        ge=1,
        description="Uploads that run at once, each with a temporary file; one credential has half at most.",
    )
    heartbeat_seconds: float = Field(
        default=15.0, gt=0, description="Pause in an event stream after which a comment keeps it open."
    )
    health_deadline_seconds: float = Field(
        default=2.0, gt=0, description="Time for a service to say that it is serving."
    )
    slack_signing_secrets_file: Path | None = Field(
        default=None,
        description=(
            "File of the Slack app's signing secret, or of several, one a line; `/slack/commands` is then a "
            "route. See docs/slack.md."
        ),
    )
    slack_workspaces_file: Path | None = Field(
        default=None,
        description="File that says which API key the questions of a Slack workspace are asked with.",
    )
    slack_response_origins: str = Field(
        default="https://hooks.slack.com",
        pattern=rf"^({HTTPS_ORIGIN}|{LOOPBACK_ORIGIN})(,({HTTPS_ORIGIN}|{LOOPBACK_ORIGIN}))*$",
        description=(
            "Where answers to Slack may be posted, with commas between; https only, but on this machine."
        ),
    )
    slack_max_running: int = Field(
        default=16,
        ge=1,
        description=(
            "Questions from Slack that are answered at once, half of them at most for one workspace's key; "
            "more are told to wait."
        ),
    )
    slack_deadline_seconds: float = Field(
        default=240.0,
        gt=0,
        le=1500,
        description="Time for the answer to a question from Slack, which takes none after 30 minutes.",
    )

    @model_validator(mode="after")
    def _slack_files_go_together(self) -> Self:
        if (self.slack_signing_secrets_file is None) != (self.slack_workspaces_file is None):
            raise ValueError(
                f"{PREFIX}SLACK_SIGNING_SECRETS_FILE and {PREFIX}SLACK_WORKSPACES_FILE go together, and one "
                "is missing"
            )
        return self
