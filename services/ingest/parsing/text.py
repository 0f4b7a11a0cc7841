"""Plain text: the extracted text is the decoded file, without a byte order mark and what nobody sees.

Raised figures (`¹`) are told from numbers as in other formats (`raised`).

A block is a paragraph: lines up to a blank one. Between blank lines, a run of lines that were never wrapped
(one is longer than `WRAPPED_LINE`) is a block per line, and a hard-wrapped run longer than `LONGEST_RUN` is
cut after lines that end a sentence and before lines that begin like an item. What separates blocks is
whatever stands in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from services.ingest.documents import Block, BlockKind, DocumentFormat, ExtractedDocument, Span
from services.ingest.errors import (
    DocumentEmpty,
    DocumentEncoding,
    DocumentFormatMismatch,
    DocumentTooLarge,
)
from services.ingest.parsing.invisible import readable
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.raised import GAP, label, tell_apart, without_signs

LONGEST_RUN = 4_000
"""Characters; no paragraph of prose is as long, so blank lines are not what separates paragraphs here."""
WRAPPED_LINE = 160
"""Characters; nobody wraps at more, so in a run with a longer line each line is a paragraph."""
CONTROL_SHARE = 0.01
"""More control characters than this and the file is binary, whatever its name says."""
_LINE = re.compile(r"[^\n]*\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ITEM = re.compile(
    r"\s*(?:[•●▪*-]|\(?[A-Za-z0-9]{1,4}[.)]|\d+(?:\.\d+)+|[“\"]|(?i:section|article|schedule)\s)"
)
_SENTENCE_END = re.compile(r"[.;:!?][”\")\]]*\s*$")


def decode(data: bytes) -> str:
    """The text of a UTF-8 file without a byte order mark.

    Raises `DocumentFormatMismatch` for binary content, `DocumentEncoding` for anything but UTF-8 and
    `DocumentEmpty` for nothing but white space.
    """
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentFormatMismatch("holds binary data, not text", field="path")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentEncoding(f"not UTF-8: byte {error.start} does not fit", field="path") from error
    if len(_CONTROL.findall(text)) > CONTROL_SHARE * len(text):
        raise DocumentFormatMismatch("holds binary data, not text", field="path")
    if not text.strip():
        raise DocumentEmpty("holds no text", field="path")
    return text


def parse_text(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a plain text file; raises what `decode` raises, and `DocumentTooLarge`."""
    text, unseen = readable(without_signs(decode(path.read_bytes())).replace(GAP, ""))
    known = frozenset(mark for line in text.splitlines() if (mark := label(line)) is not None)
    text, marks = tell_apart(text, known)
    if len(text) > limits.max_characters:
        raise DocumentTooLarge(f"more than {limits.max_characters} characters of text", field="path")
    blocks = tuple(Block(BlockKind.PARAGRAPH, span) for span in _paragraphs(text))
    if not blocks:
        raise DocumentEmpty("holds no text", field="path")
    return ExtractedDocument(
        DocumentFormat.TEXT, None, text, blocks, hidden_characters=unseen, reference_marks=marks
    )


def _paragraphs(text: str) -> Iterator[Span]:
    run: list[Span] = []
    for match in _LINE.finditer(text):
        if match.group().strip():
            run.append(Span(match.start(), match.end()))
        elif run:
            yield from _split_run(text, run)
            run = []
    if run:
        yield from _split_run(text, run)


def _split_run(text: str, lines: list[Span]) -> Iterator[Span]:
    """One paragraph, or several where the run cannot be one."""
    if max(line.end - line.start for line in lines) > WRAPPED_LINE:
        yield from (_trimmed(text, line.start, line.end) for line in lines)
        return
    if lines[-1].end - lines[0].start <= LONGEST_RUN:
        yield _trimmed(text, lines[0].start, lines[-1].end)
        return
    start = lines[0].start
    for above, line in pairwise(lines):
        ends = _SENTENCE_END.search(text, above.start, above.end) is not None
        if ends or _ITEM.match(text, line.start, line.end):
            yield _trimmed(text, start, above.end)
            start = line.start
    yield _trimmed(text, start, lines[-1].end)


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
