"""Finds who makes an agreement: behind `between`, in labelled lines, in signature blocks, under a title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpus.profiles import OtherName, Party
from services.ingest.profile import names, other_names
from services.ingest.profile.passage import Passage, one_line

_ANCHOR = re.compile(
    r"\b(?:by\sand\s(?:between|among(?:st)?)|between|among(?:st)?|zwischen|entre|tussen|parties:?"
    r"|entered\sinto\sby(?!\sand\s)|agreement\swith)\b[:,]?\s",
    re.IGNORECASE,
)
"""What stands before a list of parties."""
_RECITALS = re.compile(
    r"(?i:\bwhereas\b|\bwitnesseth\b|\bw\si\st\sn\se\ss\ss\se\st\sh\b|\br\se\sc\si\st\sa\sl|\bnow,?\stherefore\b)"
    r"|\b(?:RECITALS?|Recitals?|BACKGROUND|Background|PREAMBLE)\b|\n1\.\s|\bARTICLE\s(?:1|I|ONE)\b"
    r"|\n(?:Yours|Sincerely|Very\struly|(?:Kind|Best)\sregards)\b"
)
"""What ends the words that begin an agreement, or those of a letter about one."""
_BEGINS = re.compile(
    r"\bthis\s(?:[^\s.;]{1,30}\s){0,14}?(?:agreement|amendment|contract|lease|licen[sc]e|addendum|deed|exhibit\s\w)"
    r"(?=[\s,]{1,2}(?:\(|is\b|made\b|dated\b|entered\b|by\b|between\b|effective\b))",
    re.IGNORECASE,
)
"""The first words of the agreement itself, below its cover and contents."""
_LISTS = re.compile(r"\b(?:between|among|amongst|by|dated|made|entered\sinto|effective)\b", re.IGNORECASE)
_LIST_PLACE = re.compile(
    r"(?:\b(?i:and|&|und|agreement\swith)[:,]?\s|\b(?:et|y|en|e)\s|[;,]\s|\n|\(\w{1,4}\)\s|\b\d{1,2}[.)]\s"
    r"|\bthe\sother(?:\shand|\spart)?,?\s)(?:\(\w{1,3}\)\s|\d{1,2}[.)]\s)?(?:(?:the|der|die|den)\s)?(?=[^\W_])"
)
"""What stands before each party of a list."""
_LABELLED = re.compile(
    r"(?:(?<!of\s)\bParty\s[A-D](?=:)|(?:^|[\n|]\s?)(?:Party\s(?:[A-Z]|\d|One|Two)|To|From|Licen[sc]or|Licen[sc]ee"
    r"|Customer|Client|Supplier|Vendor|Seller|Buyer|Purchaser|Lessor|Lessee|Landlord|Tenant|Distributor|Sponsor|Franchisor|Franchisee"
    r"|Company|Contractor|Consultant|Provider|Recipient|Service\sProvider|Disclosing\sParty|Receiving\sParty"
    r"|Subscriber|Issued\sby))(?:(?:\sName)?:|\s\||(?<=by))\s(?:Name:?\s(?:\|\s)?)?(?:the\s)?(?=[^\W_])",
    re.IGNORECASE,
)
"""What stands before a party of a form or a letter: `Party A:`, `From:`, `Licensor | …`."""
_DESCRIBED = re.compile(
    r",?\s?(?:\((?:[^()]{0,60}\s)?[\"“‘']|\(hereinafter\s|\([A-Z][\w.-]{1,20}(?:\s[A-Z]\w{1,15})?\)"
    r"|\(?(?:an?|the|having|located|residing|whose|organi[sz]ed|incorporated|acting|established|registered)\s)"
    r"|,\s(?:with|as|on\sbehalf|formed|being|its\soffice|in\s(?:his|her|its)\scapacity)\s"
)
"""Words that tell the party behind its name."""
_DEFINED_SOON = re.compile(
    r"[^()]{0,220}\((?:the\s|hereinafter|\"|“|each|collectively|together)", re.IGNORECASE
)
_PLACES = re.compile(r"\b(?:listed|traded|quoted|laws\sof|(?:in)?corporated\sin)\b[^,;()]*\Z")
"""Words that go on with the names of places and markets, also behind `and`."""
_SAID = re.compile(r"(?<=[\w)\"”][\w)\"”][\w)\"”])\.\s(?!Here)[A-Z]")
"""The end of the sentence that names a party."""
_SENTENCE_END = re.compile(r"[\w)\"”]{3,}\.\s[A-Z]")
_ASIDE = re.compile(r"\([^()]{0,400}\)")
_BLANK = re.compile(r"[_\]●•…]+|\.{3,}")
"""Where a name is left out."""
_COURTESY = r"(?:Mr|Ms|Mrs|Miss|Dr|Prof)\.?"
_DEAR = re.compile(rf"\nDear\s{_COURTESY}\s([A-Z][\w'’-]{{1,30}})")
_SIGNER = re.compile(
    r"(?:^|\n|:\s|_\s|\s\d{4}\s|\b(?:Officer|President|Secretary|Director|Manager|Member|Signatory|Counsel"
    r"|Treasurer)\s(?=[A-Z]{2}))(?:\d{4}\s)?(?=[^\W_])"
)
"""What stands before a company among signatures: a line's start, a date, the title of who signed above."""
_SIGNS = re.compile(r"(?i:\bby\s?:|/s/)")
_ZONE = 3_500
"""Characters in which a list of parties stands."""
_OTHER_NAMES_ZONE = 700
"""Characters behind a name in which its other names stand."""
_HEAD = 2_500
"""Characters at the top, or from where an agreement begins, in which the list of its parties begins."""
_TOP = 600
"""Characters at the top in which the issuer of a document stands."""
_FEWEST = 2
"""Parties of an agreement."""
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
    listed = _merged(_listed(opening), ())
    ways: tuple[Callable[[], Sequence[_Found]], ...] = (
        lambda: _at_line_starts(opening),
        lambda: _behind_labels(opening),
        lambda: _addressed(opening),
        lambda: _signing(signatures),
        lambda: _issuers(opening),
    )
    for way in ways:
        if len(listed) >= _FEWEST:
            break
        listed = _merged(listed, way())
    listed.sort(key=lambda found: (found.passage is not opening, found.start))
    return other_names.with_collective(opening, tuple(_party(found, listed) for found in listed))


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
        worth = (len(found) >= _FEWEST, sum(bool(_other_names_behind(item, found)) for item in found))
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
    count = 0
    left_out = _BLANK.match(text, start)
    behind = left_out.end() if left_out else start
    places = [(start, _first_word(text, start))]
    places += [match.span() for match in _LIST_PLACE.finditer(text, start, border)]
    for place, position in places:
        if (place < behind and count) or any(begin < position < end for begin, end in asides):
            continue
        if _is_over(text, behind, place, count):
            return
        if _PLACES.search(text, max(behind, place - _NEAR), place):
            continue
        end = names.name_end(text, position)
        if end and end <= border and _is_party(text, place, position, end):
            yield _Found(passage, position, end)
            behind = end
            count += 1


