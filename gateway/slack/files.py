"""The two files that an operator writes: signing secrets of the Slack app, and whose key a workspace uses.

Both are small and read with every command, so that a new version counts at once; one that cannot be read
answers no command until it can.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import CannotStart, Unavailable
from chassis.watched_file import distinct_members, read_regular

logger = logging.getLogger(__name__)

MIN_SECRET_CHARACTERS = 16
_ID = re.compile(r"[A-Z0-9]{1,32}", re.ASCII)


class SlackFileBroken(CannotStart):
    """A file that the settings name is missing or cannot be used; the message is one line that names it."""


@dataclass(frozen=True, slots=True)
class SlackFiles:
    """Where they are."""

    secrets: Path
    """One signing secret a line: two while one takes the other's place."""
    workspaces: Path
    """A JSON object: id of a workspace or organisation → file of its API key, or null for no key."""

    def check(self) -> None:
        """Raise `SlackFileBroken` unless all of it can be used, the files of keys among it."""
        _secrets(self.secrets)
        for name in _workspaces(self.workspaces).values():
            _authorization(self.workspaces, name)

    def signing_secrets(self) -> tuple[bytes, ...]:
        """At least one. Raises `Unavailable`."""
        try:
            return _secrets(self.secrets)
        except SlackFileBroken as error:
            raise _unavailable(error) from error

    def authorization_of(self, team: str, enterprise: str) -> str | None:
        """The value of `authorization` that a workspace's questions carry; empty for none.

        None for a workspace that is not listed, nor its organisation. Raises `Unavailable`.
        """
        try:
            workspaces = _workspaces(self.workspaces)
            for workspace in (team, enterprise):
                if workspace in workspaces:
                    return _authorization(self.workspaces, workspaces[workspace])
        except SlackFileBroken as error:
            raise _unavailable(error) from error
        return None


def _unavailable(error: SlackFileBroken) -> Unavailable:
    logger.error("slack file unusable", extra={"error": str(error)})
    return Unavailable("Slack is not set up properly at this gateway; its log says why.")


def _secrets(path: Path) -> tuple[bytes, ...]:
    variable = "CLAUSEGATE_SLACK_SIGNING_SECRETS_FILE"
    secrets = [line.strip() for line in _text(variable, path).splitlines() if line.strip()]
    if not secrets or any(len(secret) < MIN_SECRET_CHARACTERS for secret in secrets):
        raise SlackFileBroken(f"{variable}: {path}: expected signing secrets, one a line")
    return tuple(secret.encode() for secret in secrets)


def _workspaces(path: Path) -> Mapping[str, str | None]:
    variable = "CLAUSEGATE_SLACK_WORKSPACES_FILE"
    try:
        found = json.loads(_text(variable, path), object_pairs_hook=distinct_members)
    except json.JSONDecodeError as error:
        raise SlackFileBroken(f"{variable}: {path}: not JSON: {error}") from error
    except ValueError as error:
        raise SlackFileBroken(f"{variable}: {path}: {error}") from error
    if not isinstance(found, dict) or not all(
        _ID.fullmatch(workspace) and isinstance(name, str | None) for workspace, name in found.items()
    ):
        message = "expected an object of ids of workspaces and names of files, or null"
        raise SlackFileBroken(f"{variable}: {path}: {message}")
    return found


def _authorization(workspaces: Path, name: str | None) -> str:
    """A relative name is beside the file that holds it."""
    if name is None:
        return ""
    path = workspaces.parent / name
    key = _text("CLAUSEGATE_SLACK_WORKSPACES_FILE", path).strip()
    if not key or " " in key or not (key.isascii() and key.isprintable()):
        raise SlackFileBroken(f"CLAUSEGATE_SLACK_WORKSPACES_FILE: {path}: expected one API key")
    return f"Bearer {key}"


def _text(variable: str, path: Path) -> str:
    try:
        return read_regular(path).decode()
    except OSError as error:
        raise SlackFileBroken(f"{variable}: {path}: {error.strerror or 'cannot be read'}") from error
    except UnicodeDecodeError as error:
        raise SlackFileBroken(f"{variable}: {path}: not UTF-8") from error
