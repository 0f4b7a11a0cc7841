"""Copies what a stack with the embedded store keeps, while it runs: `python deploy/backup.py DATA FOLDER`.

FOLDER, which must not exist, becomes a data folder to start the product over. With Weaviate it copies what is
not there: originals and logs; the index has a backup of its own (`docs/operations.md`).

Originals are copied before and after the index, so that those of all its documents are there even when
documents are replaced meanwhile; logs so that the audit chain of the copy is whole. The keyword index is left
out: it is made again from the rest at start.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import ExitStack, closing
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
    while not copy_logs(data / "logs", folder / "logs"):
        pass


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


def copy_logs(logs: Path, folder: Path) -> bool:
    """Copy the logs as they are at one moment; False, and nothing copied, when files were rotated just then.

    The head of the audit chain is read first: what is written after that is in the chain, and no trouble.
    """
    before = names(logs)
    heads = {file: file.read_bytes() for file in before if file.suffix == ".head"}
    with ExitStack() as opened:
        try:
            files = {file: opened.enter_context(file.open("rb")) for file in before if file not in heads}
        except FileNotFoundError:
            return False
        if names(logs) != before:
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in heads.items():
            (folder / file.name).write_bytes(content)
        for file, source in files.items():
            with (folder / file.name).open("wb") as copy:
                shutil.copyfileobj(source, copy)
        for file in before:
            (folder / file.name).chmod(0o640)
    return True


def names(logs: Path) -> dict[Path, int]:
    """The files of a folder, which may be missing, and what tells each from a later one of its name."""
    return {file: file.stat().st_ino for file in logs.glob("*") if file.is_file()}


def copy_databases(data: Path, folder: Path, pattern: str) -> None:
    """Copy SQLite files as they are at one moment, whoever writes them meanwhile."""
    for file in data.glob(pattern):
        copy = folder / file.relative_to(data)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))


if __name__ == "__main__":
    main()
