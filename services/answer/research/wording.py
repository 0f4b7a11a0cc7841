"""Says in sentences of code what snippets hold, where a model says nothing, or nothing that stood a check."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from services.answer.stems import stems_of

MAX_WORDS = 5
MAX_TITLES = 3
NOTHING_FOUND = "No passage was found that bears on the question."
_WORD = re.compile(r"\w[\w'’&.-]*\w")


def shared_words(text: str, stems: Collection[str]) -> tuple[str, ...]:
    """Words of a text, as it spells them first, whose stem is one of `stems`; each stem once."""
    words: dict[str, str] = {}
    for word in _WORD.findall(text):
        for stem in stems_of(word):
            if stem in stems:
                words.setdefault(stem, word)
    return tuple(dict.fromkeys(words.values()))


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
    count = "1 passage is" if len(quotes) == 1 else f"{len(quotes)} passages are"
    words = shared_words("\n".join(quotes), stems)
    held = (
        f"The question’s words that they hold: {_listed(words)}."
        if words
        else ("None of the question’s words stands in them.")
    )
    return f"{count} quoted from {_joined(named)}. {held}"


def none_stands(count: int) -> str:
    """That none of the passages that somebody named stands where it should."""
    if count == 1:
        return "The one passage named does not stand in the documents."
    return f"None of the {count} passages named stands in the documents."


def _listed(words: Sequence[str]) -> str:
    return _joined([f"“{word}”" for word in words[:MAX_WORDS]])


def _joined(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
