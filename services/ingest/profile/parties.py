"""Finds who makes an agreement: behind `between`, in labelled lines, in signature blocks, under a title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.ingest.profile import aliases, names
from services.ingest.profile.passage import Passage, one_line
from services.ingest.profile.records import Alias, Party

_ANCHOR = re.compile(
    r"\b(?:by\sand\s(?:between|among(?:st)?)|between|among(?:st)?|parties:?|entered\sinto\sby(?!\sand\s))\b[:,]?\s",
    re.IGNORECASE,
)
_RECITALS = re.compile(
    r"(?i:\bwhereas\b|\bwitnesseth\b|\bw\si\st\sn\se\ss\ss\se\st\sh\b|\br\se\sc\si\st\sa\sl|\bnow,?\stherefore\b)"
    r"|\b(?:RECITALS?|Recitals?|BACKGROUND|Background|PREAMBLE)\b|\n1\.\s|\bARTICLE\s(?:1|I|ONE)\b"
)
_BEGINS = re.compile(
    r"\bthis\s(?:[^\s.;]{1,30}\s){0,14}?(?:agreement|amendment|contract|lease|licen[sc]e|addendum|deed|exhibit\s\w)"
    r"(?=[\s,]{1,2}(?:\(|is\b|made\b|dated\b|entered\b|by\b|between\b|effective\b))",
    re.IGNORECASE,
)
"""The first words of the agreement itself, below its cover and contents."""
_LISTS = re.compile(r"\b(?:between|among|amongst|by|dated|made|entered\sinto|effective)\b", re.IGNORECASE)
_LIST_PLACE = re.compile(
    r"(?:\b(?i:and|&)[:,]?\s|[;,]\s|\n|\(\w{1,4}\)\s|\b\d{1,2}[.)]\s|\bthe\sother(?:\shand|\spart)?,?\s)"
    r"(?:\(\w{1,3}\)\s|\d{1,2}[.)]\s)?(?:the\s)?(?=[^\W_])"
)
"""What stands before each party of a list."""
_LABELLED = re.compile(
    r"(?:\bParty\s[A-D](?=:)|(?:^|[\n|]\s?)(?:Party\s(?:[A-Z]|\d|One|Two)|To|From|Licen[sc]or|Licen[sc]ee|Customer|Client|Supplier"
    r"|Vendor|Seller|Buyer|Purchaser|Lessor|Lessee|Landlord|Tenant|Distributor|Sponsor|Franchisor|Franchisee"
    r"|Company|Contractor|Consultant|Provider|Recipient|Service\sProvider|Disclosing\sParty|Receiving\sParty"
    r"|Subscriber|Issued\sby))(?:(?:\sName)?:|\s\||(?<=by))\s(?:Name:?\s(?:\|\s)?)?(?:the\s)?(?=[^\W_])",
    re.IGNORECASE,
)
"""What stands before a party of a form or a letter: `Party A:`, `From:`, `Licensor | …`."""
_DESCRIBED = re.compile(
    r",?\s?(?:\((?:[^()]{0,60}\s)?[\"“‘']|\([A-Z][\w.-]{1,20}(?:\s[A-Z]\w{1,15})?\)"
    r"|\(?(?:an?|the|having|located|residing|whose|organi[sz]ed|incorporated|acting|established|registered)\s)"
    r"|,\s(?:with|as|on\sbehalf|formed|being|its\soffice|in\s(?:his|her|its)\scapacity)\s"
)
"""Words that tell the party behind its name."""
_DEFINED_SOON = re.compile(
    r"[^()]{0,220}\((?:the\s|hereinafter|\"|“|each|collectively|together)", re.IGNORECASE
)
_SAID = re.compile(r"(?<=[\w)\"”][\w)\"”][\w)\"”])\.\s(?!Here)[A-Z]")
"""The end of the sentence that names a party."""
_SENTENCE_END = re.compile(r"[\w)\"”]{3,}\.\s[A-Z]")
_ASIDE = re.compile(r"\([^()]{0,400}\)")
_SIGNS = re.compile(r"(?i:\bby\s?:|/s/)")
_ZONE = 3_500
"""Characters in which a list of parties stands."""
_ALIAS_ZONE = 700
"""Characters behind a name in which its other names stand."""
_HEAD = 2_500
"""Characters at the top in which an agreement without `between` names its parties."""
_FEWEST = 2
_NEAR = 120
"""Characters within which the first party follows `between`."""
_FAR = 900
"""Characters within which the next party follows the one before."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A name in a passage."""

    passage: Passage
    start: int
    end: int

    @property
    def name(self) -> str:
        return one_line(self.passage.text[self.start : self.end])


