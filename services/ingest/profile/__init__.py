"""The card of a document: its title, kind, parties and dates, by rules, each with where the text states it.

Only the top of a document, its first signatures and its definition of the effective date are read: but for
finding the latter two the work does not grow with the document.
"""

from __future__ import annotations

import re
from dataclasses import replace

from chassis.limits.size import holds_controls
from corpus.profiles import (
    MAX_OTHER_NAMES,
    MAX_PARTIES,
    MAX_TEXT,
    DocumentProfile,
    OtherName,
    OtherNameKind,
    Party,
)
from services.ingest.documents import ExtractedDocument
from services.ingest.profile import dates, other_names, parties, titles
from services.ingest.profile.passage import Passage, passage

PROFILE_VERSION = "2"
"""Changes with every change of what a card says."""

_OPENING = 8_000
"""Code points at the top that are read, or the first two pages where they are longer."""
_LONGEST_OPENING = 16_000
_WITH_CONTENTS = 60_000
"""Code points that are read where a table of contents stands before the agreement."""
_SIGNATURES = 3_000
"""Code points of the signature blocks."""
_CONTENTS = re.compile(r"\btable\s{1,20}of\s{1,20}contents\b|\n\s{0,20}contents\s{0,20}\n", re.IGNORECASE)
_WITNESS = re.compile(r"\b(?:IN|In|in)\s{1,20}(?:WITNESS|[Ww]itness)\s")
_SIGNED = (
    ("ccepted and agreed", "CCEPTED AND AGREED", "greed and accepted", "GREED AND ACCEPTED"),
    ("/s/", "/S/", "By:", "BY:"),
)
"""What announces signatures where no witness does, the surer words first."""
_ANNEX = re.compile(r"\n[ \t]{0,20}(?:exhibit|appendix|schedule|annex|attachment)\b", re.IGNORECASE)
_ABOVE_SIGNATURE = 600
"""Code points above the first signature in which the signer's company stands."""


def profile_of(document: ExtractedDocument, file_name: str) -> DocumentProfile:
    """The card of `document`; `file_name` may have folders before it."""
    opening = passage(document.text, 0, _opening_end(document))
    signatures = _signatures(document.text)
    title = titles.find(opening)
    starts, ends = parties.preamble(opening)
    made = dates.dated(opening, signatures, starts, ends)
    named, filed_under = _with_file_name(parties.find(opening, signatures), file_name)
    return _within_limits(
        DocumentProfile(
            title=title,
            kind=titles.kind_of(title),
            parties=named,
            dated=made,
            effective=dates.effective(opening, starts, ends, made),
            amends=titles.amended(opening, title, made),
            filed_under=filed_under,
        )
    )


def _opening_end(document: ExtractedDocument) -> int:
    end = _OPENING
    if len(document.pages) > 1:
        end = min(max(end, document.pages[1].span.end), _LONGEST_OPENING)
    return _WITH_CONTENTS if _CONTENTS.search(document.text, 0, end) else end


def _signatures(text: str) -> Passage:
    """The first signature blocks; where nothing announces any, the end of the text behind its opening."""
    start = _signed_at(text)
    following = _ANNEX.search(text, start + 1, start + _SIGNATURES)
    return passage(text, start, following.start() if following else start + _SIGNATURES)


def _signed_at(text: str) -> int:
    if witness := _WITNESS.search(text):
        return witness.start()
    for spellings in _SIGNED:
        found = [place for spelling in spellings if (place := text.find(spelling)) >= 0]
        if found:
            return max(0, min(found) - _ABOVE_SIGNATURE)
    return min(len(text), max(_OPENING, len(text) - _SIGNATURES))


def _with_file_name(found: tuple[Party, ...], file_name: str) -> tuple[tuple[Party, ...], str | None]:
    """The parties, the one that the file is named after with that name too; else the company it names."""
    written = other_names.in_file_name(file_name)
    if written is None:
        return found, None
    for index, party in enumerate(found):
        if other_names.agrees(written, party.name):
            other = OtherName(written, OtherNameKind.FILE_NAME, None)
            named = replace(party, other_names=(*party.other_names, other))
            return (*found[:index], named, *found[index + 1 :]), None
    return found, written if other_names.names_company(written) else None


def _within_limits(profile: DocumentProfile) -> DocumentProfile:
    """The card without what is too long for a name, and without more parties and names than a card holds."""
    parties = (
        replace(party, other_names=tuple(other for other in party.other_names if _is_short(other.text)))
        for party in profile.parties
        if _is_short(party.name)
    )
    title, amends, filed_under = profile.title, profile.amends, profile.filed_under
    return replace(
        profile,
        title=title if title and _is_short(title.text) else None,
        parties=tuple(replace(party, other_names=party.other_names[:MAX_OTHER_NAMES]) for party in parties)[
            :MAX_PARTIES
        ],
        amends=amends if amends and _is_short(amends.title) else None,
        filed_under=filed_under if filed_under and _is_short(filed_under) else None,
    )


def _is_short(words: str) -> bool:
    return 0 < len(words) <= MAX_TEXT and not holds_controls(words)
