"""What a command reports in one line before it ends with exit code 1."""

from __future__ import annotations

from collections.abc import Mapping


class CommandError(Exception):
    """The command cannot go on; the message is one line for people that says what to do."""

    def problem(self) -> Mapping[str, object]:
        """The same as an RFC 9457 problem, for `--json`."""
        return {"title": str(self)}
