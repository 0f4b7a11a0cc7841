"""The two indexes that are derived from the database, kept in step with its live versions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Set
from itertools import groupby

import numpy as np

from corpus.documents import DocumentId
from services.retrieval.store.embedded.codes import CodeTable, decode
from services.retrieval.store.embedded.database import Database
from services.retrieval.store.embedded.keywords import Entry, KeywordIndex
from services.retrieval.store.embedded.view import View

CHUNKS_OF_VERSIONS = """
    SELECT c.number, c.version, c.heading_chain, c.table_header, c.stems, c.source, v.document_id
    FROM chunks c JOIN versions v ON v.number = c.version
    WHERE c.version IN (SELECT value FROM json_each(?))
"""
CHUNK_COUNTS = """
    SELECT version, count(*) AS chunks FROM chunks
    WHERE version IN (SELECT value FROM json_each(?)) GROUP BY version
"""
CODES_OF_VERSIONS = """
    SELECT k.version, k.chunk, k.data FROM chunks c JOIN codes k ON k.chunk = c.number
    WHERE c.version IN (SELECT value FROM json_each(?)) ORDER BY k.version, k.chunk
"""
CODES_OF_LIVE_VERSIONS = """
    SELECT k.version, k.chunk, k.data FROM codes k JOIN versions v ON v.number = k.version WHERE v.live
    ORDER BY k.version, k.chunk
"""


class Derived:
    """The keyword index on disk and the codes in memory. One thread changes them."""

    def __init__(self, database: Database, keywords: KeywordIndex, dimension: int, live: Set[int]) -> None:
        """Bring both to hold all `live` versions, whatever became of the keyword index."""
        self._database = database
        self._keywords = keywords
        self._dimension = dimension
        self._codes = CodeTable.empty(dimension)
        with database.reading() as connection:
            self._add_codes(connection.execute(CODES_OF_LIVE_VERSIONS))
        self._chunk_counts = keywords.searcher().versions()
        self.include(live, live)
        # Chunks are numbered on from where a back-up was made: what came after it then must not be found.
        if left := self._chunk_counts.keys() - live:
            self.drop(left)

    def include(self, versions: Set[int], live: Set[int]) -> None:
        """Hold `versions` as well, on disk when it returns. What is neither among them nor `live` may go."""
        missing = [version for version in versions if version not in self._chunk_counts]
        if missing:
            self._update(missing, self._chunk_counts.keys() - versions - live)
        unknown = [version for version in versions if version not in self._codes.places]
        with self._database.reading() as connection:
            self._add_codes(connection.execute(CODES_OF_VERSIONS, (json.dumps(unknown),)))

    def view(self, revision: str, live: Set[int]) -> View:
        """How readers see both when these versions are live; `include` came before. Changes nothing."""
        stale = self._chunk_counts.keys() - live
        count = sum(self._chunk_counts[version] for version in stale)
        codes = self._codes.minus(self._codes.places.keys() - live)
        return View(revision, self._keywords.searcher(), frozenset(stale), count, codes)

    def adopt(self, view: View) -> None:
        """Forget the codes that a view does without, once it is the newest for good."""
        self._codes = view.codes

    def drop(self, versions: Set[int]) -> None:
        """Take versions out of the keyword index; without it that waits for the next `include`."""
        self._update([], versions)

    def _update(self, added: list[int], dropped: Set[int]) -> None:
        with self._database.reading() as connection:
            rows = connection.execute(CHUNKS_OF_VERSIONS, (json.dumps(added),))
            self._keywords.update((_entry(row) for row in rows), dropped)
            counts = connection.execute(CHUNK_COUNTS, (json.dumps(added),))
            kept = {version: self._chunk_counts[version] for version in self._chunk_counts.keys() - dropped}
            self._chunk_counts = kept | {row["version"]: row["chunks"] for row in counts}

    def _add_codes(self, found: Iterable[sqlite3.Row]) -> None:
        for version, rows in groupby(found, key=lambda row: int(row["version"])):
            blobs = [(row["chunk"], decode(row["data"], self._dimension)) for row in rows]
            chunks = np.repeat([chunk for chunk, _ in blobs], [len(code) for _, code in blobs])
            self._codes = self._codes.plus(version, chunks, np.concatenate([code for _, code in blobs]))


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        chunk=row["number"],
        version=row["version"],
        source=row["source"],
        document_id=DocumentId(row["document_id"]),
        heading="\n".join([*json.loads(row["heading_chain"]), row["table_header"]]),
        stems=row["stems"],
    )
