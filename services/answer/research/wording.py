"""Says in sentences of code what snippets hold, where a model says nothing, or nothing that stood a check."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from corpus.stems import stems_of

MAX_WORDS = 5
MAX_TITLES = 3
NOTHING_FOUND = "No passage was found that bears on the question."
_WORD = re.compile(r"\w(?:[\w'’&.‐‑-]|(?<=[‐‑-])\s*\n\s*)*\w")
"""A word with what it is joined to, by a hyphen at the end of a line as well."""


def shared_words(text: str, stems: Collection[str]) -> tuple[str, ...]:
    """Words of a text, as it spells them first, whose stems are among `stems`; each once.

    A word with a hyphen counts as a whole: “non-exclusive” does not hold the “non” of “non-professional”.
    """
    words: dict[tuple[str, ...], str] = {}
    for found in _WORD.findall(text):
        word = "".join(found.split())
        own = tuple(stems_of(word))
        if own and all(stem in stems for stem in own):
            words.setdefault(own, word)
    return tuple(words.values())


def mentions(quote: str, stems: Collection[str]) -> str:
    """Which words of the question a quote holds."""
    words = shared_words(quote, stems)
    return f"Mentions {_listed(words)}." if words else "Holds no word of the question."


def summary_of(quotes: Sequence[str], titles: Sequence[str], stems: Collection[str]) -> str:
    """What can be said of quotes without reading them: how many, whence, and with which words."""
    if not quotes:
        return NOTHING_FOUND
    distinct = list(dict.fromkeys(titles))
    more = len(distinct) - MAX_TITLES
    named = [f"“{title}”" for title in distinct[:MAX_TITLES]]
    if more > 0:
        named.append(f"{more} more document{'s' * (more > 1)}")
    words = shared_words("\n".join(quotes), stems)
    if len(quotes) == 1:
        count, holds = "1 passage is", "it holds"
    else:
        count, holds = f"{len(quotes)} passages are", "they hold"
    none = f"{holds.capitalize()} none of the question’s words."
    held = f"Of the question’s words {holds} {_listed(words)}." if words else none
    return f"{count} quoted from {_joined(named)}. {held}"


def none_stands(count: int) -> str:
    """A sentence saying that none of the passages that somebody named stands where it should."""
    if count == 1:
        return "The one passage named does not stand in the documents."
    return f"None of the {count} passages named stands in the documents."


def _listed(words: Sequence[str]) -> str:
    return _joined([f"“{word}”" for word in words[:MAX_WORDS]])


def _joined(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
