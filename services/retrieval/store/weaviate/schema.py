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
from weaviate.collections.classes.config_vectors import _VectorConfigCreate

from services.retrieval.store.weaviate.keys import ORDER_KEY

LAYOUT = 1
"""Changes with what the collections hold and mean, with `stems_of` among it."""
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
        """Suffix of the names of its collections."""
        digest = hashlib.sha256(f"{self.model}\n{self.dimension}".encode()).hexdigest()
        return f"{self.layout}_{digest[:8]}"

    def __str__(self) -> str:
        """For messages that are about models."""
        return f"{self.model} ({self.dimension} dimensions)"

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
    def closed(self) -> str:
        """An alias of a current index that takes no more writes: another is about to take its place."""
        return f"{self.prefix}Closed"

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


def _unindexed(name: str, data_type: DataType = DataType.TEXT) -> Property:
    # Only a text may have, or not have, an index of words.
    searchable = False if data_type in (DataType.TEXT, DataType.TEXT_ARRAY) else None
    return Property(name=name, data_type=data_type, index_filterable=False, index_searchable=searchable)


def _ordered(name: str) -> Property:
    return Property(
        name=name, data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False
    )


# Names that end in `_key` hold `keys.key_of` what they name; a `record` is a value that is only read back.
CHUNK_PROPERTIES = [
    _unindexed("chunk_id"),
    _unindexed("document_id"),
    _unindexed("generation"),
    Property(name="document_key", data_type=DataType.UUID),
    Property(name="version_key", data_type=DataType.UUID),
    Property(name="source_key", data_type=DataType.UUID),
    Property(name="ordinal", data_type=DataType.INT, index_range_filters=True),
    Property(name="window_count", data_type=DataType.INT),
    # What `objects.keywords` makes: one property, so that BM25 counts it all and keeps to the best of it. Of
    # several, Weaviate adds up what is among the best of each, and gives a stem one idf for all of them.
    Property(
        name="stems",
        data_type=DataType.TEXT,
        tokenization=Tokenization.WHITESPACE,
        index_filterable=True,
        index_searchable=True,
    ),
    _unindexed("windows", DataType.INT_ARRAY),
    _unindexed("record"),
]
DEFINITION_PROPERTIES = [
    _ordered(ORDER_KEY),
    Property(name="document_key", data_type=DataType.UUID),
    Property(name="version_key", data_type=DataType.UUID),
    Property(name="source_key", data_type=DataType.UUID),
    Property(name="term_key", data_type=DataType.UUID),
    _unindexed("folded_term"),
    _unindexed("record"),
]
DOCUMENT_PROPERTIES = [
    _ordered(ORDER_KEY),
    _unindexed("document_id"),
    _unindexed("generation"),
    Property(name="document_key", data_type=DataType.UUID),
    Property(name="source_key", data_type=DataType.UUID),
    Property(name="source", data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False),
    *(
        Property(name=name, data_type=DataType.INT)
        for name in ("chunk_count", "window_count", "definition_count", "page_count", "unreadable_count")
    ),
    _unindexed("folded_terms", DataType.TEXT_ARRAY),
    _unindexed("indexed_at"),
    _unindexed("record"),
]
STAGED_PROPERTIES = [_unindexed("document_id"), Property(name="document_key", data_type=DataType.UUID)]
STATE_PROPERTIES = [_unindexed("revision")]
PROJECT_PROPERTIES = [_ordered(ORDER_KEY), _unindexed("fields")]
ARTICLE_PROPERTIES = [
    *PROJECT_PROPERTIES,
    Property(name="title_key", data_type=DataType.UUID),
    # In base64.
    _unindexed("record"),
    _unindexed("body"),
]


def collections(names: Names) -> dict[str, list[Property]]:
    """The properties of every collection, by name; the chunks, which the alias points to, come last."""
    return {
        names.projects: PROJECT_PROPERTIES,
        names.articles: ARTICLE_PROPERTIES,
        names.state: STATE_PROPERTIES,
        names.staged: STAGED_PROPERTIES,
        names.documents: DOCUMENT_PROPERTIES,
        names.definitions: DEFINITION_PROPERTIES,
        names.chunks: CHUNK_PROPERTIES,
    }


def windows_vector(quantization: str) -> _VectorConfigCreate:
    """The configuration of the vectors of chunks."""
    quantizers = Configure.VectorIndex.Quantizer
    rq8 = quantizers.rq(bits=8, rescore_limit=RESCORE_LIMIT)
    vector: _VectorConfigCreate = Configure.MultiVectors.self_provided(
        name=WINDOWS,
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.COSINE,
            # Said outright: a server may have a default of its own.
            quantizer=rq8 if quantization == "rq8" else quantizers.none(),
        ),
    )
    return vector
