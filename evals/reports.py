"""Prints figures as plain tables beside what they are compared with, and writes them as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.reference import Mark

CELL = 6
"""Characters of the widest figure, e.g. `-0.011`."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one experiment."""

    name: str
    title: str
    questions: int
    figures: Mapping[str, float]
    marks: tuple[Mark, ...]
    """What to compare with; the difference is to the first."""
    by: str = ""
    """Whose answers were measured: models and their server; empty where nothing was answered."""
    of: str = "questions"
    """What was counted."""


def table(report: Report) -> str:
    """The figures, each mark below them, and the difference to the first; a dash is unknown."""
    rows = [("measured", report.figures), *((mark.label, mark.figures) for mark in report.marks)]
    if report.marks:
        rows.insert(2, ("  difference", _difference(report.figures, report.marks[0].figures)))
    names = list(report.figures)
    label_width = max(len(label) for label, _ in rows)
    lines = [" " * label_width + "  " + "  ".join(name.rjust(CELL) for name in names)]
    for label, figures in rows:
        cells = (
            _cell(figures.get(name), signed="difference" in label).rjust(max(len(name), CELL))
            for name in names
        )
        lines.append(f"{label:<{label_width}}  " + "  ".join(cells))
    by = f": {report.by}" if report.by else ""
    return "\n".join([f"{report.title} ({report.questions:,} {report.of}){by}", *lines])


def write_json(reports: Sequence[Report], file: Path) -> None:
    """All figures and marks by experiment; a figure that does not exist is null."""
    content = {
        report.name: {
            "questions": report.questions,
            "by": report.by,
            "figures": {name: _number(value) for name, value in report.figures.items()},
            "marks": {mark.label: dict(mark.figures) for mark in report.marks},
        }
        for report in reports
    }
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _difference(figures: Mapping[str, float], mark: Mapping[str, float]) -> dict[str, float]:
    return {name: figures[name] - mark[name] for name in figures if name in mark}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cell(value: float | None, *, signed: bool) -> str:
    if value is None or math.isnan(value):
        return "-"
    if abs(value) > 1:
        return f"{value:+.0f}" if signed else f"{value:.0f}"
    return f"{value:+.3f}" if signed else f"{value:.3f}"
