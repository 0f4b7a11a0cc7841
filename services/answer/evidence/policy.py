"""The settings that shape an answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from services.answer.contracts.completion import DEFAULT_DOMAIN
from services.answer.evidence.budget import BudgetLimits
from services.answer.evidence.gate import GateLimits
from services.answer.evidence.grading import Grading


@dataclass(frozen=True, slots=True)
class SnippetLimits:
    """Which chunks a model is shown to extract snippets from: the best ones."""

    min_chunks: int = 5
    """Shown whatever they take."""
    max_chunks: int = 8
    """The most that are shown, or that sentences are taken from without a model."""
    chunk_tokens: int = 3_000
    """Beyond `min_chunks`, more are shown only as long as all of them take no more tokens than this."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Which candidates count, when the gate opens, and what fits; defaults as in the settings."""

    gate: GateLimits = field(default_factory=GateLimits)
    budget: BudgetLimits = field(default_factory=BudgetLimits)
    answered_from: float | None = None
    """Probability from which sentences are an answer, and not only related; None is as calibrated."""
    pool: int = 12
    vector_k: int = 10
    keyword_k: int = 10
    keep_ratio: float = 0.7
    """Share of the best score that a chunk needs where local evidence grades."""
    keep_at_most: int = 5
    raw_gate_uses_bm25: bool = False
    definition_depth: int = 2
    reader: str = ""
    """Name of the reader that grades with local evidence; empty without one."""
    grading: Grading = Grading.BATCH
    """How a chat model grades, where there is one."""
    domain: str = DEFAULT_DOMAIN
    """What prompts say that the documents are about."""
    relevance_threshold: int = 2
    """Grade, 1 to 3, that a chunk needs where a chat model grades."""
    summary: bool = True
    """Whether a chat model may put an answer in short above its quotes."""
    snippets: SnippetLimits = field(default_factory=SnippetLimits)

    def sha256(self) -> str:
        """Names the policy in certificates: SHA-256 over its values, 64 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()
