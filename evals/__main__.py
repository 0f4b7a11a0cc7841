"""`python -m evals [--data FOLDER]`: ingest what is new, ask, print tables."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clausegate import ClausegateError
from evals import cards, replies, research
from evals.asking import Asker, answerers
from evals.corpora import research_questions
from evals.plan import PLAN, SMALL, corpus_files, corpus_folder
from evals.reference import MARKS
from evals.reports import Report, table, write_json
from evals.stack import FilesRejected, StackStopped, fill, running_stack
from inference.settings import ModelServerSettings

SNIPPETS = "snippets"
"""The experiment that is repeated in several ways, see `research`."""
CARDS = "cards"
"""The experiment that needs no running product, see `cards`."""
REPLIES = "replies"
"""The experiment that plays recorded replies of a model, see `replies`."""
NAMES = [*PLAN, SNIPPETS, CARDS, REPLIES]
DEFAULT = [name for name in NAMES if name not in PLAN or PLAN[name].corpus not in SMALL]
"""Small corpora are embedded anew for a minute or two each, so that they are measured when asked for."""
OPENAI = "https://api.openai.com"
WITHOUT_DATA = ["examples", "grounding", SNIPPETS]


def arguments() -> argparse.Namespace:
    """The command line; exits with 2 and a message when it makes no sense."""
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of evaluation data; without it only the examples")
    parser.add_argument("--only", default="", help=f"comma-separated, of: {', '.join(NAMES)}")
    parser.add_argument("--sample", type=int, help="ask only so many questions of each set (seeded)")
    parser.add_argument("--concurrency", type=int, default=4, help="questions at a time (default 4)")
    parser.add_argument("--cache", type=Path, default=Path(".cache/evals"), help="where the indexes are kept")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    options.cache = options.cache.absolute()
    options.server = model_server(ModelServerSettings())
    options.names = [name for name in options.only.split(",") if name] or DEFAULT
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if options.data is None:
        if options.only and not set(options.names) <= set(WITHOUT_DATA):
            parser.error("these need --data")
        options.names = [name for name in WITHOUT_DATA if name in options.names]
    elif not (options.data / "cuad").is_dir():
        parser.error(f"{options.data} holds no evaluation data")
    return options


def sampled(questions: Sequence[Any], size: int | None) -> Sequence[Any]:
    """All questions, or as many as asked in their order, drawn with a fixed seed."""
    if size is None or size >= len(questions):
        return questions
    return [questions[index] for index in sorted(random.Random(0).sample(range(len(questions)), size))]


def model_server(settings: ModelServerSettings) -> str:
    """The address of the model server without credentials; empty when none is configured."""
    if not settings.names_model_server:
        return ""
    address = urlsplit(settings.openai_base_url or OPENAI)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}"


async def measure(options: argparse.Namespace) -> list[Report]:
    """Run the experiments of one corpus after the other, each corpus on a stack of its own."""
    reports: list[Report] = []
    data = options.data or Path()
    for corpus in dict.fromkeys(PLAN[name].corpus for name in options.names if name in PLAN):
        print(f"{corpus}:", file=sys.stderr)
        folder = options.cache / corpus
        folder.mkdir(parents=True, exist_ok=True)
        async with running_stack(folder) as client:
            await fill(client, corpus_files(corpus, data), options.concurrency)
            index = await client.describe_index()
            print(f"  {index.chunk_count:,} chunks, store: {index.store}", file=sys.stderr)
            by = await answerers(client, options.server)
            for name in (name for name in options.names if name in PLAN and PLAN[name].corpus == corpus):
                print(f"  {name}", file=sys.stderr)
                questions = sampled(PLAN[name].questions(data), options.sample)
                figures = await PLAN[name].measure(Asker(client, options.concurrency), questions)
                report = Report(
                    name=name,
                    title=PLAN[name].title,
                    questions=len(questions),
                    figures=figures,
                    marks=MARKS.get(name, ()),
                    by=by if PLAN[name].answers else "",
                )
                print(table(report), end="\n\n", flush=True)
                reports.append(report)
    return reports


def measure_cards(data: Path) -> list[Report]:
    """Measure the cards of documents against those made by hand."""
    reports = list(cards.measure(corpus_folder("cuad", data)))
    for report in reports:
        print(table(report), end="\n\n", flush=True)
    return reports


async def measure_replies(options: argparse.Namespace) -> list[Report]:
    """Measure what leaves of the recorded replies of a real model; nothing where there are none."""
    if not (options.data / replies.FILE).is_file():
        print(f"Recorded replies: not measured: {options.data} holds none", end="\n\n")
        return []
    print(f"{REPLIES}:", file=sys.stderr)
    folder = options.cache / REPLIES
    folder.mkdir(parents=True, exist_ok=True)
    report = await replies.measure(folder, options.data, options.concurrency)
    print(table(report), end="\n\n", flush=True)
    return [report]


async def measure_snippets(options: argparse.Namespace) -> list[Report]:
    """Measure research snippets in every way that the settings allow, on the examples."""
    ways = research.strategies() if options.server else [research.EXTRACTIVE]
    questions = sampled(research_questions(), options.sample)
    folder = options.cache / SNIPPETS
    folder.mkdir(parents=True, exist_ok=True)
    reports = []
    print(f"{SNIPPETS}:", file=sys.stderr)
    async for report in research.measure(folder, questions, ways, options.server):
        print(table(report), end="\n\n", flush=True)
        reports.append(report)
    if not options.server:
        names = ", ".join(way.name for way in research.strategies())
        print(f"Research snippets, {names}: not measured: no chat model is configured", end="\n\n")
    return reports


def main() -> None:
    """Measure and report."""
    options = arguments()
    try:
        reports = asyncio.run(measure(options))
        if SNIPPETS in options.names:
            reports += asyncio.run(measure_snippets(options))
        if REPLIES in options.names:
            reports += asyncio.run(measure_replies(options))
        if CARDS in options.names:
            reports += measure_cards(options.data)
    except (StackStopped, FilesRejected, ClausegateError) as error:
        sys.exit(f"error: {error}")
    if options.json:
        write_json(reports, options.json)


if __name__ == "__main__":
    main()
