"""Plain text: the extracted text is the decoded file, without a byte order mark and what nobody sees.

Raised figures (`¹`) are told from numbers as in other formats (`raised`).

A block is a paragraph: lines up to a blank one. Between blank lines, a run of lines that were never wrapped
(one is longer than `WRAPPED_LINE`) is a block per line, and a hard-wrapped run longer than `LONGEST_RUN` is
cut after lines that end a sentence and before lines that begin like an item. What separates blocks is
whatever stands in the file. A sentence that goes on over a page break is in one block: the header and footer
in it are put behind that block.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from corpus.documents import DocumentFormat
from corpus.spans import Span
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from services.ingest.errors import DocumentEmpty, DocumentTooLarge
from services.ingest.parsing.encodings import decode
from services.ingest.parsing.invisible import readable
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.raised import GAP, label, tell_apart, without_signs
from services.ingest.sentences import reads_on

LONGEST_RUN = 4_000
"""Characters; no paragraph of prose is as long, so blank lines are not what separates paragraphs here."""
WRAPPED_LINE = 160
"""Characters; nobody wraps at more, so in a run with a longer line each line is a paragraph."""
LONGEST_MARGIN = 120
"""Characters of a header or footer."""
LEAST_PAGES = 3
"""Times that a header or footer repeats, but for its numbers."""
FULL_LINE = 50
"""Characters of a line that a sentence may go on from over a blank line."""
_PAGE_NUMBER = re.compile(r"(?:.*\W)?(?:page|pg\.?) ?#(?: ?(?:of|/) ?#)?\W*|\W*#\W*", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?<=\S)[^\S\n]+(\d{1,4})\Z")
LONGEST_NUMBER = 12
"""Characters in which the number of a page is looked for."""
_LINE = re.compile(r"[^\n]*\n?")
_LONE_RETURN = re.compile(r"\r(?!\n)")
"""What ended a line on old Macs."""
_ITEM = re.compile(
    r"\s*(?:[•●▪*-]|\(?[A-Za-z0-9]{1,4}[.)]|\d+(?:\.\d+)+|[“\"]|(?i:section|article|schedule)\s)"
)
_SENTENCE_END = re.compile(r"[.;:!?][”\")\]]*\s*$")


def parse_text(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a plain text file; raises what `decode` raises, and `DocumentTooLarge`."""
    decoded = decode(path.read_bytes())
    source = _LONE_RETURN.sub("\n", decoded.text)
    text, unseen = readable(without_signs(source).replace(GAP, ""))
    known = frozenset(mark for line in text.splitlines() if (mark := label(line)) is not None)
    text, marks = tell_apart(text, known)
    if len(text) > limits.max_characters:
        raise DocumentTooLarge(
            f"The file has more than {limits.max_characters:,} characters of text.", field="path"
        )
    text, spans = _over_pages(text, list(_paragraphs(text)))
    blocks = tuple(Block(BlockKind.PARAGRAPH, span) for span in spans)
    if not blocks:
        raise DocumentEmpty("The file holds no text.", field="path")
    return ExtractedDocument(
        format=DocumentFormat.TEXT,
        title=None,
        text=text,
        blocks=blocks,
        hidden_characters=unseen,
        reference_marks=marks,
        guessed_encoding=decoded.guessed,
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


def _over_pages(text: str, spans: list[Span]) -> tuple[str, list[Span]]:
    """The text with every sentence in one paragraph, over page breaks and blank lines, and its paragraphs.

    Headers and footers that stand in a sentence are put behind its paragraph: no character is lost, and none
    outside that paragraph changes its place.
    """
    shapes = Counter(_shape(text, span) for span in spans)
    spans = _without_page_numbers(text, spans, shapes)
    margins = {span for span in spans if _is_margin(text, span, shapes)}
    pieces: list[str] = []
    whole: list[Span] = []
    written = index = 0
    while index < len(spans):
        start, end = spans[index].start, spans[index].end
        moved: list[str] = []
        inside: list[Span] = []
        words = [text[start:end]]
        while (following := _following(text, spans, index, margins)) is not None:
            gaps = [
                text[span.end : following_span.start]
                for span, following_span in pairwise(spans[index : following + 1])
            ]
            words += [gaps[-1], text[spans[following].start : spans[following].end]]
            for gap, aside in zip(gaps[:-1], spans[index + 1 : following], strict=True):
                moved += [gap, text[aside.start : aside.end]]
            index, end = following, spans[following].end
        pieces += [text[written:start], *words]
        whole.append(Span(start, start + sum(map(len, words))))
        position = whole[-1].end
        for part in moved:
            if part.strip():
                inside.append(Span(position, position + len(part)))
            position += len(part)
        pieces += moved
        whole += inside
        written = end
        index += 1
    return "".join([*pieces, text[written:]]), whole


def _without_page_numbers(text: str, spans: list[Span], shapes: Counter[str]) -> list[Span]:
    """The paragraphs, the numbers of pages at their ends apart.

    A converter writes the number behind the last word of a page. It is told from one of the text by what
    stands below it: a footer below which, on page after page, the numbers count on.
    """
    found: dict[str, list[tuple[int, re.Match[str]]]] = defaultdict(list)
    for index, (above, span) in enumerate(pairwise(spans)):
        number = _LAST_NUMBER.search(text, max(above.start, above.end - LONGEST_NUMBER), above.end)
        if number and _is_margin(text, span, shapes) and text[above.end : span.start].count("\n") > 1:
            found[_shape(text, span)].append((index, number))
    numbers: dict[int, re.Match[str]] = {}
    for numbered in found.values():
        counts = [int(number[1]) for _, number in numbered]
        for place, (index, number) in enumerate(numbered):
            windows = (
                counts[max(0, first) : first + LEAST_PAGES]
                for first in range(place - LEAST_PAGES + 1, place + 1)
            )
            if any(
                len(seen) == LEAST_PAGES and seen == list(range(seen[0], seen[0] + LEAST_PAGES))
                for seen in windows
            ):
                numbers[index] = number
    parted: list[Span] = []
    for index, span in enumerate(spans):
        if index in numbers:
            parted += [
                _trimmed(text, span.start, numbers[index].start()),
                Span(numbers[index].start(1), span.end),
            ]
        else:
            parted.append(span)
    return parted


def _following(text: str, spans: list[Span], index: int, margins: set[Span]) -> int | None:
    """The paragraph in which the sentence goes on that the paragraph at `index` ends with."""
    following = index + 1
    while following < len(spans) and spans[following] in margins:
        following += 1
    if following == len(spans) or spans[index] in margins:
        return None
    last = text[max(spans[index].start, spans[index].end - WRAPPED_LINE) : spans[index].end].split("\n")[-1]
    first = text[spans[following].start : spans[following].end].split("\n", 1)[0]
    between = text[spans[index].end : spans[following].start]
    turns = following > index + 1 or "\f" in between
    full = len(last) >= FULL_LINE and first[0].islower()
    return following if (turns or full) and "\n" in between and reads_on(last, first) else None


def _is_margin(text: str, span: Span, shapes: Counter[str]) -> bool:
    """Whether a paragraph is a header or footer: it counts pages, or stands between others several times."""
    if span.end - span.start > LONGEST_MARGIN:
        return False
    shape = _shape(text, span)
    repeats = shapes[shape] >= LEAST_PAGES and not shape.endswith(":")
    return repeats or _PAGE_NUMBER.fullmatch(shape) is not None


def _shape(text: str, span: Span) -> str:
    """The words of a short paragraph with its numbers masked; nothing of a long one."""
    if span.end - span.start > LONGEST_MARGIN:
        return ""
    return re.sub(r"\d+", "#", " ".join(text[span.start : span.end].split()))


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