def _is_over(text: str, behind: int, place: int, count: int) -> bool:
    """Whether no party can stand at `place`: `count` were found, and the last ends at `behind`."""
    if count < _FEWEST:
        return place - behind > (_FAR if count or _BLANK.match(text, behind - 1) else _NEAR)
    return place - behind > _FAR or _SENTENCE_END.search(text, behind, place + 1) is not None


def _first_word(text: str, start: int) -> int:
    lead = re.compile(
        r"(?:on\sthe\sone\shand,?\s|\(\w{1,3}\)\s|\d{1,2}[.)]\s|(?:the|der|die|den)\s|both\s)*"
    ).match(text, start)
    return lead.end() if lead else start


def _is_party(text: str, place: int, start: int, end: int) -> bool:
    """Whether the name at `start` is that of a party, by its form or by what is said of it."""
    name = text[start:end]
    if other_names.is_role(name) or not names.may_name(name) or names.within_partners(text, place):
        return False
    formed = names.has_form(name)
    described = _DESCRIBED.match(text, end) is not None
    if text[place] in ",\n" and text[place : place + 5].lower() != ", and":
        named = " " in name and (formed or text.startswith("(", end + 1))
        return names.ends_in_form(name) or (text[place] == "\n" and named)
    alone = text[end : end + 1] in ("\n", "") or text[end : end + 5].lower() == " and "
    defined = _DEFINED_SOON.match(text, end) is not None and not text[place].isdigit()
    return formed or described or (" " in name and (alone or defined))


