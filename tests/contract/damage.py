"""Changes a word of what an index holds, behind its back: in the file, or in the fake of Weaviate."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract.store import weaviate_server
from tests.fakes.weaviate_server import WeaviateServer

ChangeWord = Callable[[str, str, str], None]
"""Puts another word in the place of one, given last and second, in all things of a kind, given first."""
COLUMNS = {
    "chunk": ("chunks", "text"),
    "definition": ("definitions", "text"),
    "document": ("versions", "content_sha256"),
    "article": ("articles", "record"),
    "article body": ("articles", "body"),
}
PROPERTIES = {
    "chunk": ("Chunk_", "record"),
    "definition": ("Definition_", "record"),
    "document": ("Document_", "record"),
    "article": ("Article", "record"),
    "article body": ("Article", "body"),
}


@contextmanager
def files(folder: Path) -> Iterator[tuple[dict[str, Any], ChangeWord]]:
    """Settings of a store of files in `folder`, and what changes a word in it."""
    yield {}, partial(_change_file, folder / "index" / "default" / "store.sqlite")


@contextmanager
def objects(_folder: Path) -> Iterator[tuple[dict[str, Any], ChangeWord]]:
    """The same of a Weaviate of its own."""
    with WeaviateServer() as server:
        where = {"weaviate_url": server.url, "weaviate_grpc_url": server.grpc_url}
        yield {"store": "weaviate", **where, **weaviate_server.PATIENT}, partial(_change_objects, server)


STORES = [pytest.param(files, id="embedded"), pytest.param(objects, id="weaviate-fake")]


def _change_file(file: Path, kind: str, old: str, new: str) -> None:
    table, column = COLUMNS[kind]
    with closing(sqlite3.connect(file)) as database, database:
        rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        changed = [(_changed(value, old, new), rowid) for rowid, value in rows if _says(value, old)]
        assert changed, f"no {kind} says {old}"
        database.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changed)


def _change_objects(server: WeaviateServer, kind: str, old: str, new: str) -> None:
    part_of_name, name = PROPERTIES[kind]
    coded = kind == "article"
    changed = 0
    for collection in server.database.collections.values():
        for tenant in collection.tenants.values() if part_of_name in collection.name else ():
            for uuid, stored in tenant.objects.items():
                value = stored.properties[name]
                read = base64.b64decode(value) if coded else value
                if _says(read, old):
                    written = _changed(read, old, new)
                    said = base64.b64encode(written).decode() if coded else written
                    tenant.objects[uuid] = replace(stored, properties={**stored.properties, name: said})
                    changed += 1
    assert changed, f"no {kind} says {old}"


def _says(value: Any, word: str) -> bool:
    return (word.encode() if isinstance(value, bytes) else word) in value


def _changed(value: Any, old: str, new: str) -> Any:
    return value.replace(old.encode(), new.encode()) if isinstance(value, bytes) else value.replace(old, new)
