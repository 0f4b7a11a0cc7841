"""`python -m training.prepare --data FOLDER --out FOLDER`: rows to learn from and to measure with."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from evals.corpora import UNREAD, UNREAD_OF, is_held_out, natural_questions
from training import sets
from training.examples import Group
from training.figures import groups_to_read
from training.found import Asked, Found, asked_sets, by_question
from training.groups import Choice, document_groups, found_groups, general_group
from training.rows import Rows
from training.tokens import build

SEED = 5
NATURAL = Choice(right=2, wrong=5)
ANNOTATED = Choice(right=2, wrong=3)
"""Of CUAD and ContractNLI, which ask the same few questions of every document."""
FOUND = Choice(right=2, wrong=5, every=2)
LEARNED = ("natural-train-scoped", "natural-train-folder", "ours-scoped", "ours-folder")
"""What search finds for these is learned from."""
SILENT_SHARE = 0.35
"""Of the questions of CUAD three in four have no answer; so many of these are kept."""


def main() -> None:
    """Write `train.npz`, `validation.npz` and the sets that figures are taken on, with a manifest."""
    parser = argparse.ArgumentParser(prog="python -m training.prepare", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of evaluation data")
    parser.add_argument(
        "--general", type=Path, help="general questions (default: DATA/reading/general.jsonl.gz)"
    )
    parser.add_argument(
        "--found", type=Path, help="what `training.found` wrote; without it fewer rows and figures"
    )
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the embedding model")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    options.out.mkdir(parents=True, exist_ok=True)
    general = options.general or options.data / "reading/general.jsonl.gz"
    learned, validation = training_groups(options.data, general, options.found, tokenizer)
    made = {
        "train": learned,
        "validation": validation,
        **measured_groups(options.data, options.found),
    }
    rows = {name: build(groups, tokenizer) for name, groups in made.items()}
    for name, of_set in rows.items():
        of_set.save(options.out / f"{name}.npz")
    manifest = {"inputs": digests(options.data, general), "sets": {n: summary(r) for n, r in rows.items()}}
    (options.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    json.dump(manifest["sets"], sys.stdout, indent=1)


def training_groups(
    data: Path, general: Path, found: Path | None, tokenizer: Tokenizer
) -> tuple[list[Group], list[Group]]:
    """Groups to learn from in random order, and natural questions about contracts that none is about."""
    kept_out = {*sets.natural(data, "dev").texts, *(question.file for question in natural_questions(UNREAD))}
    natural = sets.natural(data, "train")
    chosen = {name for name in natural.texts if is_held_out(name, UNREAD_OF)}
    learned: list[Group] = []
    validation: list[Group] = []
    for name, group in document_groups(natural, NATURAL, tokenizer):
        (validation if name in chosen else learned).append(group)
    validation = validation[::2]  # as asked inside the contract
    draw = random.Random(SEED)
    annotated = [
        sets.cuad(data, without=kept_out | chosen),
        sets.contractnli(data, held_out=False),
        sets.contractnli_hypotheses(data),
    ]
    learned += (group for _, group in document_groups(sets.ours(data), NATURAL, tokenizer))
    for documents in annotated:
        for _, group in document_groups(documents, ANNOTATED, tokenizer):
            if any(example.answers for example in group.examples) or draw.random() < SILENT_SHARE:
                learned.append(group)
    for asked, of_questions in _found_sets(data, found, LEARNED):
        learned += found_groups(asked, of_questions, FOUND)
    learned += map(general_group, sets.general(general))
    draw.shuffle(learned)
    return learned, validation


def measured_groups(data: Path, found: Path | None) -> dict[str, Iterable[Group]]:
    """Sets for figures: articles of SQuAD 2.0 that no row is from, and what search found for the others."""
    measured = [asked.name for asked in asked_sets(data) if asked.name not in LEARNED]
    return {
        "squad": sets.squad_held_out(data),
        **{
            asked.name: groups_to_read(asked.questions, of_questions)
            for asked, of_questions in _found_sets(data, found, measured)
        },
    }


def _found_sets(
    data: Path, found: Path | None, names: Collection[str]
) -> Iterator[tuple[Asked, dict[str, Found]]]:
    """The sets of these names of which there is a file."""
    for asked in asked_sets(data) if found else []:
        if found and asked.name in names and (file := found / f"{asked.name}.jsonl").is_file():
            yield asked, by_question(file)


def digests(data: Path, general: Path) -> dict[str, str]:
    """SHA-256 of every file that was read; of a folder of documents, that of its names and digests."""
    files = [
        data / "natural/train.jsonl",
        data / "natural/dev.jsonl",
        data / "cuad/dev/queries.jsonl",
        data / "cuad/dev/docs.jsonl",
        data / "contractnli/dev/queries.jsonl",
        data / "reading/contractnli-train-documents.jsonl.gz",
        data / "reading/squad2-heldout-articles.jsonl.gz",
        general,
        sets.OURS,
    ]
    folders = [data / "cuad/dev/corpus", data / "contractnli/dev/corpus"]
    return {
        **{
            file.relative_to(data).as_posix() if file.is_relative_to(data) else file.name: _digest(file)
            for file in files
        },
        **{folder.relative_to(data).as_posix(): _folder_digest(folder) for folder in folders},
    }


def summary(rows: Rows) -> dict[str, object]:
    """Counts of a set."""
    answering = rows.evidence != 0
    return {
        "groups": rows.group_count,
        "rows": len(rows.question),
        "answering rows": int(answering.sum()),
        "tokens": int(rows.lengths().sum()),
        "groups by source": Counter(str(rows.sources[source]) for source in rows.group_source),
    }


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _folder_digest(folder: Path) -> str:
    lines: Sequence[str] = [f"{_digest(file)}  {file.name}\n" for file in sorted(folder.iterdir())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


if __name__ == "__main__":
    main()