def _at_line_starts(opening: Passage) -> list[_Found]:
    """The list of an agreement that begins with its parties: `Acme, Inc. (“Acme”) and … agree`."""
    text = opening.text
    for line in re.finditer(r"(?:^|\n)(?:\d{1,2}[.)]\s)?(?:The\s)?", text[:_HEAD]):
        end = names.name_end(text, line.end())
        if end and names.has_form(text[line.end() : end]) and _DESCRIBED.match(text, end):
            return list(_list_at(opening, line.end()))
    return []


def _behind_labels(opening: Passage) -> list[_Found]:
    text = opening.text
    found = []
    for label in _LABELLED.finditer(text, 0, _HEAD):
        start = label.end()
        end = names.name_end(text, start, wraps=False)
        if end and (names.has_form(text[start:end]) or " " in text[start:end]):
            found.append(_Found(opening, start, end))
    return found


def _addressed(opening: Passage) -> list[_Found]:
    """The person whom a letter addresses, but not for a company: `Dear Ms. Farrant` names her surname."""
    dear = _DEAR.search(opening.text, 0, _HEAD)
    if dear is None:
        return []
    name = re.compile(
        rf"\n(?:{_COURTESY}\s)?((?:[A-Z][\w.'’-]{{0,30}}\s){{1,3}}{re.escape(dear[1])})(?=[\n,])"
    )
    above = name.search(opening.text, 0, dear.start())
    if above is None or names.is_office(opening.text[above.end() + 1 :].split("\n", 1)[0]):
        return []
    return [_Found(opening, above.start(1), above.end(1))]


def _signing(signatures: Passage) -> list[_Found]:
    """The companies above a line `By:`."""
    text = signatures.text
    found: list[_Found] = []
    for place in _SIGNER.finditer(text):
        start = other_names.behind_role(text, place.end())
        end = names.name_end(text, start, wraps=False)
        if end and names.has_form(text[start:end]) and _SIGNS.search(text, end, min(len(text), end + 120)):
            found.append(_Found(signatures, start, end))
    return found


def _issuers(opening: Passage) -> list[_Found]:
    """The company in the first lines of a policy, a notice or terms that nobody signs."""
    text = opening.text
    for line in re.finditer(r"(?:^|\n)(?:The\s)?(?=[^\W_])", text[:_TOP]):
        end = names.name_end(text, line.end(), wraps=False)
        if end and names.ends_in_form(text[line.end() : end]):
            return [_Found(opening, line.end(), end)]
    return []


def _merged(first: Sequence[_Found], more: Sequence[_Found]) -> list[_Found]:
    """Each party once; of `more` only those that no party of `first` is but for its company form."""
    known = {_key(names.without_form(found.name)) for found in first}
    new = (found for found in more if _key(names.without_form(found.name)) not in known)
    merged: dict[str, _Found] = {}
    for found in (*first, *new):
        merged.setdefault(_key(found.name), found)
    return list(merged.values())


def _key(name: str) -> str:
    return names.folded(name).removeprefix("the")


def _other_names_behind(found: _Found, all_found: Sequence[_Found]) -> tuple[OtherName, ...]:
    following = min(
        (other.start for other in all_found if other.passage is found.passage and other.start > found.start),
        default=len(found.passage.text),
    )
    text = found.passage.text
    end = _above_recitals(text, found.end, min(following, found.end + _OTHER_NAMES_ZONE))
    over = _SAID.search(text, found.end, end)
    end = over.start() + 1 if over else end
    return other_names.find(found.passage, found.name, found.end, end)


def _party(found: _Found, all_found: Sequence[_Found]) -> Party:
    span = found.passage.span(found.start, found.end)
    plain = other_names.plain(found.passage, found.start, found.end)
    defined = _other_names_behind(found, all_found)
    said = {other.text.casefold() for other in defined}
    plain = (other for other in plain if other.text.casefold() not in said)
    return Party(found.name, span, (*plain, *defined))
