"""Lays out what a model is shown: chunks as data between markers that no document can hold (N-9).

The markers carry a random code of the request, so that text of a document can neither end its block nor begin
another; lines that only look like our layout are marked as text. Chunks are named by handles (`c1`, `c2`, …),
which mean nothing outside the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chassis.errors import Precondition
from services.answer.corpus import Chunk
from services.answer.verification.quotes import find_quote

RULE_LINE = "---"
SAMPLE_CODE = "0123456789abcdef"
"""Stands for a random code where tokens are counted."""
CODE_TOKENS = 2 * len(SAMPLE_CODE)
"""What the two codes of a layout may take at most; some digits make longer tokens than others."""
_LOOK_ALIKE = re.compile(
    r"^(?P<blank>[^\S\n]*)(?=<<<|>>>|\[Source:|\[c\d+[ab]?\]|---\s*$)", re.MULTILINE | re.IGNORECASE
)


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
        """The words of the chunk that a model quotes, as they stand there; None unless they do."""
        chunk = self.handles.get(handle)
        match = find_quote(chunk.text, quote) if chunk else None
        return chunk.text[match.span.start : match.span.end] if chunk and match else None


def format_chunk(chunk: Chunk) -> str:
    """A chunk below the line that says where it is from; a continued table has its header again."""
    section = " > ".join(chunk.heading_chain) or chunk.section
    header = f"{chunk.table_header}\n" if chunk.table_header else ""
    attribution = f'[Source: "{_line(chunk.title)}" (id: {chunk.document_id}), Section: "{_line(section)}"]'
    return f"{attribution}\n{_as_text(header + chunk.text)}\n"


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
    """Text whose lines cannot be taken for our layout: look-alikes get a backslash in front.

    Words behind one cannot be quoted from the model's view of them; nothing of a contract looks like this.
    """
    return _LOOK_ALIKE.sub(lambda match: f"{match['blank']}\\", text)


def _line(text: str) -> str:
    """One line without quotation marks that could end the attribution."""
    return " ".join(text.replace('"', "'").split())
