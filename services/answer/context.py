"""Lays out what a model is shown: chunks as data between markers that no document can hold.

The chunks of a document stand together, in its order, below one line that tells what the document is; what
one of them shows is not shown again. The markers carry a random code of the request, so that text of a
document can neither end its block nor begin another; lines that only look like our layout are marked as
text. Chunks are named by handles (`c1`, `c2`, …), which mean nothing outside the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from chassis.errors import Precondition
from corpus.chunks import Chunk
from corpus.invisible import IGNORABLE, JOINERS, SOFT_HYPHEN
from corpus.spans import Span
from services.answer.cards import on_one_line, quoteless, titled
from services.answer.parts import outside, reading_of
from services.answer.sentences import sentences_around
from services.answer.verification.places import find_in

RULE_LINE = "---"
BEFORE, AFTER = "[Leads into this:]", "[Holds for this:]"
"""Before words of the document that stand elsewhere and govern a part of the chunk."""
NO_CARDS: Mapping[str, str] = MappingProxyType({})
SAMPLE_CODE = "0123456789abcdef"
"""Stands for a random code where tokens are counted."""
CODE_TOKENS = 2 * len(SAMPLE_CODE)
"""What the two codes of a layout may take at most; some digits make longer tokens than others."""
_BREAKS = r"\r\v\f\x1c-\x1e\x85\u2028\u2029"
"""What else a reader may take for the end of a line."""
_UNSEEN = f"{SOFT_HYPHEN}{JOINERS}\u2800{IGNORABLE}"
"""What is not drawn, and the blank of Braille."""
_BEGINNING = rf"(?:^|(?<=[{_BREAKS}]))(?P<blank>(?:[^\S\n{_BREAKS}]|[{_UNSEEN}])*)"
_LAYOUT = (
    rf"(?=<[{_UNSEEN}]*<[{_UNSEEN}]*<|>[{_UNSEEN}]*>[{_UNSEEN}]*>"
    rf"|\[[{_UNSEEN}]*(?:Document:|Section:|Leads into this:|Holds for this:|c\d+\])"
    rf"|---\s*$)"
)
_LOOK_ALIKE = re.compile(_BEGINNING + _LAYOUT, re.MULTILINE | re.IGNORECASE)
_MARKED = re.compile(rf"{_BEGINNING}\\{_LAYOUT}", re.MULTILINE | re.IGNORECASE)


class ContextTooSmall(Precondition):
    """Not one chunk fits into the tokens that there are for documents."""

    reason = "CONTEXT_TOO_SMALL"


@dataclass(frozen=True, slots=True)
class Material:
    """Chunks as a model is shown them."""

    text: str
    handles: Mapping[str, Chunk]
    """The chunk behind each handle; every other handle is an invention."""

    def quoted(self, handle: str, quote: str) -> str | None:
        """What the whole sentences say that hold a model's quote, see `reading_of`; None where none does.

        Out of `may not share` a `may share` can be quoted, see `sentences_around`.
        """
        chunk = self.handles.get(handle)
        place = find_in(chunk, quote) if chunk else None
        if chunk is None or place is None:
            return None
        return reading_of(chunk, sentences_around(chunk, place.span))


def format_chunk(chunk: Chunk) -> str:
    """A chunk below the line that names its section; a continued table has its header again.

    The line is left out where the text begins with those words. What leads into parts of it from elsewhere,
    and conditions from elsewhere, stand in marked lines.
    """
    section = quoteless(" > ".join(chunk.heading_chain) or chunk.section)
    named = "" if quoteless(chunk.text[: 2 * len(section)]).startswith(section) else f"[Section: {section}]\n"
    header = f"{chunk.table_header}\n" if chunk.table_header else ""
    leading = [part for part in outside(chunk, chunk.context_before) if part.text != chunk.table_header]
    before = "".join(f"{BEFORE} {on_one_line(part.text)}\n" for part in leading)
    after = "".join(f"{AFTER} {on_one_line(part.text)}\n" for part in outside(chunk, chunk.context_after))
    return f"{named}{before}{_as_text(header + chunk.text)}\n{after}"


def lay_out(chunks: Sequence[Chunk], code: str, cards: Mapping[str, str] = NO_CARDS) -> Material:
    """The chunks, each under its handle, between markers that carry `code`.

    Documents come in the order in which their first chunk is given. `cards` by document id, see `card_of`; a
    title stands in for one that is not there.
    """
    handles = {f"c{number}": chunk for number, chunk in enumerate(_shown(chunks), start=1)}
    return Material(enclose("".join(_lines(handles, cards)), code), handles)


def _lines(handles: Mapping[str, Chunk], cards: Mapping[str, str]) -> Iterator[str]:
    above = ""
    for handle, chunk in handles.items():
        card = f"[Document: {card_for(chunk, cards)}]\n"
        yield card if card != above else f"{RULE_LINE}\n"
        yield f"[{handle}]\n{format_chunk(chunk)}"
        above = card


def _shown(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """The chunks by document and place, without what an earlier one shows already."""
    for document_id in dict.fromkeys(chunk.document_id for chunk in chunks):
        above: list[Chunk] = []
        of_document = [chunk for chunk in chunks if chunk.document_id == document_id]
        for chunk in sorted(of_document, key=lambda chunk: (chunk.span.start, -chunk.span.end)):
            if not any(chunk.span in shown.span and chunk.text in shown.text for shown in above):
                yield _after(above, chunk)
                above.append(chunk)


def _after(above: Sequence[Chunk], chunk: Chunk) -> Chunk:
    """The chunk from its first sentence that no chunk above shows; all of it where none begins there."""
    end = max((shown.span.end for shown in above if shown.generation == chunk.generation), default=0)
    starts = (sentence.start for sentence in chunk.sentences if sentence.start >= end > chunk.span.start)
    return chunk.part(Span(next(starts, chunk.span.start), chunk.span.end))


def card_for(chunk: Chunk, cards: Mapping[str, str]) -> str:
    """The card of a chunk's document; its title and id where there is none."""
    return cards.get(chunk.document_id) or titled(chunk.title, chunk.document_id)


def format_entry(chunk: Chunk, cards: Mapping[str, str] = NO_CARDS) -> str:
    """What one chunk adds to a layout, never knowingly less: its document's card, its handle and its text."""
    return f"[Document: {card_for(chunk, cards)}]\n[c100]\n{format_chunk(chunk)}"


def enclose(text: str, code: str, name: str = "documents") -> str:
    """Text, whole lines of it, as data between markers that carry `code` and say what it is."""
    return f"<<<{name} {code}\n{text}{name} {code}>>>\n"


def _as_text(text: str) -> str:
    """Text whose lines cannot be taken for our layout: look-alikes get a backslash in front."""
    return _LOOK_ALIKE.sub(lambda match: f"{match['blank']}\\", text)


def without_marks(quote: str) -> str:
    """A quote as the document has it, without the backslashes that look-alikes were shown with."""
    return _MARKED.sub(lambda match: match["blank"], quote)