def find(opening: Passage, signatures: Passage) -> tuple[Party, ...]:
    """The parties in the order of the text; at first those that the opening lists, else the surest others."""
    listed = _listed(opening)
    ways: tuple[Callable[[], Sequence[_Found]], ...] = (
        lambda: _at_line_starts(opening),
        lambda: _behind_labels(opening),
        lambda: _signing(signatures),
        lambda: _issuers(opening),
    )
    for way in ways:
        if len(listed) >= _FEWEST:
            break
        listed = _merged(listed, way())
    return aliases.with_collective(opening, tuple(_party(found, listed) for found in listed))


def preamble(opening: Passage) -> tuple[int, int]:
    """Where the words that begin the agreement itself start and end (exclusive) in `opening`."""
    text = opening.text
    begins = next(
        (
            match.start()
            for match in _BEGINS.finditer(text)
            if _LISTS.search(text, match.end(), min(len(text), match.end() + 1_200))
        ),
        0,
    )
    return begins, _above_recitals(text, begins, min(len(text), begins + _ZONE))


def _listed(opening: Passage) -> list[_Found]:
    """The best list behind a `between` above the recitals: the first that tells its parties' other names."""
    best: list[_Found] = []
    best_worth = (False, 0)
    begins, ends = preamble(opening)
    for anchor in _ANCHOR.finditer(opening.text, 0, min(ends, begins + _HEAD)):
        found = list(_list_at(opening, anchor.end()))
        worth = (len(found) >= _FEWEST, sum(bool(_aliases_behind(item, found)) for item in found))
        if found and (not best or worth > best_worth):
            best, best_worth = found, worth
    return best


def _above_recitals(text: str, start: int, end: int) -> int:
    recitals = _RECITALS.search(text, start, end)
    return recitals.start() if recitals else end


def _list_at(passage: Passage, start: int) -> Iterator[_Found]:
    """The parties of the list that starts at `start`."""
    text = passage.text
    border = _above_recitals(text, start, min(len(text), start + _ZONE))
    following = _ANCHOR.search(text, start + _NEAR, border)
    border = following.start() if following else border
    asides = [match.span() for match in _ASIDE.finditer(text, start, border)]
    behind = start
    count = 0
    places = [(start, _first_word(text, start))]
    places += [match.span() for match in _LIST_PLACE.finditer(text, start, border)]
    for place, position in places:
        if (place < behind and count) or any(begin < position < end for begin, end in asides):
            continue
        if _is_over(text, behind, place, count):
            return
        end = names.name_end(text, position)
        if end and end <= border and _is_party(text, place, position, end):
            yield _Found(passage, position, end)
            behind = end
            count += 1


def _is_over(text: str, behind: int, place: int, count: int) -> bool:
    """Whether no party can stand at `place`: `count` were found, and the last ends at `behind`."""
    if count < _FEWEST:
        return place - behind > (_FAR if count else _NEAR)
    return place - behind > _FAR or _SENTENCE_END.search(text, behind, place + 1) is not None


def _first_word(text: str, start: int) -> int:
    lead = re.compile(r"(?:on\sthe\sone\shand,?\s|\(\w{1,3}\)\s|\d{1,2}[.)]\s|the\s|both\s)*").match(
        text, start
    )
    return lead.end() if lead else start


