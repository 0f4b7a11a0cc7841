"""Tells the raised, lowered and smaller figures of a PDF page from those of the numbers that they touch.

A page says only where its characters stand and how large they are. What is looked at are short runs of
figures, symbols or one letter: they are raised when their baseline is above that of larger or equal words
which they touch. They are then written between the signs of `raised`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.ingest.parsing.raised import END, LOWERED, RAISED, SMALL, without_signs

Measured = tuple[int, int, int, int, bool, str]
"""Left, right, baseline, size, whether bold, and text of a span."""

SMALLER = 0.92
"""Share of the size of the words beside: raised type of this size or less is a mark at a small step."""
MUCH_SMALLER = 0.8
"""On one baseline: type of this size or less is no part of the number that it touches."""
STEP = 0.1
"""Share of the size of the words beside, by which smaller type is raised or lowered."""
STEP_ALIKE = 0.2
"""The same for type as large as the words beside."""
HIGHEST = 0.8
"""What is raised by more stands in another line."""
NEAR = 0.6
"""Share of the size of the words beside: the widest gap before what is raised."""
TOUCHING = 0.15
BAND = 100
"""Tenths of a point: spans are looked up by bands of their baselines."""
_SHORT = re.compile(
    r"(?=.{1,12}$)(?:[^\w\s]*(?:\d[^\w\s]*)+(?:\s?[,;–-]\s?\d{1,3})*|[*†‡§¶#∗⁎®©™]{1,4}|[a-z]|TM|SM|[−–-]?\d*n)"
)
_OPEN_NUMBER = re.compile(r"\d[.,]?$")
_GOES_ON = re.compile(r"[.,]?\d")


@dataclass(frozen=True, slots=True)
class _Page:
    spans: Sequence[Measured]
    bands: Mapping[int, Sequence[int]]

    def beside(self, index: int) -> Iterator[Measured]:
        """The spans that stand near the line of span `index`, itself excepted."""
        baseline = self.spans[index][2] // BAND
        for band in range(baseline - 2, baseline + 3):
            yield from (self.spans[other] for other in self.bands.get(band, ()) if other != index)


def set_apart(spans: Sequence[Measured]) -> list[Measured]:
    """The spans of a page, with signs around what is raised, lowered or smaller than what it touches."""
    clean = [span if span[5].isascii() else (*span[:5], without_signs(span[5])) for span in spans]
    short = [
        index for index, span in enumerate(clean) if len(span[5]) < 16 and _SHORT.fullmatch(span[5].strip())
    ]
    if not short:
        return clean
    bands: dict[int, list[int]] = defaultdict(list)
    for index, span in enumerate(clean):
        if span[5].strip():
            bands[span[2] // BAND].append(index)
    page = _Page(clean, bands)
    signs = {index: sign for index in short if (sign := _sign(clean[index], page.beside(index)))}
    _follow(clean, short, signs)
    return [_signed(span, signs[index]) if index in signs else span for index, span in enumerate(clean)]


def _follow(spans: Sequence[Measured], short: Sequence[int], signs: dict[int, str]) -> None:
    """What goes on with something raised is raised as well: `1` `,` `2`."""
    for index in short:
        before = signs.get(index - 1)
        if before in (RAISED, LOWERED) and index not in signs and _is_level(spans[index], spans[index - 1]):
            signs[index] = before


def _is_level(span: Measured, other: Measured) -> bool:
    gap = span[0] - other[1]
    return abs(span[2] - other[2]) < 5 and abs(span[3] - other[3]) < 5 and abs(gap) < span[3] * NEAR


def _sign(span: Measured, beside: Iterator[Measured]) -> str:
    """The sign of how a span stands beside others; none where it stands in their line."""
    found = [sign for host in beside if (sign := _against(span, host))]
    return next((sign for sign in (RAISED, LOWERED, SMALL) if sign in found), "")


def _against(span: Measured, host: Measured) -> str:
    left, right, baseline, size, _, text = span
    host_size = host[3]
    if host_size <= 0 or size > host_size * 1.02:
        return ""
    step = (host[2] - baseline) / host_size
    is_over = host[0] < left and right < host[1]  # a place was left for it
    gap = 0.0 if is_over else min(_gap(left - host[1], host_size), _gap(host[0] - right, host_size))
    if abs(step) > HIGHEST or gap > NEAR:
        return ""
    least = STEP if size <= host_size * SMALLER else STEP_ALIKE
    if step >= least and (least == STEP or gap <= TOUCHING):
        return RAISED
    if step <= -least and gap <= TOUCHING * 2 and least == STEP:
        return LOWERED
    before, after = (host[5], text) if host[0] < left else (text, host[5])
    is_part = gap <= TOUCHING and _OPEN_NUMBER.search(before) and _GOES_ON.match(after)
    return SMALL if is_part and size <= host_size * MUCH_SMALLER and abs(step) < STEP else ""


def _gap(distance: int, size: int) -> float:
    """A distance as a share of the size; what overlaps by more than a little is not beside it."""
    share = distance / size
    return abs(share) if share > -0.35 else 9.0


def _signed(span: Measured, sign: str) -> Measured:
    text = span[5]
    words = text.strip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return (*span[:5], f"{before}{sign}{words}{END}{after}")
