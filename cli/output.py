"""Where a command prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from rich.console import Console
from rich.text import Text

from cli.errors import CommandError
from cli.passages import visible

STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MAX_WIDTH = 120
"""Columns; longer lines of prose are hard to read."""


class Output:
    """Both consoles of a command, and whether it speaks JSON."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.console = _console(stderr=False)
        self.errors = _console(stderr=True)

    def json(self, document: Mapping[str, object] | Message) -> None:
        """Print one JSON document, a message in its proto3 form with all fields that have no presence."""
        self.verbatim(_json(document))

    def verbatim(self, text: str) -> None:
        """Print `text` as it is: rich would expand its tabs."""
        print(text, file=self.console.file)

    def removed(self, kind: str, name: str) -> None:
        """Print that what the field `kind` names is gone."""
        if self.as_json:
            self.json({kind: name, "outcome": "REMOVED"})
        else:
            self.console.print(f"removed {name}", markup=False)

    def notes(self, notes: Iterable[str]) -> None:
        """Print what a reader of plain text should know besides, on standard error."""
        for note in notes:
            self.errors.print(Text(f"note: {note}"), soft_wrap=True)

    def footer(self, text: str) -> None:
        """Print who did it and at what cost, where a person reads it."""
        if self.console.is_terminal:
            self.console.print(Text(text, "dim"))

    def failed(self, error: CommandError) -> None:
        """Print why the command failed: one line, or a problem."""
        if self.as_json:
            print(_json(error.problem()), file=self.errors.file)
        else:
            self.errors.print(Text(f"error: {visible(str(error))}", "bold red"), soft_wrap=True)


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if console.is_terminal:
        console.width = min(console.width, MAX_WIDTH)
    return console


def _json(document: Mapping[str, object] | Message) -> str:
    """What JSON need not escape but a terminal may obey is escaped as well: it reads the same."""
    text = json.dumps(as_dict(document), ensure_ascii=False, indent=2)
    return STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def as_dict(document: Mapping[str, object] | Message) -> Mapping[str, object]:
    """The proto3 JSON mapping of a message, as REST has it; other documents as they are."""
    if isinstance(document, Message):
        return MessageToDict(document, always_print_fields_with_no_presence=True)
    return document


def counted(number: int, name: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{number:,} {name if number == 1 else f'{name}s'}"
