"""A tantivy index of stems. It can be made anew at any time from what the database holds.

tantivy only ever sees stems that `stems_of` made, split at spaces, in texts and in questions: there is
no query language to escape from, and both sides agree by construction.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import tantivy
from tantivy import Occur, Query

from corpus.documents import DocumentId
from corpus.stems import stems_of
from services.retrieval.corpus import Scope

LAYOUT = "keywords-1"
"""Name of the index's folder; another layout gets another folder."""
FIELDS = ("heading", "text")
"""BM25 is summed over both, unweighted: on contracts a weight of 1, 2 or 4 makes no difference."""
K1_PLUS_1 = 2.2
"""tantivy's BM25 (k1 1.2, b .75) carries this factor; the port's does not."""
WRITER_BYTES = 15_000_000
"""The least that tantivy takes; one thread."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk as it is indexed."""

    chunk: int
    version: int
    source: str
    document_id: DocumentId
    heading: str
    """Heading chain and table header."""
    stems: str
    """Stems of the text, separated by spaces."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """The index at one moment; commits that follow do not change it."""

    schema: tantivy.Schema
    searcher: tantivy.Searcher

    def hits(self, wanted: Sequence[str], limit: int, scope: Scope) -> list[tuple[int, float]]:
        """At most `limit` numbers of chunks with their BM25, best first; `limit` is at least 1."""
        if not wanted or not self.searcher.num_docs:
            return []
        # Flat, and without boosts: tantivy then skips what cannot reach the best (block-max WAND).
        terms = [(Occur.Should, self._term(field, stem)) for stem in wanted for field in FIELDS]
        any_stem = Query.boolean_query(terms)
        found = self._search(self._within(any_stem, scope), limit)
        numbers = self._values("chunk", [address for _, address in found])
        return [(number, score / K1_PLUS_1) for number, (score, _) in zip(numbers, found, strict=True)]

    def count(self, wanted: Sequence[str], scope: Scope, without_versions: Collection[int]) -> int:
        """Chunks that hold all stems, in either field."""
        if not wanted or not self.searcher.num_docs:
            return 0
        clauses = [(Occur.Must, self._either_field(stem)) for stem in wanted]
        clauses += [(Occur.MustNot, self._term("version", version)) for version in without_versions]
        query = self._within(Query.boolean_query(clauses), scope)
        with _broken_is_os_error():
            found = self.searcher.search(query, 1, count=True)
        return int(found.count)  # type: ignore[attr-defined]  # missing in tantivy's stubs

    def versions(self) -> dict[int, int]:
        """The versions in the index and the chunks of each."""
        limit = max(self.searcher.num_docs, 1)
        found = self._search(Query.all_query(), limit)
        return Counter(self._values("version", [address for _, address in found]))

    def _search(self, query: Query, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        with _broken_is_os_error():
            return self.searcher.search(query, limit, count=False).hits

    def _values(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return cast("list[int]", self.searcher.fast_field_values(field, addresses))

    def _either_field(self, stem: str) -> Query:
        return Query.boolean_query([(Occur.Should, self._term(field, stem)) for field in FIELDS])

    def _within(self, query: Query, scope: Scope) -> Query:
        filters = [("source", scope.sources), ("document", scope.document_ids)]
        clauses = [
            (Occur.Must, Query.const_score_query(Query.term_set_query(self.schema, field, list(values)), 0.0))
            for field, values in filters
            if values
        ]
        return Query.boolean_query([(Occur.Must, query), *clauses]) if clauses else query

    def _term(self, field: str, value: str | int) -> Query:
        return Query.term_query(self.schema, field, value)


class KeywordIndex:
    """The index on disk. One thread writes; searchers may be taken and used by any."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`, or make it when it is missing, of another layout or broken."""
        place = folder / LAYOUT
        for other in folder.glob("keywords-*"):
            if other != place:
                shutil.rmtree(other)
        place.mkdir(exist_ok=True)
        self._schema = _schema()
        try:
            self._index = tantivy.Index(self._schema, path=str(place))
            self.searcher().hits(["any"], 1, Scope())  # opens every file that a search reads
        except (ValueError, OSError):
            shutil.rmtree(place)
            place.mkdir()
            self._index = tantivy.Index(self._schema, path=str(place))

    def searcher(self) -> Searcher:
        """The index as of the last `update`."""
        return Searcher(self._schema, self._index.searcher())

    def update(self, entries: Iterable[Entry], without_versions: Iterable[int]) -> None:
        """Drop versions and add entries in one step, on disk when it returns: about 60 ms, mostly fsync.

        The writer lives no longer than the update: opening one takes half a millisecond, keeping one takes a
        thread and a buffer for each tenant.
        """
        with _broken_is_os_error():
            writer = self._index.writer(WRITER_BYTES, 1)
            for version in without_versions:
                # By query: `delete_documents_by_term` finds no number (tantivy 0.27.0).
                writer.delete_documents_by_query(Query.term_query(self._schema, "version", version))
            for entry in entries:
                writer.add_document(_document(entry))
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()


@contextmanager
def _broken_is_os_error() -> Iterator[None]:
    """tantivy says `ValueError` of a full disk, too, and of files that were cut or are gone."""
    try:
        yield
    except ValueError as error:
        raise OSError(str(error)) from error


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk", fast=True)
    builder.add_unsigned_field("version", indexed=True, fast=True)
    for name in ("source", "document"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _document(entry: Entry) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("chunk", entry.chunk)
    document.add_unsigned("version", entry.version)
    document.add_text("source", entry.source)
    document.add_text("document", entry.document_id)
    document.add_text("heading", " ".join(stems_of(entry.heading)))
    document.add_text("text", entry.stems)
    return document
