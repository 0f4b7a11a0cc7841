"""Copies what a stack with the embedded store keeps, while it runs: `python deploy/backup.py DATA FOLDER`.

FOLDER, which must not exist, becomes a data folder to start the product over. With Weaviate it copies what is
not there: originals and logs; the index has a backup of its own (`docs/operations.md`).

Originals are copied before and after the index, so that those of all its documents are there even when
documents are replaced meanwhile. The keyword index is left out: it is made again from the rest at start.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path


def main() -> None:
    """Copy the folder named first to the one named second."""
    if len(sys.argv) != 3:
        sys.exit("usage: python deploy/backup.py DATA FOLDER")
    data, folder = Path(sys.argv[1]), Path(sys.argv[2])
    if not data.is_dir():
        sys.exit(f"error: {data} is no data folder")
    if folder.exists():
        sys.exit(f"error: {folder} exists")
    copy_files(data, folder, "archive/*/originals/*/*")
    copy_databases(data, folder, "index/*/store.sqlite")
    copy_files(data, folder, "archive/*/originals/*/*")
    copy_databases(data, folder, "archive/*/references.sqlite")
    copy_files(data, folder, "logs/*")


def copy_files(data: Path, folder: Path, pattern: str) -> None:
    """Copy the files that were not copied yet; one that vanishes first was not needed any more."""
    for file in data.glob(pattern):
        copy = folder / file.relative_to(data)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            try:
                shutil.copy2(file, copy)
            except FileNotFoundError:
                continue


def copy_databases(data: Path, folder: Path, pattern: str) -> None:
    """Copy SQLite files as they are at one moment, whoever writes them meanwhile."""
    for file in data.glob(pattern):
        copy = folder / file.relative_to(data)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))


if __name__ == "__main__":
    main()
