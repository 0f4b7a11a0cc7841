"""What the index takes as the card of a document: not too much of anything, and every fact with its place."""

from __future__ import annotations

import re
from datetime import date

from chassis.errors import InvalidInput
from chassis.limits.size import check_count, check_text
from corpus.profiles import (
    MAX_OTHER_NAMES,
    MAX_PARTIES,
    MAX_TEXT,
    DatePrecision,
    DocumentKind,
    DocumentProfile,
    OtherNameKind,
    Party,
    StatedDate,
)
from corpus.spans import Span

_ISO = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")
_PRECISIONS = {4: DatePrecision.YEAR, 7: DatePrecision.MONTH, 10: DatePrecision.DAY}
"""By the length of the date."""


def check_profile(field: str, profile: DocumentProfile) -> None:
    """Raise `InvalidInput`, with its path below `field`, for what is too much or no fact of a card."""
    if profile.kind is DocumentKind.UNKNOWN:
        raise InvalidInput("Must be a kind of document.", field=f"{field}.kind")
    check_count(f"{field}.parties", profile.parties, MAX_PARTIES)
    for number, party in enumerate(profile.parties):
        _check_party(f"{field}.parties[{number}]", party)
    if profile.title:
        check_text(f"{field}.title.text", profile.title.text, MAX_TEXT)
        _check_span(f"{field}.title.span", profile.title.span)
    if profile.amends:
        check_text(f"{field}.amends.title", profile.amends.title, MAX_TEXT)
        _check_span(f"{field}.amends.span", profile.amends.span)
        _check_date(f"{field}.amends.dated", profile.amends.dated)
    if profile.filed_under is not None:
        check_text(f"{field}.filed_under", profile.filed_under, MAX_TEXT)
    _check_date(f"{field}.dated", profile.dated)
    _check_date(f"{field}.effective", profile.effective)


def _check_party(field: str, party: Party) -> None:
    check_text(f"{field}.name", party.name, MAX_TEXT)
    _check_span(f"{field}.span", party.span)
    check_count(f"{field}.other_names", party.other_names, MAX_OTHER_NAMES)
    for number, other in enumerate(party.other_names):
        at = f"{field}.other_names[{number}]"
        check_text(f"{at}.text", other.text, MAX_TEXT)
        if other.kind is OtherNameKind.UNKNOWN:
            raise InvalidInput("Must be a kind of name.", field=f"{at}.kind")
        if other.span:
            _check_span(f"{at}.span", other.span)


def _check_date(field: str, stated: StatedDate | None) -> None:
    if stated is None:
        return
    _check_span(f"{field}.span", stated.span)
    if not _ISO.fullmatch(stated.iso) or not _is_day((stated.iso + "-01-01")[:10]):
        raise InvalidInput("Must be a date in the form of ISO 8601.", field=f"{field}.iso")
    if _PRECISIONS[len(stated.iso)] is not stated.precision:
        raise InvalidInput("Must be as precise as the date.", field=f"{field}.precision")


def _is_day(iso: str) -> bool:
    try:
        date.fromisoformat(iso)
    except ValueError:
        return False
    return True


def _check_span(field: str, span: Span) -> None:
    if not 0 <= span.start < span.end:
        raise InvalidInput("Must hold words of the text.", field=field)
