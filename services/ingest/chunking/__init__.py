"""Cuts an extracted document into chunks: whole sentences and rows of one place, small enough to cite.

No chunk runs over the beginning of a section of the first level, but in plain text (`divisions`). Within one
it ends where that reads best near the target length (`packing`), so that small sections share a chunk and
large ones are cut.
Its heading chain is that of its own text, after the sentences repeated from the chunk before: what is above
all sections that share the chunk, and then their headings, joined by `; `. Mere numbers (`1.4` of a list of
definitions) are left out of that.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from os.path import commonprefix

from corpus.chunks import Chunk, ContextPart, TextDoubt, TextDoubtKind
from corpus.documents import DocumentId, Generation, Version
from corpus.ids import chunk_id_of
from corpus.layout import PlacedLine, cut_lines, encode
from corpus.spans import PageSpan, SectionSpan, Span, has_words
from services.ingest import headings, terms
from services.ingest.chunking import lists, packing
from services.ingest.chunking.divisions import divide
from services.ingest.chunking.governing import Contexts
from services.ingest.chunking.units import Unit, dissect
from services.ingest.documents import ExtractedDocument, Page
from services.ingest.parsing.invisible import readable

CHUNKER_VERSION = "9"
"""Goes into the generation: raise it with every change that moves a boundary, a heading or a definition."""

BETWEEN = "; "
"""Stands between the headings of sections that share a chunk."""
_LONGEST_TITLE = 500
"""Characters; nothing longer is a title, and it is repeated with every chunk."""
_OPENING = 500
"""Characters of a chunk in which the word makes it a definitions chunk."""
_DEFINING_ENTRIES = 2
"""Defining lines that make a definitions chunk."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose text is cut: what chunks and definitions repeat about their document."""

    document_id: DocumentId
    source: str
    path: str
    """Path below the source, with `/` between its parts."""
    generation: Generation
    file_name: str
    """The last part of `path`, extension included."""

    @property
    def version(self) -> Version:
        """The version of the document that is made of it."""
        return Version(self.document_id, self.generation)


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """How long chunks are, in words split at white space; the defaults are measured."""

    target_words: int = 300
    """The aim; a chunk ends at the best boundary near it."""
    max_words: int = 400
    """Never exceeded."""
    min_words: int = 50
    """A shorter chunk joins its neighbour where the maximum allows it."""
    overlap_sentences: int = 2
    """Sentences repeated from the chunk before, never across the start of a section."""


def title_of(document: ExtractedDocument, path: str) -> str:
    """Return the document's own title, else its first heading, else the file's name; one line."""
    markup = (
        document.text[block.span.start : block.span.end]
        for block in document.blocks
        if headings.is_heading(block)
    )
    for title in (document.title or "", *markup):
        words = " ".join(readable(title)[0].split())
        if 0 < len(words) <= _LONGEST_TITLE:
            return words
    return path.rsplit("/", 1)[-1]


def pages_of(span: Span, pages: Sequence[Page]) -> tuple[PageSpan, ...]:
    """Return the parts of `span` on each of `pages`, ascending; empty parts are left out."""
    first = bisect_right(pages, span.start, key=lambda page: page.span.end)
    last = bisect_left(pages, span.end, key=lambda page: page.span.start)
    parts = (
        (page.number, max(span.start, page.span.start), min(span.end, page.span.end))
        for page in pages[first:last]
    )
    return tuple(PageSpan(number, Span(start, end)) for number, start, end in parts if start < end)


