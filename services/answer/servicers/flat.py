"""Articles as plain values on the wire, see `clausegate.answer.v1.FlatArticle`."""

from __future__ import annotations

from chassis.errors import InvalidInput
from clausegate.answer.v1.article_service_pb2 import FlatArticle, FlatClaim
from clausegate.corpus.v1.article_pb2 import Article, ArticleClaim, ClaimConfidence

FLAT = "flat"


def asks_for_flat(form: str) -> bool:
    """Whether a request asks for plain values. Raises `InvalidInput` for a form that there is not."""
    if form not in ("", FLAT):
        raise InvalidInput("Must be `flat` or empty.", field="format")
    return form == FLAT


def flat(article: Article) -> FlatArticle:
    """The article without citations, basis and counts."""
    return FlatArticle(
        article_id=article.article_id,
        title=article.title,
        summary=article.summary,
        claims=map(_claim, article.key_claims),
        concepts=article.concepts,
        backlinks=[backlink.title for backlink in article.backlink_suggestions],
        open_questions=article.open_questions,
        article_body=article.article_body,
    )


def _claim(claim: ArticleClaim) -> FlatClaim:
    name = ClaimConfidence.Name(claim.confidence)
    return FlatClaim(
        claim=claim.claim,
        confidence=name.removeprefix("CLAIM_CONFIDENCE_").lower(),
        quote=claim.citation.quote if claim.HasField("citation") else None,
    )