def _is_party(text: str, place: int, start: int, end: int) -> bool:
    """Whether the name at `start` is that of a party, by its form or by what is said of it."""
    name = text[start:end]
    if aliases.is_role(name) or not names.may_name(name):
        return False
    formed = names.has_form(name)
    described = _DESCRIBED.match(text, end) is not None
    if text[place] in ",\n" and text[place : place + 5].lower() != ", and":
        sure = names.is_form(name.split()[-1])
        return sure or (text[place] == "\n" and " " in name and (formed or text.startswith("(", end + 1)))
    alone = text[end : end + 1] in ("\n", "") or text[end : end + 5].lower() == " and "
    soon = _DEFINED_SOON.match(text, end) is not None
    return (
        formed or described or (" " in name and (alone or (soon and not text[place : place + 2].isdigit())))
    )


def _at_line_starts(opening: Passage) -> list[_Found]:
    """The list of an agreement that begins with its parties: `Acme, Inc. (“Acme”) and … agree`."""
    text = opening.text
    for line in re.finditer(r"(?:^|\n)(?:The\s)?", text[:_HEAD]):
        end = names.name_end(text, line.end())
        if end and names.has_form(text[line.end() : end]) and _DESCRIBED.match(text, end):
            return list(_list_at(opening, line.end()))
    return []


def _behind_labels(opening: Passage) -> list[_Found]:
    found = []
    for label in _LABELLED.finditer(opening.text, 0, _HEAD):
        end = names.name_end(opening.text, label.end())
        if end and (
            names.has_form(opening.text[label.end() : end]) or " " in opening.text[label.end() : end]
        ):
            found.append(_Found(opening, label.end(), end))
    return found


def _signing(signatures: Passage) -> list[_Found]:
    """Companies above a line `By:`, and persons who sign for themselves are left out."""
    text = signatures.text
    found = []
    position = 0
    for line in re.finditer(
        r"(?:^|\n|:\s|_\s|(?<=\s))(?:\d{4}\s)(?=[^\W\d_])|(?:^|\n|:\s|_\s|\b(?:Officer|President|Secretary|Director|Manager|Member|Signatory|Counsel|Treasurer)\s(?=[A-Z]{2}))(?=[^\W_])",
        text,
    ):
        start = line.end()
        if start < position:
            continue
        start = aliases.behind_role(text, start)
        end = names.name_end(text, start, wraps=False)
        if end and names.has_form(text[start:end]) and _SIGNS.search(text, end, min(len(text), end + 120)):
            found.append(_Found(signatures, start, end))
            position = end
    return found


def _issuers(opening: Passage) -> list[_Found]:
    """The company in the first lines of a policy, a notice or terms that nobody signs."""
    text = opening.text
    for line in re.finditer(r"(?:^|\n)(?:The\s)?(?=[^\W_])", text[:600]):
        end = names.name_end(text, line.end(), wraps=False)
        if (
            end
            and names.has_form(text[line.end() : end])
            and names.is_form(text[line.end() : end].split()[-1])
        ):
            return [_Found(opening, line.end(), end)]
    return []


def _merged(first: Sequence[_Found], more: Sequence[_Found]) -> list[_Found]:
    """Each party once, by its name without company form."""
    merged: dict[str, _Found] = {}
    for found in (*first, *more):
        merged.setdefault(names.folded(names.without_form(found.name)).removeprefix("the"), found)
    return list(merged.values())


def _aliases_behind(found: _Found, all_found: Sequence[_Found]) -> tuple[Alias, ...]:
    following = min(
        (other.start for other in all_found if other.passage is found.passage and other.start > found.start),
        default=len(found.passage.text),
    )
    text = found.passage.text
    end = min(following, found.end + _ALIAS_ZONE, _above_recitals(text, found.end, following))
    over = _SAID.search(text, found.end, end)
    end = over.start() + 1 if over else end
    return aliases.find(found.passage, found.name, found.end, end)


def _party(found: _Found, all_found: Sequence[_Found]) -> Party:
    span = found.passage.span(found.start, found.end)
    plain = aliases.plain(found.passage, found.start, found.end)
    defined = _aliases_behind(found, all_found)
    said = {names.folded(alias.text) for alias in defined}
    plain = (alias for alias in plain if names.folded(alias.text) not in said)
    return Party(found.name, span, (*plain, *defined))
