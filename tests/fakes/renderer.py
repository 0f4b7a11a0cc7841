"""A model that behaves: it reads a real prompt of the product and keeps the contract that it asks for.

It quotes whole sentences of the passages shown, those that share most words with the request. Nothing that it
says measures the quality of anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.behaviours import Says, json_reply
from tests.fakes.mutations import mutated
from tests.fakes.prompts import BLOCK, Passage, Shown, read
from tests.fakes.wire import Request

MAX_QUOTED = 3
MAX_SENTENCE, MAX_CLAIM = 400, 1_000
_MARKUP = re.compile(r"[<\[\\]")
"""What claims of an article may not hold, though a document may."""


@dataclass(frozen=True)
class Renderer:
    """Give it to `ModelServer.respond`; with `mutations` it goes wrong in these ways, see `mutations`."""

    mutations: Sequence[str] = ()
    seed: int = 0
    form: Callable[[Any], Says] = json_reply
    """How a value becomes a reply: `json_reply`, `fenced`, `commented`, `cut_off`."""

    def __call__(self, request: Request) -> Says:
        shown = read(request)
        return self.form(mutated(good_reply(shown), tuple(self.mutations), shown, self.seed))


def good_reply(shown: Shown) -> Any:
    """What the contract of a prompt asks for."""
    return _REPLIES[shown.contract](shown)


def _best(shown: Shown) -> list[tuple[Passage, str]]:
    return shown.ranked()[:MAX_QUOTED]


def _answer(shown: Shown) -> Any:
    """Its summary is the first quotes over again: all that is true of every document."""
    quotes = [{"chunk": one.handle, "quote": sentence} for one, sentence in _best(shown)]
    summary = [
        {"text": _line(quote["quote"])[:MAX_SENTENCE], "quotes": [number]}
        for number, quote in enumerate(quotes, start=1)
    ]
    return {"addressed": bool(quotes), "quotes": quotes, "summary": summary}


def _grade(shown: Shown) -> Any:
    """3 for two or more words of the question, 1 for one."""
    shared = {one.handle: shown.shared(one.text) for one in shown.passages.values()}
    return {"grades": [{"chunk": handle, "grade": (0, 1, 3)[min(2, n)]} for handle, n in shared.items()]}


def _snippets(shown: Shown) -> Any:
    found = [
        {"chunk": one.handle, "content": sentence, "relevance": "It speaks of the question."}
        for one, sentence in _best(shown)
    ]
    summary = "The passages speak of the question. They are quoted as they stand."
    return {"snippets": found, "summary": summary if found else "Nothing was found.", "no_results": not found}


def _article(shown: Shown) -> Any:
    sourced = [
        {"claim": _line(sentence), "confidence": "sourced", "quote": sentence, "chunk": one.handle}
        for one, sentence in _best(shown)
        if not _MARKUP.search(sentence) and len(sentence) <= MAX_CLAIM
    ]
    judged = {"claim": "The rules are plain.", "confidence": "opinion", "quote": None, "chunk": None}
    body = "\n\n".join(f"> {_line(sentence)}" for _, sentence in _best(shown))
    return {
        "title": "What the documents say",
        "summary": "The documents set terms. This article quotes them.",
        "key_claims": [*sourced, judged],
        "concepts": ["terms"],
        "backlink_suggestions": ["Termination"],
        "open_questions": ["Who decides?"],
        "article_body": f"## Terms\n\n{body}",
    }


def _queries(shown: Shown) -> Any:
    asked = re.search(r"exactly (\d+) quer", shown.request)
    assert asked, "the prompt says how many queries it wants"
    aspects = ("fees", "notice", "audit", "display", "redistribution")
    return {
        "queries": [
            f"market data {aspects[n % 5]} {'terms ' * (n // 5 + 1)}".strip() for n in range(int(asked[1]))
        ]
    }


def _rewrite(shown: Shown) -> Any:
    """The text as it is: always allowed."""
    text = BLOCK.search(shown.request, shown.request.index("Text to rewrite:"))
    assert text, "the prompt holds the text"
    references = [{"chunk": one.handle, "quote": sentence} for one, sentence in _best(shown)[:1]]
    return {"text": text["text"], "references": references}


def _line(text: str) -> str:
    return " ".join(text.split())


_REPLIES: dict[str, Callable[[Shown], Any]] = {
    "answer": _answer,
    "grade": _grade,
    "snippets": _snippets,
    "article": _article,
    "queries": _queries,
    "rewrite": _rewrite,
}
