"""What a slash command says: its workspace and user, where to answer, and the question with its options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from chassis.errors import InvalidInput
from gateway.errors import MalformedRequest

MAX_FIELDS = 64
_ID = re.compile(r"[A-Z0-9]{1,32}", re.ASCII)
_NAME = re.compile(r"/[\w-]{1,32}")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
"""What Slack escapes in a text; the ampersand last, or `&amp;lt;` would become `<`."""
SOURCES = "in:"
TO_CHANNEL = "to:channel"
SHOW_ALL = "show:all"


@dataclass(frozen=True, slots=True)
class Command:
    """One command as Slack sends it. All of it is the caller's text, the ids are signed by Slack."""

    name: str
    """Such as `/clausegate`."""
    team: str
    enterprise: str
    """Empty outside of Enterprise Grid."""
    user: str
    response_url: str
    """Not checked yet."""
    text: str
    """What stands behind the name, as the user wrote it."""


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a command, taken apart."""

    text: str
    """Without the options; empty when nothing is asked."""
    sources: tuple[str, ...] = ()
    """Sources that were asked for; empty means all."""
    to_channel: bool = False
    """Whether everybody in the channel sees the answer."""
    show_all: bool = False
    """Whether everything is shown, rather than what a reader needs first."""


def parse_command(body: bytes) -> Command:
    """The command that a form stands for. Raises `MalformedRequest`, and `InvalidInput` naming a field."""
    fields = _fields(body)
    name = fields.get("command", "")
    return Command(
        name=name if _NAME.fullmatch(name) else "/clausegate",
        team=_id(fields, "team_id"),
        enterprise=_id(fields, "enterprise_id") if fields.get("enterprise_id") else "",
        user=_id(fields, "user_id"),
        response_url=fields.get("response_url", ""),
        text=_unescaped(fields.get("text", "")),
    )


def _fields(body: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError as error:
        raise MalformedRequest("The body is not a form in UTF-8.") from error
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise MalformedRequest("The form gives a field twice.")
    return fields


def _id(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name, "")
    if not _ID.fullmatch(value):
        raise InvalidInput("Must be an id of Slack's: capital letters and digits.", field=name)
    return value


def _unescaped(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text.strip()


def parse_question(text: str) -> Question:
    """Options stand before or behind the question: `in:cme,opra` names sources, `to:channel` shows it to
    everybody, `show:all` shows all of the answer.

    `help` alone asks nothing. What looks like an option inside the question belongs to the question.
    """
    words = text.split()
    options: list[str] = []
    while words and _is_option(words[0]):
        options.append(words.pop(0))
        text = text.lstrip()[len(options[-1]) :]
    while words and _is_option(words[-1]):
        options.append(words.pop())
        text = text.rstrip()[: -len(options[-1])]
    named = (option.removeprefix(SOURCES).split(",") for option in options if option.startswith(SOURCES))
    asked = text.strip()
    return Question(
        text="" if asked.lower() == "help" else asked,
        sources=tuple(dict.fromkeys(source for names in named for source in names if source)),
        to_channel=TO_CHANNEL in options,
        show_all=SHOW_ALL in options,
    )


def _is_option(word: str) -> bool:
    return word in (TO_CHANNEL, SHOW_ALL) or (word.startswith(SOURCES) and len(word) > len(SOURCES))
