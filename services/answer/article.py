"""Articles compiled from documents, as this service knows them: for people to read, never evidence."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chassis.errors import InvalidInput
from chassis.limits.size import check_names, check_text
from corpus.citations import Citation
from corpus.documents import Version

MAX_TOPIC_CHARACTERS = 1_000
MAX_SLUG_CHARACTERS = 40
_ARTICLE_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class ClaimConfidence(StrEnum):
    """How far a claim is supported, see `clausegate.corpus.v1.ClaimConfidence`."""

    SOURCED = "sourced"
    INFERRED = "inferred"
    OPINION = "opinion"


@dataclass(frozen=True, slots=True)
class ArticleClaim:
    """One claim."""

    claim: str
    confidence: ClaimConfidence
    citation: Citation | None
    """The quote that carries it; set exactly when it is sourced."""


@dataclass(frozen=True, slots=True)
class Backlink:
    """A title that the article might point to, and the article of that title; empty when there is none."""

    title: str
    article_id: str


@dataclass(frozen=True, slots=True)
class ArticleScope:
    """What an article is compiled from, and what it is about."""

    sources: tuple[str, ...]
    document_ids: tuple[str, ...]
    """Empty means all documents of the sources."""
    topic: str
    """Empty means the documents as a whole."""

    def default_id(self) -> str:
        """A name that the same scope always gets: words of it, and 12 hexadecimal digits over all of it."""
        topic = " ".join(self.topic.casefold().split())
        spelled = json.dumps([sorted(set(self.sources)), sorted(set(self.document_ids)), topic])
        words = "-".join(
            re.findall(r"[a-z0-9]+", topic or " ".join(self.sources or self.document_ids).lower())
        )
        slug = words[:MAX_SLUG_CHARACTERS].strip("-") or "article"
        return f"{slug}-{hashlib.sha256(spelled.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Article:
    """An article, see `clausegate.corpus.v1.Article`."""

    article_id: str
    title: str
    summary: str
    key_claims: tuple[ArticleClaim, ...]
    concepts: tuple[str, ...]
    backlink_suggestions: tuple[Backlink, ...]
    open_questions: tuple[str, ...]
    article_body: str
    sources: tuple[str, ...]
    document_ids: tuple[str, ...]
    topic: str
    """What it was compiled from and is about, see `ArticleScope`."""
    basis: tuple[Version, ...]
    """Versions of the documents of the scope, ordered by document."""
    chunks_used: int
    chunks_left_out: int
    downgraded_claims: int
    sentences_left_out: int
    model: str
    prompt_version: str
    compiled_at: datetime
    stale: bool = False
    """Whether the store saw it as out of date when it was written."""


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What is asked for, see `clausegate.answer.v1.CompileArticleRequest`."""

    scope: ArticleScope
    article_id: str = ""
    max_cost_usd: float | None = None

    @property
    def again(self) -> bool:
        """Whether an article is to be compiled again from its own scope."""
        return bool(self.article_id) and not (self.scope.sources or self.scope.document_ids)


def check(request: CompileRequest) -> None:
    """Raise `InvalidInput`, naming the field, unless the request keeps its limits."""
    scope = request.scope
    check_names("sources", scope.sources)
    check_names("document_ids", scope.document_ids)
    check_text("topic", scope.topic, MAX_TOPIC_CHARACTERS, required=False)
    if request.article_id and not _ARTICLE_ID.fullmatch(request.article_id):
        message = "Must have 1 to 64 lower-case letters, digits and `-`, and not begin with `-`."
        raise InvalidInput(message, field="article_id")
    if not (scope.sources or scope.document_ids or request.again):
        raise InvalidInput("Name sources or documents to compile from.", field="sources")
