"""The registry of telemetry, `docs/telemetry.md`, and what the code names, to be compared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("chassis", "inference", "services", "gateway", "embedded")
KINDS = {"counter": "counter", "gauge": "gauge", "histogram": "histogram"}
UNITS = {"counter": "1", "gauge": "1", "histogram": "s"}
"""Of an instrument that names none."""
ATTRIBUTE = re.compile(r"(?:clausegate|http|rpc|gen_ai|db|server|url|error)\.[a-z_]+(?:\.[a-z_]+)*")
ASGI = {"http.disconnect", "http.request", "http.response.start", "http.response.body"}
"""Messages of servers and applications, which look like attributes."""
QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Metric:
    """A row of the table of metrics."""

    name: str
    kind: str
    unit: str


@dataclass(frozen=True)
class LogEvent:
    """A row of the table of log events, for one logger."""

    event: str
    logger: str
    level: str
    fields: frozenset[str]


def quoted(cell: str) -> list[str]:
    """What stands in code spans."""
    return QUOTED.findall(cell)


def rows(title: str) -> list[list[str]]:
    """The rows of the table under a heading of the registry, without its head."""
    page = (ROOT / "docs/telemetry.md").read_text("utf-8")
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def span_names() -> set[str]:
    """As listed; `…` stands for what varies."""
    return {name for row in rows("Spans") for name in quoted(row[0].partition(" (")[0])}


def row_of_span(name: str) -> list[str] | None:
    """The row of a span that was made; one that is named in full goes before one with `…`."""
    named = [(each, row) for row in rows("Spans") for each in quoted(row[0].partition(" (")[0])]
    for each, row in sorted(named, key=lambda pair: "…" in pair[0]):
        if re.fullmatch(re.escape(each).replace("…", ".+"), name):
            return row
    return None


def attributes_of_span(name: str) -> set[str]:
    """What a span of this name may have besides `error.type`."""
    row = row_of_span(name)
    return set(quoted(row[2])) if row else set()


def span_attributes() -> set[str]:
    """Of all spans."""
    return {name for row in rows("Spans") for name in quoted(row[2])} | {"error.type"}


def metrics() -> dict[Metric, frozenset[str]]:
    """The metrics and their attributes."""
    return {Metric(quoted(row[0])[0], row[1], row[2]): frozenset(quoted(row[4])) for row in rows("Metrics")}


def values() -> dict[str, set[str]]:
    """The values of attributes that have a closed set of them."""
    return {quoted(row[0])[0]: set(quoted(row[1])) for row in rows("Values")}


def log_events() -> set[LogEvent]:
    """The log events, one for each logger; a row may list several that have the same fields."""
    return {
        LogEvent(event, logger, row[2].split(",")[0], frozenset(quoted(row[3])))
        for row in rows("Log events")
        for event in quoted(row[0].partition(" (")[0])
        for logger in quoted(row[1])
    }


# The code ---------------------------------------------------------------------------------------------------


@cache
def trees() -> Sequence[tuple[str, ast.Module]]:
    """Every module of the product by its name."""
    return list(_trees())


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            name = "__main__" if path.stem == "__main__" else name.removesuffix(".__init__")
            yield name, ast.parse(path.read_text("utf-8"))


@cache
def calls(tree: ast.Module) -> Sequence[tuple[str, ast.Call]]:
    """Every call by the last part of what is called."""
    return list(_calls(tree))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            yield name, node


def pattern(node: ast.expr) -> str:
    """A name as the registry writes it; empty for one that is not spelled in place."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(map(str, parts))
    return ""


def names_given_to(function: str, position: int) -> set[str]:
    """The texts that calls of `function` have at a position."""
    return {
        pattern(call.args[position])
        for _, tree in trees()
        for name, call in calls(tree)
        if name == function and len(call.args) > position and pattern(call.args[position])
    }


def spans_in_code() -> set[str]:
    """Every span that is named where it is made."""
    spans = (("stage", 0), ("span", 1), ("start_as_current_span", 0))
    return set().union(*(names_given_to(function, position) for function, position in spans))


def instruments_in_code() -> set[Metric]:
    """Every instrument that is made."""
    return {
        Metric(instrument, KINDS[kind], pattern(call.args[3]) if len(call.args) > 3 else UNITS[kind])
        for _, tree in trees()
        for kind, call in calls(tree)
        if kind in KINDS and len(call.args) > 2 and (instrument := pattern(call.args[1]))
    }


def texts_in_code() -> set[str]:
    """Every text constant that looks like the name of an attribute or a metric."""
    texts = {
        node.value
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ATTRIBUTE.fullmatch(node.value)
    }
    return texts - ASGI


def log_events_in_code() -> Iterator[tuple[LogEvent, bool]]:
    """Every line that is logged, and whether all of its fields are spelled in place."""
    for module, tree in trees():
        for level, call in calls(tree):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id == "logger":
                event = call.args[1] if level == "log" else call.args[0]
                names = {pattern(event)} if pattern(event) else _passed_on(tree, call, event)
                yield from (_logged(name, module, level, call) for name in names)


def _passed_on(tree: ast.Module, logged: ast.Call, event: ast.expr) -> set[str]:
    """The texts that callers give a function which logs one of its arguments."""
    assert isinstance(event, ast.Name)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and logged in ast.walk(function):
            names = [each.arg for each in function.args.args if each.arg != "self"]
            if event.id in names:
                return _texts_given_to(tree, function.name, names.index(event.id))
    raise AssertionError(f"where does {event.id} come from?")


def _texts_given_to(tree: ast.Module, function: str, position: int) -> set[str]:
    """The texts that calls of a module's own function have at a position, each of them spelled in place."""
    events = {pattern(call.args[position]) for name, call in calls(tree) if name == function}
    assert all(events), f"an event given to {function} is not spelled in place"
    return events


def _logged(event: str, module: str, level: str, call: ast.Call) -> tuple[LogEvent, bool]:
    extra = next((each.value for each in call.keywords if each.arg == "extra"), ast.Dict([], []))
    spelled = isinstance(extra, ast.Dict) and None not in extra.keys
    keys = [pattern(key) for key in extra.keys if key] if isinstance(extra, ast.Dict) else []
    levels = {"exception": "error", "log": "info"}
    return LogEvent(event, module, levels.get(level, level), frozenset(keys)), spelled
