"""What is kept where in Weaviate: the collections, and which of them are the index of now.

An index is a set of collections whose names end in what it was made with (layout, embedding model,
dimension). One alias says which set is current, so that a new one can be filled beside it and take its place
in one step; a process works on the set of its own model alone. Every collection has native tenants.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Self

from weaviate.collections.classes.config import Configure, DataType, Property, Tokenization, VectorDistances

from services.retrieval.store.weaviate.keys import ORDER_KEY

LAYOUT = 1
"""Changes with what the collections hold and mean, with `tokens.stems` among it."""
WINDOWS = "windows"
"""Name of the vector: a row for each window of a chunk."""
RESCORE_LIMIT = 40
"""Windows that are scored exactly after quantised ones were ranked."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an index was made with; kept in the description of its collection of chunks."""

    layout: int
    model: str
    dimension: int

    @property
    def suffix(self) -> str:
        """Of the names of its collections."""
        digest = hashlib.sha256(f"{self.model}\n{self.dimension}".encode()).hexdigest()
        return f"{self.layout}_{digest[:8]}"

    def to_json(self) -> str:
        """For people and `from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises `ValueError`, `KeyError` or `TypeError` for what `to_json` did not make."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Names:
    """The collections of one index, and those that outlive it."""

    prefix: str
    identity: Identity

    @property
    def current(self) -> str:
        """The alias; its target is the collection of chunks of the current index."""
        return f"{self.prefix}Index"

    @property
    def chunks(self) -> str:
        """An object a chunk, live or not, with its windows as vectors."""
        return self._of_index("Chunk")

    @property
    def definitions(self) -> str:
        """An object a definition, live or not."""
        return self._of_index("Definition")

    @property
    def documents(self) -> str:
        """An object a live document; its generation says which chunks and definitions are live."""
        return self._of_index("Document")

    @property
    def staged(self) -> str:
        """An object a version that was begun, until nothing but live chunks of its document is stored."""
        return self._of_index("Staged")

    @property
    def state(self) -> str:
        """One object: the revision."""
        return self._of_index("State")

    @property
    def projects(self) -> str:
        """An object a project."""
        return f"{self.prefix}Project"

    @property
    def articles(self) -> str:
        """An object an article."""
        return f"{self.prefix}Article"

    def _of_index(self, kind: str) -> str:
        return f"{self.prefix}{kind}_{self.identity.suffix}"


@dataclass(frozen=True, slots=True)
class Storage:
    """How new collections are kept; an existing one stays as it is."""

    replicas: int
    quantization: str
    """`rq8` or `none`."""


# Keys are UUIDs of names (`objects`): compared whole, whatever characters a name has.
CHUNK_PROPERTIES = [
    Property(name="chunk_id", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    Property(name="document_id", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    Property(name="generation", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    Property(name="document_key", data_type=DataType.UUID),
    Property(name="version_key", data_type=DataType.UUID),
    Property(name="source_key", data_type=DataType.UUID),
    Property(name="ordinal", data_type=DataType.INT, index_range_filters=True),
    Property(name="window_count", data_type=DataType.INT),
    # What `tokens.stems` makes of the text, and of heading chain and table header, split at spaces.
    Property(name="stems", data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE),
    Property(name="heading_stems", data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE),
    Property(name="windows", data_type=DataType.INT_ARRAY, index_filterable=False),
    Property(name="record", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
]

PROJECT_PROPERTIES = [
    Property(
        name=ORDER_KEY, data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False
    ),
    Property(name="fields", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
]
ARTICLE_PROPERTIES = [
    *PROJECT_PROPERTIES,
    Property(name="title_key", data_type=DataType.UUID),
    # In base64.
    Property(name="record", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    Property(name="body", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
]


def windows_vector(quantization: str) -> object:
    """The configuration of the vectors of chunks."""
    quantizer = Configure.VectorIndex.Quantizer.rq(bits=8, rescore_limit=RESCORE_LIMIT)
    return Configure.MultiVectors.self_provided(
        name=WINDOWS,
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.COSINE,
            quantizer=quantizer if quantization == "rq8" else None,
        ),
    )
