"""The settings of the answer process."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from chassis.settings import ProcessSettings
from services.answer.audit import QueryText
from services.answer.budget import BudgetLimits
from services.answer.gate import GateLimits
from services.answer.querying import Policy


class AnswerSettings(ProcessSettings):
    """Read from variables that begin with `CLAUSEGATE_`."""

    answer_address: str = Field(
        default="127.0.0.1:7003", description="Where this service listens: host:port or unix:path."
    )
    retrieval_address: str = Field(
        default="127.0.0.1:7002", description="Where the retrieval service listens: host:port or unix:path."
    )
    retrieval_deadline_seconds: float = Field(
        default=10.0, gt=0, le=300, description="Limit of each call to retrieval."
    )
    tiktoken_cache_dir: Path | None = Field(
        default=None,
        validation_alias="TIKTOKEN_CACHE_DIR",
        description="tiktoken's cache folder; without o200k_base in it tokens are estimated, never fetched.",
    )
    gate_threshold: float = Field(
        default=0.20, ge=-1, le=2, description="Evidence that local grading asks of a chunk."
    )
    gate_min_chunks: int = Field(default=1, ge=1, le=100, description="Chunks that must reach the threshold.")
    retrieval_min_score: float = Field(
        default=0.05, ge=0, description="Without grading: the best raw score must be above this."
    )
    retrieval_min_ratio: float = Field(
        default=1.2, ge=1, description="Without grading: best raw score divided by the second best, at least."
    )
    raw_gate_uses_bm25: bool = Field(
        default=False, description="Without grading: gate on raw BM25 instead of raw cosine."
    )
    pool_chunks: int = Field(default=12, ge=1, le=100, description="Candidates that are graded.")
    vector_k: int = Field(default=10, ge=1, le=200, description="Hits of the vector leg.")
    keyword_k: int = Field(default=10, ge=1, le=200, description="Hits of the keyword leg.")
    keep_ratio: float = Field(
        default=0.8, ge=0, le=1, description="Chunks scoring at least this share of the best are kept."
    )
    keep_chunks: int = Field(default=5, ge=1, le=20, description="Chunks kept at most.")
    definition_depth: int = Field(
        default=2, ge=1, le=5, description="How far terms used in definitions are followed."
    )
    budget_total_tokens: int = Field(default=60_000, ge=1, description="Tokens of one answer, all in.")
    budget_answer_tokens: int = Field(default=2_048, ge=0, description="Tokens reserved for the answer.")
    budget_chunk_tokens: int = Field(default=57_300, ge=0, description="Tokens that chunks may take.")
    audit_query_text: QueryText = Field(
        default=QueryText.PLAIN, description="How questions are recorded: plain, hash or omit."
    )
    log_queries: bool = Field(default=False, description="Whether audit records are logged as well.")

    def policy(self) -> Policy:
        """The part that shapes answers."""
        return Policy(
            gate=GateLimits(
                threshold=self.gate_threshold,
                min_chunks=self.gate_min_chunks,
                min_score=self.retrieval_min_score,
                min_ratio=self.retrieval_min_ratio,
            ),
            budget=BudgetLimits(
                total_tokens=self.budget_total_tokens,
                answer_tokens=self.budget_answer_tokens,
                chunk_tokens=self.budget_chunk_tokens,
            ),
            pool=self.pool_chunks,
            vector_k=self.vector_k,
            keyword_k=self.keyword_k,
            keep_ratio=self.keep_ratio,
            keep_at_most=self.keep_chunks,
            raw_gate_uses_bm25=self.raw_gate_uses_bm25,
            definition_depth=self.definition_depth,
        )
