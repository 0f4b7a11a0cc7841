"""Counts tokens: with tiktoken where its encoding lies on disk, else by an estimate that errs upwards.

Nothing is ever fetched. tiktoken itself offers no offline mode: its loader downloads what its cache lacks. So
the encoding is built here from a rank file in a folder of ours, under its own name (`o200k_base.tiktoken`).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tiktoken


@dataclass(frozen=True, slots=True)
class RankFile:
    """What is needed to build an encoding besides its merge ranks, and how to know the right file."""

    name: str
    sha256: str
    pattern: str
    """How text is split before merging; published with the encoding."""


_WORD_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_BASE = RankFile(
    name="o200k_base",
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pattern="|".join(
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _WORD_TAIL,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _WORD_TAIL,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
)
"""The encoding of gpt-4o, gpt-4.1 and their successors."""


class RankFileBroken(OSError):
    """The rank file on disk is not the published one."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text; `encoding` is the encoding's name, or `estimate`."""

    encoding: str
    count: Callable[[str], int]


def token_counter(folder: Path | None, ranks: RankFile = O200K_BASE) -> TokenCounter:
    """The exact counter when `folder` holds the rank file, else the estimate.

    Raises `RankFileBroken` when the file is there and is not the published one.
    """
    path = folder / f"{ranks.name}.tiktoken" if folder else None
    if path is None or not path.is_file():
        return TokenCounter("estimate", estimate)
    encoding = _load(path, ranks)
    return TokenCounter(ranks.name, lambda text: len(encoding.encode_ordinary(text)))


def _load(path: Path, ranks: RankFile) -> tiktoken.Encoding:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != ranks.sha256:
        raise RankFileBroken(f"{path} is not the published {ranks.name}: its SHA-256 is not {ranks.sha256}")
    pairs = (line.split() for line in content.splitlines() if line)
    merges = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(ranks.name, pat_str=ranks.pattern, mergeable_ranks=merges, special_tokens={})


_PIECE = re.compile(
    r"[A-Z][a-z]{1,3}|[a-z]{1,4}|[A-Z]{1,2}|[0-9]{1,2}|\n|[ \t\r\f\v]{2,8}|[^\w\s]|[_\t\r\f\v]", re.ASCII
)
"""What counts as one token of ASCII text; a single space belongs to the word after it."""


def estimate(text: str) -> int:
    """Tokens of `text`, never knowingly too few.

    A token for every four letters of a word, two capitals, two digits, sign, line break and run of blanks;
    for everything beyond ASCII its bytes in UTF-8, the only bound that is proven. Against cl100k and o200k on
    6,061 pieces of 1,800 characters of contracts: never below the larger of both, 1.58 of it on average.
    (Characters / 3 was below in 44 pieces, tables of contents mostly; three digits a token in 2.)
    """
    ascii_text = text.encode("ascii", "ignore")
    beyond = len(text.encode("utf-8", "replace")) - len(ascii_text)
    return len(_PIECE.findall(ascii_text.decode("ascii"))) + beyond
