"""The settings of the answer process."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, model_validator

from inference.settings import ModelServerSettings
from services.answer.contracts.completion import DEFAULT_DOMAIN, Strategy, TaskModel
from services.answer.evidence.budget import BudgetLimits
from services.answer.evidence.gate import GateLimits
from services.answer.evidence.grading import Grading
from services.answer.evidence.policy import Policy, SnippetLimits
from services.answer.records.texts import TextMode
from services.answer.records.usage import Price

LIST_PRICES = {
    "gpt-4.1": Price(input=2.00, output=8.00),
    "gpt-4.1-mini": Price(input=0.40, output=1.60),
    "gpt-4.1-nano": Price(input=0.10, output=0.40),
    "gpt-4o": Price(input=2.50, output=10.00),
    "gpt-4o-mini": Price(input=0.15, output=0.60),
}
"""OpenAI's list prices of 2025, in US dollars for a million tokens."""

GRADE_TOKENS = 48
"""Tokens of a reply for each candidate: two halves, `{"chunk": "c12a", "grade": 3}` on lines of their own."""


PACKAGED_READER = Path(__file__).resolve().parents[2] / "models" / "reader"
"""The folder of our own reader, beside the packages."""


class AnswerSettings(ModelServerSettings):
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
    retrieval_calls_at_once: int = Field(
        default=32,
        ge=1,
        le=10_000,
        description="Calls to retrieval that run at once; more wait for their turn.",
    )
    reader: str = Field(
        default="on",
        min_length=1,
        description="The reader, which reads the best passages where no chat model grades: on, off, or a "
        "folder with another one. On without its files: off, and the log says so.",
    )
    reader_threads: int = Field(
        default=0, ge=0, le=256, description="Threads that read passages; 0 means one for each core."
    )
    reader_deadline_seconds: float = Field(
        default=10.0,
        gt=0,
        le=600,
        description="Longest reading of a question, its waiting among it; then it is graded without.",
    )
    gate_threshold: float | None = Field(
        default=None,
        ge=-1,
        le=2,
        description="Evidence that local grading asks of a chunk. Unset: as calibrated.",
    )
    answer_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Without a chat model: what is less probable than this is only possibly related. "
        "Unset: as calibrated.",
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
        default=0.7, ge=0, le=1, description="Chunks scoring at least this share of the best are kept."
    )
    keep_chunks: int = Field(default=5, ge=1, le=20, description="Chunks kept at most.")
    definition_depth: int = Field(
        default=2, ge=1, le=5, description="How far terms used in definitions are followed."
    )
    budget_total_tokens: int = Field(default=60_000, ge=1, description="Tokens of one answer, all in.")
    budget_answer_tokens: int = Field(default=2_048, ge=0, description="Tokens reserved for the answer.")
    budget_chunk_tokens: int = Field(default=57_300, ge=0, description="Tokens that chunks may take.")
    audit_query_text: TextMode = Field(
        default=TextMode.PLAIN, description="How words of callers are recorded: plain, hash or omit."
    )
    audit_answer_text: TextMode = Field(
        default=TextMode.PLAIN,
        description="How answers are recorded: plain, hash or omit; never more openly than questions.",
    )
    audit_keys_file: Path | None = Field(
        default=None,
        description="Keys that seal audit records, as in the file of signing keys; none: the signing keys.",
    )
    audit_files: int = Field(
        default=10, ge=2, le=1_000, description="Files of audit records that are kept, of 50 MB each."
    )
    audit_retention_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="Days after which audit and debug records go, by whole files; 0 for never by age.",
    )
    log_queries: bool = Field(default=False, description="Whether audit records are logged as well.")

    answer_model: str = Field(default="gpt-4.1", description="Chat model that writes answers.")
    grade_model: str = Field(default="gpt-4.1-mini", description="Chat model that grades candidates.")
    snippets_model: str = Field(default="gpt-4o", description="Chat model that extracts snippets.")
    article_model: str = Field(default="gpt-4.1", description="Chat model that compiles articles.")
    queries_model: str = Field(default="gpt-4.1", description="Chat model that generates queries.")
    rewrite_model: str = Field(default="gpt-4.1", description="Chat model that rewrites texts.")
    domain: str = Field(
        default=DEFAULT_DOMAIN,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$",
        description="What the documents are about, put into prompts: a few words in one line.",
    )
    fallback_model: str = Field(
        default="", description="Chat model asked when a task's own fails its contract twice; empty for none."
    )
    json_strategy: Strategy = Field(
        default=Strategy.JSON_OBJECT,
        description="How models are made to return JSON: prompt, json_object or json_schema.",
    )
    json_strategies: dict[str, Strategy] = Field(
        default={}, description="The same for single models, as JSON: model to strategy."
    )
    prices: dict[str, Price] = Field(
        default=LIST_PRICES,
        description="US dollars for a million tokens, as JSON: model to input and output; replaces the list.",
    )
    grading: Grading = Field(
        default=Grading.BATCH,
        description="How a chat model grades: batch (one call), each (a call per candidate), or local (not).",
    )
    relevance_threshold: int = Field(
        default=2, ge=1, le=3, description="Grade that a chat model's grading asks of a chunk."
    )
    summary: bool = Field(
        default=True,
        description="Whether a chat model may put the answer in short above its quotes: on or off. "
        "Without effect where there is no model.",
    )
    snippets_min_chunks: int = Field(
        default=5, ge=1, le=100, description="Chunks that a model is shown for snippets, whatever they take."
    )
    snippets_max_chunks: int = Field(
        default=8,
        ge=1,
        le=100,
        description="Chunks that it is shown at most, if more than the least fit.",
    )
    snippets_chunk_tokens: int = Field(
        default=3_000, ge=0, description="Tokens within which more than the least are shown."
    )
    snippets_reply_tokens: int = Field(
        default=4_096, ge=1, description="Tokens of a model's reply with snippets at most."
    )
    snippets_cache_seconds: float = Field(
        default=900.0, ge=0, description="How long results of research queries are kept; 0 for not at all."
    )
    category_hints: Path | None = Field(
        default=None, description="File of hints by category for generating queries; none: the packaged one."
    )
    signing_keys_file: Path | None = Field(
        default=None,
        description="Keys that sign citations, a line each: id, colon, 64 hex digits; the first one signs.",
    )
    record_model_calls: Path | None = Field(
        default=None,
        description="File to record model calls, times and ids to, for replaying; holds document text.",
    )
    replay_model_calls: Path | None = Field(
        default=None, description="File to replay them from; no model server is called."
    )

    @model_validator(mode="after")
    def _records_or_replays(self) -> AnswerSettings:
        if self.record_model_calls and self.replay_model_calls:
            raise ValueError("model calls are either recorded or replayed: unset one of the two files")
        if self.record_model_calls and not self.names_model_server:
            raise ValueError("there are no model calls to record: set OPENAI_API_KEY or OPENAI_BASE_URL")
        return self

    def reader_folder(self) -> Path | None:
        """Where the files of the reader are; None when there is to be none."""
        if self.reader == "on":
            return PACKAGED_READER if (PACKAGED_READER / "reader.json").is_file() else None
        return None if self.reader == "off" else Path(self.reader)

    def audit_retention(self) -> timedelta | None:
        """How long records are kept; None without a limit."""
        return timedelta(days=self.audit_retention_days) if self.audit_retention_days else None

    def task_models(self) -> dict[str, TaskModel]:
        """The model of each contract, by the contract's name."""
        return {
            "answer": self._task(self.answer_model, self.budget_answer_tokens),
            "grade": self._task(self.grade_model, 256 + GRADE_TOKENS * self.pool_chunks),
            "snippets": self._task(self.snippets_model, self.snippets_reply_tokens),
            "article": self._task(self.article_model, 8192),
            "queries": self._task(self.queries_model, 2048),
            "rewrite": self._task(self.rewrite_model, 8192),
        }

    def _task(self, model: str, max_tokens: int) -> TaskModel:
        strategy = self.json_strategies.get(model, self.json_strategy)
        return TaskModel(model, strategy, max_tokens, self.fallback_model, self.domain)

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
            answered_from=self.answer_threshold,
            pool=self.pool_chunks,
            vector_k=self.vector_k,
            keyword_k=self.keyword_k,
            keep_ratio=self.keep_ratio,
            keep_at_most=self.keep_chunks,
            raw_gate_uses_bm25=self.raw_gate_uses_bm25,
            definition_depth=self.definition_depth,
            grading=self.grading,
            domain=self.domain,
            relevance_threshold=self.relevance_threshold,
            summary=self.summary,
            snippets=SnippetLimits(
                min_chunks=self.snippets_min_chunks,
                max_chunks=self.snippets_max_chunks,
                chunk_tokens=self.snippets_chunk_tokens,
            ),
        )
