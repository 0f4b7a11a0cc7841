"""Tells how large the index is."""

from __future__ import annotations

from chassis.telemetry import gauge
from services.retrieval.store.port import IndexCounts

_documents = gauge(__name__, "clausegate.index.documents", "Documents that can be found.", "{document}")
_chunks = gauge(__name__, "clausegate.index.chunks", "Chunks of them.", "{chunk}")
_windows = gauge(__name__, "clausegate.index.windows", "Windows of them, each with a vector.", "{window}")


class IndexSize:
    """The size of one tenant's index. Tenants are told together: there may be any number of them."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._told = IndexCounts(0, 0, 0, 0)

    def tell(self, counts: IndexCounts) -> None:
        """It is so large now."""
        _documents.add(counts.documents - self._told.documents)
        _chunks.add(counts.chunks - self._told.chunks)
        _windows.add(counts.windows - self._told.windows)
        self._told = counts
