"""Counts tokens: by the model's own encoding where its file lies on disk, else by an estimate.

Nothing is ever fetched here: `clausegate fetch-model` brings the files.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Lock

import tiktoken

from inference.fetch import ENCODINGS, EncodingFile

USUAL = "o200k_base"
"""The encoding that counts texts which are for no model in particular: that of gpt-4o, gpt-4.1 and gpt-5."""
SAME_FILE = {"o200k_harmony": "o200k_base"}
"""Encodings that differ from another in their control tokens alone."""
CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"

_loading = Lock()


class EncodingBroken(OSError):
    """A file in the folder of encodings is not the published one."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text; `encoding` is the encoding's name, or `estimate`."""

    encoding: str
    count: Callable[[str], int]


class TokenCounters:
    """Gives each model what counts its tokens: its own encoding if that is on disk, else the estimate."""

    def __init__(self, folder: Path, files: Sequence[EncodingFile] = ENCODINGS) -> None:
        """Raises `EncodingBroken` when `folder` holds another file under the name of an encoding."""
        places = {file.encoding: (file, folder.expanduser() / file.name) for file in files}
        self._found = {name: place for name, place in places.items() if place[1].is_file()}
        for file, path in self._found.values():
            _read(file, path)

    def of(self, model: str) -> TokenCounter:
        """What counts the tokens of a chat or embedding model, by its name."""
        try:
            return self.by(tiktoken.encoding_name_for_model(model))
        except KeyError:
            return ESTIMATE

    def by(self, encoding: str) -> TokenCounter:
        """What counts by an encoding; the first text that is counted takes .3 s, to read it."""
        place = self._found.get(SAME_FILE.get(encoding, encoding))
        return TokenCounter(encoding, partial(_count, encoding, *place)) if place else ESTIMATE


def exact_counter(encoding: tiktoken.Encoding) -> TokenCounter:
    """Counts with an encoding; words that look like its control tokens are text."""
    return TokenCounter(encoding.name, lambda text: len(encoding.encode_ordinary(text)))


def _count(encoding: str, file: EncodingFile, path: Path, text: str) -> int:
    with _loading:
        loaded = _load(encoding, file, path)
    return exact_counter(loaded).count(text)


@cache
def _load(encoding: str, file: EncodingFile, path: Path) -> tiktoken.Encoding:
    """The encoding, read from a copy: tiktoken deletes and downloads a file that is not what it expects.

    It takes the folder from the environment alone.
    """
    with tempfile.TemporaryDirectory(prefix="clausegate-") as folder:
        Path(folder, file.name).write_bytes(_read(file, path))
        with _cache_folder(folder):
            return tiktoken.get_encoding(encoding)


def _read(file: EncodingFile, path: Path) -> bytes:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise EncodingBroken(f"{path} is not the published {file.encoding}: its SHA-256 is not {file.sha256}")
    return content


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    before = os.environ.get(CACHE_VARIABLE)  # noqa: TID251
    os.environ[CACHE_VARIABLE] = folder  # noqa: TID251
    try:
        yield
    finally:
        del os.environ[CACHE_VARIABLE]  # noqa: TID251
        if before is not None:
            os.environ[CACHE_VARIABLE] = before  # noqa: TID251


_WORD = r"[A-Z]?[a-zß-öø-ÿ]{1,9}|[A-Z]{1,3}|[^\W\d_A-Za-zß-öø-ÿ]"
_PIECE = re.compile(rf"{_WORD}|\d{{1,3}}|[^\w\s]+|_+|\s*\n|[^\S\n]{{2,}}")
"""What the estimate takes for a token; a single space belongs to the word after it."""


def estimate(text: str) -> int:
    """About how many tokens a text has: a token for every nine letters of a word, three capitals, three
    digits, run of signs and line break.

    Within 10 % of cl100k and of o200k on every text of the examples. On 299 pieces of 1,800 characters of
    contracts 3 % too many in the middle, and between 15 % too few and 23 % too many for 98 in 100 of them.
    """
    return sum(1 for _ in _PIECE.finditer(text))


ESTIMATE = TokenCounter("estimate", estimate)
"""For models whose encoding nobody knows here."""