def sha256_of(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def cut(document: ExtractedDocument, origin: Origin, limits: ChunkLimits) -> tuple[Chunk, ...]:
    """Return the chunks of `document` in reading order; none when it holds no words.

    They own every sentence and table row of the document once, and none exceeds `limits.max_words`.
    """
    found = headings.find(document)
    units = dissect(document, found, limits.max_words)
    entries = terms.find(document.text, document.blocks, [unit.span for unit in units])
    sizes = packing.Sizes(limits.target_words, limits.max_words, limits.min_words, limits.overlap_sentences)
    appeals = packing.appeals(units, found, *_entry_units(units, entries))
    divisions = divide(document, units, found, limits.min_words)
    ranges = packing.pack_divisions(units, appeals, divisions, sizes)
    contexts = Contexts(lists.find(document.text, units), len(units))
    writer = _Writer(document, origin, found, [entry.span.start for entry in entries], contexts)
    return tuple(writer.chunk(units, place, ordinal, len(ranges)) for ordinal, place in enumerate(ranges))


def _entry_units(units: Sequence[Unit], entries: Sequence[terms.Entry]) -> tuple[set[int], set[int]]:
    """Indices of the units that begin a definition, and of those that continue one."""
    starts = [unit.span.start for unit in units]
    first = {bisect_right(starts, entry.span.start) - 1 for entry in entries}
    inside: set[int] = set()
    for entry in entries:
        inside.update(range(bisect_right(starts, entry.span.start), bisect_left(starts, entry.span.end)))
    return first, inside


def _start(doubt: TextDoubt) -> tuple[int, int, str]:
    return doubt.span.start, doubt.span.end, doubt.kind


class _Writer:
    """Writes the chunks of one document."""

    def __init__(
        self,
        document: ExtractedDocument,
        origin: Origin,
        found: Sequence[headings.Heading],
        entry_starts: Sequence[int],
        contexts: Contexts,
    ) -> None:
        self._document = document
        self._origin = origin
        self._headings = found
        self._entry_starts = entry_starts
        self._contexts = contexts
        self._title = title_of(document, origin.path)
        self._doubts_by_kind = {
            kind: sorted((doubt for doubt in document.doubts if doubt.kind is kind), key=_start)
            for kind in TextDoubtKind
        }

    def chunk(self, units: Sequence[Unit], place: packing.Range, ordinal: int, count: int) -> Chunk:
        origin = self._origin
        own = units[place.own]
        span = Span(units[place.first].span.start, units[place.end - 1].span.end)
        text = self._document.text[span.start : span.end]
        chain = self._chain([unit.section for unit in units[place.own : place.end]])
        before, after = self._context(units, place)
        told = {span, *(part.span for part in (*before, *after) if part.span not in span)}
        return Chunk(
            chunk_id=chunk_id_of(origin.version, ordinal),
            alias=f"{origin.source}__{origin.path}_{ordinal}",
            document_id=origin.document_id,
            source=origin.source,
            title=self._title,
            heading_chain=chain,
            section=chain[-1] if chain else f"Section {ordinal + 1} of {count}",
            text=text,
            word_count=len(text.split()),
            span=span,
            sentences=tuple(unit.span for unit in units[place.first : place.end]),
            sections=self._sections(units[place.first : place.end]),
            pages=pages_of(span, self._document.pages),
            table_header=self._header_above(own),
            content_sha256=sha256_of(text),
            is_definitions=self._defines(span, text),
            ordinal=ordinal,
            generation=origin.generation,
            context_before=before,
            context_after=after,
            doubts=self._doubts(told),
            layout=encode(self._lines(told)),
        )

    def _context(
        self, units: Sequence[Unit], place: packing.Range
    ) -> tuple[tuple[ContextPart, ...], tuple[ContextPart, ...]]:
        """What leads into the lists of a chunk and heads its tables, and conditions below them."""
        parts: dict[bool, list[ContextPart]] = {False: [], True: []}
        for governing, first, last in self._contexts.within(place.first, place.end):
            governs = Span(units[first].span.start, units[last].span.end)
            parts[governing.is_condition].append(self._part(governing.span, governs))
        rows = units[place.first : place.end]
        return (*self._headers(rows), *self._cells_above(rows), *parts[False]), tuple(parts[True])

    def _chain(self, sections: Iterable[int]) -> tuple[str, ...]:
        """The headings of a chunk whose own text lies in `sections`: what is above all, then of each."""
        shared = [self._headings[section] for section in dict.fromkeys(sections) if section >= 0]
        if len(shared) < 2:
            return shared[0].chain if shared else ()
        chains = [heading.chain for heading in shared]
        above = commonprefix(chains)  # noqa: RUF071 - of tuples it compares the entries
        below = dict.fromkeys(name for chain in chains for name in chain[len(above) :] if has_words(name))
        return (*above, BETWEEN.join(below)) if below else tuple(above) or shared[0].chain

    def _sections(self, units: Sequence[Unit]) -> tuple[SectionSpan, ...]:
        runs = [next(run) for _, run in groupby(units, key=lambda unit: unit.section)]
        ends = [unit.span.start for unit in runs[1:]] + [units[-1].span.end]
        return tuple(
            SectionSpan(self._chain([unit.section]), Span(unit.span.start, end))
            for unit, end in zip(runs, ends, strict=True)
        )

    def _doubts(self, spans: Iterable[Span]) -> tuple[TextDoubt, ...]:
        """What is in doubt of `spans`, in order."""
        found = {
            TextDoubt(doubt.span.cut(span), doubt.kind)
            for span in spans
            for doubts in self._doubts_by_kind.values()
            for doubt in doubts[
                bisect_right(doubts, span.start, key=lambda doubt: doubt.span.end) : bisect_left(
                    doubts, span.end, key=lambda doubt: doubt.span.start
                )
            ]
        }
        return tuple(sorted(found, key=_start))

    def _lines(self, spans: Iterable[Span]) -> Iterator[PlacedLine]:
        """Where the words at these spans stand, in the order of the text, no word twice."""
        lines, known = self._document.lines, 0
        for span in sorted(spans, key=lambda span: span.start):
            start = max(known, span.start)
            first = bisect_right(lines, start, key=lambda line: line.words[-1].end)
            last = bisect_left(lines, span.end, key=lambda line: line.words[0].start)
            yield from cut_lines(lines[first:last], Span(start, span.end))
            known = max(known, span.end)

    def _headers(self, units: Sequence[Unit]) -> tuple[ContextPart, ...]:
        """The header row of every table that the chunk holds rows of, wherever it stands."""
        return tuple(
            self._part(header, Span(rows[0].span.start, rows[-1].span.end))
            for header, run in groupby(units, key=lambda unit: unit.header)
            if header is not None and (rows := list(run))
        )

    def _cells_above(self, units: Sequence[Unit]) -> Iterator[ContextPart]:
        """The cells above that rows of the chunk belong to, wherever they stand."""
        rows: dict[Span, list[Unit]] = {}
        for unit in units:
            for cell in unit.cells_above:
                rows.setdefault(cell, []).append(unit)
        for cell, belonging in rows.items():
            yield self._part(cell, Span(belonging[0].span.start, belonging[-1].span.end))

    def _part(self, span: Span, governs: Span) -> ContextPart:
        text = self._document.text[span.start : span.end]
        return ContextPart(span, text, governs, pages_of(span, self._document.pages))

    def _header_above(self, own: Unit) -> str:
        return self._document.text[own.header.start : own.header.end] if own.header else ""

    def _defines(self, span: Span, text: str) -> bool:
        opening = text[:_OPENING].lower()
        first = bisect_left(self._entry_starts, span.start)
        lines = set(self._entry_starts[first : bisect_left(self._entry_starts, span.end)])
        return "definition" in opening or "defined term" in opening or len(lines) >= _DEFINING_ENTRIES
