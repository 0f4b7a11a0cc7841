"""The schema of a collection in the fake Weaviate, with the defaults that the real one fills in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""As a set of a pattern: what Go takes for white space, which is not all that Python does."""
SPACE = re.compile(f"[{SPACES}]+")
EDGES = re.compile(f"^[{SPACES}]+|[{SPACES}]+\\Z")
TYPES = ("text", "text[]", "uuid", "int", "int[]", "blob")
TEXTS = ("text", "text[]")

HNSW = {
    "bq": {"enabled": False},
    "cleanupIntervalSeconds": 300,
    "distance": "cosine",
    "dynamicEfFactor": 8,
    "dynamicEfMax": 500,
    "dynamicEfMin": 100,
    "ef": -1,
    "efConstruction": 128,
    "filterStrategy": "acorn",
    "flatSearchCutoff": 40000,
    "maxConnections": 32,
    "multivector": {"aggregation": "maxSim", "enabled": False, "muvera": {"enabled": False}},
    "pq": {"enabled": False},
    "rq": {"enabled": False},
    "skip": False,
    "sq": {"enabled": False},
    "vectorCacheMaxObjects": 1_000_000_000_000,
}
COLLECTION = {
    "description": "",
    "invertedIndexConfig": {
        "bm25": {"b": 0.75, "k1": 1.2},
        "cleanupIntervalSeconds": 60,
        "stopwords": {"additions": None, "preset": "en", "removals": None},
        "usingBlockMaxWAND": True,
    },
    "multiTenancyConfig": {"autoTenantActivation": False, "autoTenantCreation": False, "enabled": False},
    "properties": [],
    "replicationConfig": {"asyncEnabled": False, "deletionStrategy": "TimeBasedResolution", "factor": 1},
    "vectorConfig": {},
}


class Unsupported(Exception):
    """What the fake cannot do as the real server would: teach it, or do without."""


@dataclass(frozen=True)
class Property:
    name: str
    data_type: str
    tokenization: str
    """Empty for what is no text."""
    filterable: bool
    searchable: bool

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Property:
        """From a definition that is filled in."""
        (data_type,) = body["dataType"]
        tokenization = body.get("tokenization", "")
        if data_type not in TYPES:
            raise Unsupported(f"properties of type {data_type}")
        indexed = body["indexFilterable"], body["indexSearchable"]
        if data_type in TEXTS and any(indexed) and tokenization not in ("field", "whitespace"):
            raise Unsupported(f"an index of texts with tokenization {tokenization!r}")
        return cls(body["name"], data_type, tokenization, *indexed)

    def tokens(self, value: Any) -> list[str]:
        """Of a text or of texts."""
        texts = value if isinstance(value, list) else [value]
        if self.tokenization == "field":
            return [EDGES.sub("", text) for text in texts]
        return [token for text in texts for token in SPACE.split(text) if token]


def filled_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the server answers for a collection that was created with `body`."""
    definition = _merged(COLLECTION, body)
    if not definition["multiTenancyConfig"]["enabled"]:
        raise Unsupported("collections without tenants")
    if definition["invertedIndexConfig"]["bm25"] != {"b": 0.75, "k1": 1.2}:
        raise Unsupported("BM25 with other parameters")
    definition["properties"] = [_property(each) for each in definition["properties"]]
    definition["vectorConfig"] = {
        name: _vector(config) for name, config in definition["vectorConfig"].items()
    }
    return definition


def is_multi_vector(config: Mapping[str, Any]) -> bool:
    return config["vectorIndexConfig"]["multivector"]["enabled"]


def _property(body: Mapping[str, Any]) -> dict[str, Any]:
    is_text = body["dataType"][0] in TEXTS
    defaults = {
        "indexFilterable": True,
        "indexRangeFilters": False,
        "indexSearchable": is_text,
        **({"tokenization": "word"} if is_text else {}),
    }
    known = ("name", "dataType", "tokenization", "indexFilterable", "indexSearchable", "indexRangeFilters")
    return {**defaults, **{key: body[key] for key in known if key in body}}


def _vector(config: Mapping[str, Any]) -> dict[str, Any]:
    if config["vectorizer"] != {"none": {}} or config.get("vectorIndexType", "hnsw") != "hnsw":
        raise Unsupported(f"vectors of {config}")
    index = _merged(HNSW, config.get("vectorIndexConfig", {}))
    if index["distance"] != "cosine" or index["multivector"]["muvera"]["enabled"]:
        raise Unsupported(f"vectors of {config}")
    return {"vectorizer": {"none": {}}, "vectorIndexType": "hnsw", "vectorIndexConfig": index}


def _merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(defaults)
    for key, value in given.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
