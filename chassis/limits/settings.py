"""What can be set about limits, in every process."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from chassis.access import Load
from chassis.limits.rate import RateLimit

MOST_A_SECOND = 1_000_000


class LimitSettings(BaseModel):
    """Those that speak of a subject count all of its credentials; each process counts what it serves."""

    model_config = ConfigDict(frozen=True)

    reads_per_second: float = Field(
        default=50.0, ge=0, le=MOST_A_SECOND, description="Short reads a second of a subject; 0: no limit."
    )
    reads_burst: int = Field(
        default=200, ge=1, le=MOST_A_SECOND, description="Short reads that may come at once after a pause."
    )
    reads_at_once: int = Field(
        default=64, ge=0, description="Short reads of a subject that run at once; 0: no limit."
    )
    writes_per_second: float = Field(
        default=20.0,
        ge=0,
        le=MOST_A_SECOND,
        description="Writes a second of a subject, uploads among them; 0: no limit.",
    )
    writes_burst: int = Field(
        default=100, ge=1, le=MOST_A_SECOND, description="Writes that may come at once after a pause."
    )
    writes_at_once: int = Field(
        default=16, ge=0, description="Writes of a subject that run at once; 0: no limit."
    )
    queries_per_second: float = Field(
        default=10.0, ge=0, le=MOST_A_SECOND, description="Queries a second of a subject; 0: no limit."
    )
    queries_burst: int = Field(
        default=50, ge=1, le=MOST_A_SECOND, description="Queries that may come at once after a pause."
    )
    queries_at_once: int = Field(
        default=64, ge=0, description="Queries of a subject that run at once; 0: no limit."
    )
    open_calls: int = Field(
        default=256,
        ge=0,
        description="Calls of a subject, streams above all, whose answer it has not taken; 0: no limit.",
    )
    max_running_calls: int = Field(
        default=1024,
        ge=1,
        description="Calls of all callers that a process works on at once; one subject has half at most.",
    )
    max_deadline_seconds: float = Field(
        default=600.0, gt=0, description="The most time that a call gets, whatever it asks, unless it writes."
    )
    upload_deadline_seconds: float = Field(
        default=3600.0,
        gt=0,
        description="The most time that a write gets, and that an upload gets which asks for none.",
    )
    client_stall_seconds: float = Field(
        default=60.0,
        gt=0,
        description="A client that takes or sends nothing for so long in the middle of a call loses it.",
    )
    max_head_bytes: int = Field(
        default=16_384,
        ge=4096,
        le=2**20,
        description="Largest head of a request: metadata of gRPC, line and headers of HTTP.",
    )
    max_message_bytes: int = Field(
        default=4 * 2**20, ge=2**20, le=2**30, description="Largest message of gRPC, either way."
    )
    max_connections: int = Field(
        default=2048, ge=1, description="Connections of a process at once; more are closed at once."
    )
    max_connection_streams: int = Field(
        default=1024, ge=1, le=2**31 - 1, description="Calls at once on one connection of gRPC."
    )

    def seconds(self, load: Load) -> float:
        """The most time that a call gets, and what it gets when it does not say."""
        return self.upload_deadline_seconds if load is Load.WRITE else self.max_deadline_seconds

    def rates(self) -> Mapping[Load, RateLimit]:
        """How often a subject may call."""
        return {
            Load.READ: RateLimit(self.reads_per_second, self.reads_burst),
            Load.WRITE: RateLimit(self.writes_per_second, self.writes_burst),
            Load.QUERY: RateLimit(self.queries_per_second, self.queries_burst),
        }

    def at_once(self) -> Mapping[Load, int]:
        """How many calls of a subject run; 0 means no limit."""
        return {
            Load.READ: self.reads_at_once,
            Load.WRITE: self.writes_at_once,
            Load.QUERY: self.queries_at_once,
        }
