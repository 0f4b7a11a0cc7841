"""How messages about wrong fields are to read: behind the field's name, as commands print them, and alone."""

from __future__ import annotations

import re

from chassis.errors import ServiceError


def reads_well(error: ServiceError) -> bool:
    """Whether the message of a wrong field is a sentence that does not say the name of its field again."""
    if error.reason != "INVALID_FIELD":
        return True
    name = re.sub(r"\[\d+\]", "", error.field or "").rpartition(".")[2]
    said = error.message
    return said[:1].isupper() and said.endswith(".") and not (name and said.casefold().startswith(name))
