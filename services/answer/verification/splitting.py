"""Splits a text from elsewhere into its claims: its sentences, in linear time.

A boundary that is missed makes one claim of two, and both must stand then; one too many makes a claim of half
a sentence, which may stand where the whole does not. So in doubt there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PARAGRAPHS = re.compile(
    r"\n[^\S\n]*\n\s*|\n\s*(?=(?:[-*•●▪#>|]|\d{1,3}[.)]|\([A-Za-z0-9]{1,4}\)|\[[A-Z0-9][A-Z0-9._-]{0,63}\])[^\S\n])"
)
_MARKER = re.compile(r"\A(?:[-*•●▪>#|]+|\d{1,3}[.)])\s+")
_BOUNDARY = re.compile(
    r"""(?<![.!?…])[.!?…]+["'”’»)\]]{0,3}(?:\s?\[\d{1,4}\]){0,10}\s+(?=["'“‘«(]{0,3}[^\W_a-z]|\[[A-Z])"""
)
_ABBREVIATIONS = _listed("""
    no nos sec secs art arts para paras cl fig ex exh app vol v vs e.g i.e viz cf mr mrs ms dr prof st inc
    corp co ltd llc plc bros dept ref ed approx al u.s u.k e.u p pp jan feb mar apr jun jul aug sep sept oct
    nov dec
""")
"""Lower case without the last full stop; what follows one goes on more often than not."""
_LAST_WORD = re.compile(
    r"(?P<of>\b(?:section|clause|article|schedule|exhibit|annex|appendix|part|rule)\s)?(?P<word>[\w.]+)$",
    re.I,
)
_LONGEST_WORD = 24
"""No abbreviation is longer; looking back no further keeps the scan linear."""
_ITEM = re.compile(r"\d{1,3}|[a-z]|[ivxl]{1,5}")
"""The number or letter of an item, in lower case."""
_NEAR = 8
"""Characters looked back for what leads into an item."""
_OPENING, _CLOSING = "“«", "”»"
_PREFIX = re.compile(r"\A(?:\[[A-Z0-9][A-Z0-9._-]{0,63}\]\s*)+")
_NUMBERS = re.compile(r"\[\d{1,4}\](?:\s*\[\d{1,4}\])*")
_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|\"([^\"]+)\"")

MIN_QUOTED_WORDS = 4
"""Fewer words between quotation marks are a term, not a quote."""


def sentences_of(text: str) -> list[str]:
    """The sentences, list items and headings of a text, in order, without bullets; none is blank."""
    return [
        sentence
        for paragraph in _paragraphs(text)
        for sentence in _sentences(_MARKER.sub("", paragraph.strip(), count=1))
        if any(character.isalnum() for character in sentence)
    ]


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs and list items of a text; the first item of a list goes with what leads into it."""
    led_in = 0
    for boundary in _PARAGRAPHS.finditer(text):
        if not _leads_in(text, led_in, boundary.start()):
            yield text[led_in : boundary.start()]
            led_in = boundary.end()
    yield text[led_in:]


def _leads_in(text: str, start: int, end: int) -> bool:
    """Whether what stands before `end` leads into what follows."""
    return text[max(start, end - _NEAR) : end].rstrip().endswith((":", "…"))


def _begins_item(text: str, start: int, at: int) -> bool:
    """Whether a number or letter at `at` begins its sentence, or follows what leads into a list."""
    return not text[max(start, at - _NEAR) : at].strip() or _leads_in(text, start, at)


def own_words(claim: str) -> str:
    """A claim without what answers of ours put round one: `[CME]` in front, `[1]` behind."""
    bare = _PREFIX.sub("", claim.strip(), count=1)
    numbers = list(_NUMBERS.finditer(bare))
    if not numbers or (stop := bare[numbers[-1].end() :]) not in ("", ".", "!", "?"):
        return bare or claim
    return bare[: numbers[-1].start()].rstrip() + stop or claim


def quoted_in(claim: str) -> tuple[str, ...]:
    """What stands in quotation marks, if it has at least four words."""
    found = ("".join(filter(None, match.groups())) for match in _QUOTED.finditer(claim))
    return tuple(words for words in found if len(words.split()) >= MIN_QUOTED_WORDS)


def _sentences(paragraph: str) -> Iterator[str]:
    start, depth, read = 0, 0, 0
    for boundary in _BOUNDARY.finditer(paragraph):
        depth += _opened(paragraph, read, boundary.end())
        read = boundary.end()
        if depth <= 0 and not _goes_on(paragraph, start, boundary.start()):
            yield paragraph[start : boundary.end()].strip()
            start = boundary.end()
    yield paragraph[start:].strip()


def _opened(text: str, start: int, end: int) -> int:
    """Quotation marks opened and not closed; straight ones do not tell which they are."""
    piece = text[start:end]
    return sum(map(piece.count, _OPENING)) - sum(map(piece.count, _CLOSING))


def _goes_on(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at `stop` belongs to an abbreviation, an initial, a clause number or an item of a
    list, or is an ellipsis between words; the sentence begins at `start`."""
    if text[stop] == "…":
        return text[stop - 1 : stop].isspace()
    if text[stop] != ".":
        return False
    last = _LAST_WORD.search(text, max(0, stop - _LONGEST_WORD), stop)
    if last is None:
        return False
    word = last["word"].lower()
    if _ITEM.fullmatch(word) and _begins_item(text, start, last.start("word")):
        return True
    initial = len(word) == 1 and text[stop - 1].isupper()
    return word in _ABBREVIATIONS or initial or (last["of"] is not None and word[0].isdigit())
