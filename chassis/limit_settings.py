"""What can be set about limits, in every process."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from chassis.access import Load
from chassis.bounds import Bounds
from chassis.limits import Law, LimitLaws

MOST_A_SECOND = 1_000_000


class LimitSettings(BaseSettings):
    """Those that speak of a subject count all of its credentials; each process counts what it serves."""

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

    def bounds(self) -> Bounds:
        """Them all."""
        return Bounds(
            laws=self._laws(),
            seconds={
                Load.READ: self.max_deadline_seconds,
                Load.QUERY: self.max_deadline_seconds,
                Load.WRITE: self.upload_deadline_seconds,
            },
            stall_seconds=self.client_stall_seconds,
            head_bytes=self.max_head_bytes,
            message_bytes=self.max_message_bytes,
            connections=self.max_connections,
            streams=self.max_connection_streams,
        )

    def _laws(self) -> LimitLaws:
        return LimitLaws(
            of_load={
                Load.READ: Law(self.reads_per_second, self.reads_burst, self.reads_at_once),
                Load.WRITE: Law(self.writes_per_second, self.writes_burst, self.writes_at_once),
                Load.QUERY: Law(self.queries_per_second, self.queries_burst, self.queries_at_once),
            },
            open=self.open_calls,
            running=self.max_running_calls,
        )
