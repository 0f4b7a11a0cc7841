"""Reads a prompt of the product as a model would: which task, which passages, what question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from services.answer.contracts.completion import DEFAULT_DOMAIN, Contract
from tests.fakes.wire import Request

CONTRACTS = ("answer", "grade", "snippets", "article", "queries", "rewrite")
BLOCK = re.compile(r"<<<(?P<name>\w+) (?P<code>\w+)\n(?P<text>.*?)\n?(?P=name) (?P=code)>>>", re.DOTALL)
"""Something between markers."""
_HANDLE = r"c\d+"
_PASSAGE = re.compile(
    rf"^\[({_HANDLE})\]\n(\[Section: [^\n]*\]\n)?(.*?)"
    rf"(?=^---\n\[{_HANDLE}\]$|^\[Document: [^\n]*\]\n\[{_HANDLE}\]$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"(])|\n\s*\n")


@dataclass(frozen=True)
class Passage:
    """A chunk as a model is shown it."""

    handle: str
    attribution: str
    text: str

    @property
    def sentences(self) -> list[str]:
        """Without those of one or two words, mostly headings: no contract wants them."""
        return [one.strip() for one in _SENTENCE.split(self.text) if len(one.split()) > 2]


@dataclass(frozen=True)
class Shown:
    """One prompt."""

    contract: str
    system: str
    passages: Mapping[str, Passage]
    """By handle, in order."""
    request: str
    """What stands outside the markers of passages."""
    codes: tuple[str, ...]
    """The codes of the markers."""

    def ranked(self) -> list[tuple[Passage, str]]:
        """All sentences, those first that share most words with the request; a model that reads a little."""
        found = [(one, sentence) for one in self.passages.values() for sentence in one.sentences]
        return sorted(found, key=lambda pair: -self.shared(pair[1]))

    def shared(self, text: str) -> int:
        """How many words of the request a text has."""
        return len(set(_words(self.request)) & set(_words(text)))


@cache
def contracts() -> Mapping[str, Contract]:
    """The product's contracts, by name."""
    return {name: import_module(f"services.answer.contracts.{name}").CONTRACT for name in CONTRACTS}


def contract_of(request: Request) -> str:
    """Which contract a request asks for, told by its system prompt. Raises `LookupError` for none."""
    for name, contract in contracts().items():
        if contract.about(DEFAULT_DOMAIN) == request.system:
            return name
    raise LookupError("a system prompt that is none of the contracts'")


def read(request: Request) -> Shown:
    """What a request shows."""
    prompt = request.prompt
    blocks = list(BLOCK.finditer(prompt))
    passages = {
        handle: Passage(handle, attribution, text.rstrip("\n"))
        for block in blocks
        for handle, attribution, text in _PASSAGE.findall(block["text"])
    }
    outside = prompt
    for block in blocks:
        if _PASSAGE.search(block["text"]):
            outside = outside.replace(block.group(), "")
    codes = tuple(dict.fromkeys(block["code"] for block in blocks))
    return Shown(contract_of(request), request.system, passages, outside, codes)


_COMMON = re.compile(
    r"a|an|and|are|be|by|does|for|how|in|is|it|may|of|on|or|shall|the|this|to|what|which|who"
)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]{2,}", text.lower()) if not _COMMON.fullmatch(word)]
