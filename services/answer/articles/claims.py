"""What an article's claims and prose rest on: the checks of an article beyond its contract's own (CO-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.answer.context import Material, format_chunk
from services.answer.contracts.article import ArticleReply, KeyClaim
from services.answer.corpus import Chunk
from services.answer.verification.lint.inventory import Inventory
from services.answer.verification.overstatement import overstates

_LIST_NUMBER = re.compile(r"^((?:[ \t]|[-*+>][ \t])*)\d{1,3}[.)](?=\s)", re.MULTILINE)


def held_by(material: Material, topic: str) -> Inventory:
    """What an article may say of numbers, dates, clause numbers and links.

    Titles and headings are the documents' too, and the words of the topic are the user's own.
    """
    return Inventory([topic, *(format_chunk(chunk) for chunk in material.handles.values())])


def unsupported(reply: ArticleReply, held: Inventory) -> Sequence[str]:
    """Numbers, amounts, dates, clause numbers and links that an article invents, one sentence each.

    Negations, duties and names are checked in sourced claims alone: in whole documents nearly every word
    stands somewhere, and headings look like names.
    """
    return [
        f"{name}: “{one.text}” does not stand in the material."
        for name, text in _fields(reply)
        for one in dict.fromkeys(held.lacks(text))
    ]


def carrier(claim: KeyClaim, material: Material, topic: str) -> Chunk | None:
    """The chunk whose sentences carry a claim that is called sourced: the words stand there, and their whole
    sentences say no less."""
    if claim.confidence != "sourced" or not claim.chunk or not claim.quote:
        return None
    words = material.quoted(claim.chunk, claim.quote)
    if words is None or overstates(claim.claim, [words], topic):
        return None
    return material.handles[claim.chunk]


def _fields(reply: ArticleReply) -> Iterator[tuple[str, str]]:
    yield "title", reply.title
    yield "summary", reply.summary
    for i, claim in enumerate(reply.key_claims):
        yield f"key_claims.{i}.claim", claim.claim
    lists = (reply.concepts, reply.backlink_suggestions, reply.open_questions)
    for name, items in zip(("concepts", "backlink_suggestions", "open_questions"), lists, strict=True):
        for i, text in enumerate(items):
            yield f"{name}.{i}", text
    # The numbers of a numbered list are the list's.
    yield "article_body", _LIST_NUMBER.sub(r"\1-", reply.article_body)
