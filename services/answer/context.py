"""Lays out what a model is shown: chunks as data between markers that no document can hold.

The markers carry a random code of the request, so that text of a document can neither end its block nor begin
another; lines that only look like our layout are marked as text. Chunks are named by handles (`c1`, `c2`, …),
which mean nothing outside the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chassis.errors import Precondition
from corpus.chunks import Chunk
from corpus.invisible import IGNORABLE, JOINERS, SOFT_HYPHEN
from services.answer.parts import outside, reading_of
from services.answer.sentences import sentences_around
from services.answer.verification.places import find_in

RULE_LINE = "---"
BEFORE, AFTER = "[Leads into this:]", "[Holds for this:]"
"""Before words of the document that stand elsewhere and govern a part of the chunk."""
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
    rf"|\[[{_UNSEEN}]*(?:Source:|Leads into this:|Holds for this:|c\d+[ab]?\])"
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
    """A chunk below the line that says where it is from; a continued table has its header again.

    What leads into parts of it from elsewhere, and conditions from elsewhere, stand in marked lines.
    """
    section = " > ".join(chunk.heading_chain) or chunk.section
    header = f"{chunk.table_header}\n" if chunk.table_header else ""
    title, document, section = map(_line, (chunk.title, chunk.document_id, section))
    attribution = f'[Source: "{title}" (id: {document}), Section: "{section}"]'
    leading = [part for part in outside(chunk, chunk.context_before) if part.text != chunk.table_header]
    before = "".join(f"{BEFORE} {_on_one_line(part.text)}\n" for part in leading)
    after = "".join(f"{AFTER} {_on_one_line(part.text)}\n" for part in outside(chunk, chunk.context_after))
    return f"{attribution}\n{before}{_as_text(header + chunk.text)}\n{after}"


def lay_out(chunks: Sequence[Chunk], code: str) -> Material:
    """The chunks in the order given, each under its handle, between markers that carry `code`."""
    return lay_out_as({f"c{number}": chunk for number, chunk in enumerate(chunks, start=1)}, code)


def lay_out_as(handles: Mapping[str, Chunk], code: str) -> Material:
    """The same under these handles: a `c`, a number, and perhaps `a` or `b`."""
    parts = [f"[{handle}]\n{format_chunk(chunk)}" for handle, chunk in handles.items()]
    return Material(enclose(f"{RULE_LINE}\n".join(parts), code), handles)


def format_entry(chunk: Chunk) -> str:
    """What one chunk adds to a layout, never knowingly less: its text, its handle and a rule line."""
    return f"[c100]\n{format_chunk(chunk)}{RULE_LINE}\n"


def enclose(text: str, code: str, name: str = "documents") -> str:
    """Text, whole lines of it, as data between markers that carry `code` and say what it is."""
    return f"<<<{name} {code}\n{text}{name} {code}>>>\n"


def _as_text(text: str) -> str:
    """Text whose lines cannot be taken for our layout: look-alikes get a backslash in front."""
    return _LOOK_ALIKE.sub(lambda match: f"{match['blank']}\\", text)


def without_marks(quote: str) -> str:
    """A quote as the document has it, without the backslashes that look-alikes were shown with."""
    return _MARKED.sub(lambda match: match["blank"], quote)


def _line(text: str) -> str:
    """One line without quotation marks that could end the attribution."""
    return _on_one_line(text.replace('"', "'"))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
