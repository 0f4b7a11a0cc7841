"""Replies of a real language model to prompts of ours, and what they say to the prompts of today.

Prompts change, and with them what is shown under which handle. A recorded reply still tells what an honest
model makes of a passage: a quote is given under the handle that shows its words now, and a passage has the
grade of the recorded one that shares its lines, or 3 if the recorded answer quotes it. What it cannot tell is
whether a model would reply to the prompt of today as it did to the old one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

MAX_SENTENCES = 3
"""Statements that are given as a summary as well."""
SHARE = 0.5
"""Lines of the shorter of two passages that the other has if they are the same passage."""
_PASSAGE = re.compile(
    r"^\[(c\d+[ab]?)\]\n(.*?)(?=^(?:---|\[Document: [^\n]*\])\n\[c\d+[ab]?\]$|^documents \w+>>>$)",
    re.DOTALL | re.MULTILINE,
)
_ABOVE = re.compile(r"\[(?:Source|Section): ")


class Stage(StrEnum):
    """What a model was asked for."""

    GRADE = "grade"
    ANSWER = "answer"
    SNIPPETS = "snippets"


_BEGINNINGS = {"You grade": Stage.GRADE, "You answer": Stage.ANSWER, "You extract": Stage.SNIPPETS}


@dataclass(frozen=True, slots=True)
class GivenQuote:
    """Words that a model says a passage holds."""

    handle: str
    text: str
    because: str = ""
    """The statement or the reason that they were given for."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A prompt and the reply to it."""

    stage: Stage
    question: str
    passages: Mapping[str, str]
    """What was shown, by handle."""
    reply: str
    """As it came."""

    @property
    def said(self) -> Any:
        """The reply's value."""
        return json.loads(self.reply)

    @property
    def quotes(self) -> tuple[GivenQuote, ...]:
        """Every quote of an answer or snippet of research, in order."""
        if self.stage is Stage.SNIPPETS:
            found = ((one["chunk"], one["content"], one["relevance"]) for one in self.said["snippets"])
        else:
            found = (
                (quote["chunk"], quote["quote"], statement["text"])
                for statement in self.said.get("statements", ())
                for quote in statement["quotes"]
            )
        return tuple(GivenQuote(*quote) for quote in found)

    @property
    def finds_something(self) -> bool:
        """Whether the model answers, extracts, or grades some passage at 2 or more."""
        if self.stage is Stage.GRADE:
            return any(grade["grade"] >= 2 for grade in self.said["grades"])
        return bool(self.quotes)

    def is_verbatim(self, quote: GivenQuote) -> bool:
        """Whether the words stand in the passage that was shown, but for white space."""
        return words_of(quote.text) in words_of(self.passages.get(quote.handle, ""))


def recorded_replies(file: Path) -> tuple[Recorded, ...]:
    """All recorded replies, in the order of the file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(_recorded(row["messages"], row["reply"]) for row in rows)


def stage_of(system: str) -> Stage:
    """What a system prompt of ours asks for. Raises `LookupError` for another one."""
    for beginning, stage in _BEGINNINGS.items():
        if system.startswith(beginning):
            return stage
    raise LookupError("a prompt that nobody recorded a reply to")


def question_of(prompt: str) -> str:
    """The question of a user's message."""
    return prompt.split("\n", 2)[1]


def passages_of(prompt: str) -> dict[str, str]:
    """What a user's message shows, by handle."""
    return {
        handle: "\n".join(line for line in text.splitlines() if not _ABOVE.match(line))
        for handle, text in _PASSAGE.findall(prompt)
    }


def words_of(text: str) -> str:
    """A text with every run of white space as one space."""
    return " ".join(text.split())


def answer_to(recorded: Recorded, shown: Mapping[str, str], chosen: Sequence[GivenQuote] = ()) -> str:
    """The recorded reply, as JSON, to a prompt that shows these passages.

    `chosen` are the quotes of the answer to the question of grades: a passage that shows one has grade 3.
    """
    if recorded.stage is Stage.GRADE:
        return json.dumps({"grades": list(_grades(recorded, shown, chosen))})
    places = [_handle_of(quote, shown) for quote in recorded.quotes]
    quotes = [
        {"chunk": place, "quote": quote.text, "content": quote.text, "relevance": quote.because}
        for quote, place in zip(recorded.quotes, places, strict=True)
    ]
    if recorded.stage is Stage.SNIPPETS:
        said = recorded.said
        return json.dumps({**said, "snippets": quotes, "search_for": ""})
    statements = {quote.because: list[int]() for quote in recorded.quotes}
    for number, quote in enumerate(recorded.quotes, start=1):
        statements[quote.because].append(number)
    summary = [{"text": text, "quotes": numbers} for text, numbers in statements.items()][:MAX_SENTENCES]
    told = [
        {"text": text, "quotes": [quotes[number - 1] for number in numbers]}
        for text, numbers in statements.items()
    ]
    # Both forms that an answer had or has; a contract ignores what it did not ask for.
    return json.dumps(
        {"addressed": recorded.said["addressed"], "statements": told, "quotes": quotes, "summary": summary}
    )


def _recorded(messages: Sequence[Mapping[str, str]], reply: str) -> Recorded:
    system, prompt = (message["content"] for message in messages)
    return Recorded(stage_of(system), question_of(prompt), passages_of(prompt), reply)


def _handle_of(quote: GivenQuote, shown: Mapping[str, str]) -> str:
    """Where the words of a quote stand now; its old handle with a mark where they are not shown."""
    words = words_of(quote.text)
    return next((handle for handle, text in shown.items() if words in words_of(text)), f"old-{quote.handle}")


def _grades(
    recorded: Recorded, shown: Mapping[str, str], chosen: Sequence[GivenQuote]
) -> Iterator[dict[str, object]]:
    given = {grade["chunk"]: grade["grade"] for grade in recorded.said["grades"]}
    for handle, text in shown.items():
        same = [given[old] for old, before in recorded.passages.items() if _is_same(text, before)]
        holds = any(words_of(quote.text) in words_of(text) for quote in chosen)
        yield {"chunk": handle, "grade": 3 if holds else max(same, default=0)}


def _is_same(text: str, other: str) -> bool:
    """Whether two passages share most lines of the shorter one."""
    lines, others = ({words_of(line) for line in part.splitlines()} - {""} for part in (text, other))
    shorter = min(len(lines), len(others))
    return bool(shorter) and len(lines & others) >= SHARE * shorter
