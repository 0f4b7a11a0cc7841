"""Finds the other names of a party: defined short names, roles, initials, former names, the file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from corpus.profiles import OtherName, OtherNameKind, Party
from services.ingest.profile import names
from services.ingest.profile.passage import Passage, one_line
from services.ingest.profile.vocabulary import ROLES

_ROLE = re.compile(r"([^\W_]+)[\"”]?:?\s")
_NOBODY = re.compile(
    r"(?i)(?:the\s)?(?:(?:each|every|both|a|this)\s)?(?:part(?:y|ies)|agreements?|contract|effective\sdate|date"
    r"|execution\sdate|commencement\sdate|amendment(?:\sdate)?|closing\sdate|program|territory|products?"
    r"|services?|we|us|our|you|yours?|it|msa|term|lease|licen[sc]e|addendum|signing\sdate|exhibit|shares"
    r"|exchange\sact)"
)
"""What a definition between parties also names, besides parties."""
_QUOTED = re.compile(r"[\"“‘'`”]{1,2}([^\"“”‘()]{1,60}?)[,.]?(?:[\"”’']{1,2}(?=[\s,;:.)\]]|$)|(?=\)))")
_ASIDE = re.compile(r"\(([^()]{1,400})\)")
_LEFT_OUT = re.compile(
    r"\band\s(?:\[[^\]]{1,60}\]|_{3,}|(?:the|an?|any|each|every|such)\s(?:[\w-]{1,20}\s){0,3}?(?:company"
    r"|corporation|firm|entity|institution|organi[sz]ation|person|individual|party|undersigned|customer|client"
    r"|subscriber|user|member|participant|applicant|employee|licensee|purchaser|buyer|tenant)\b)",
    re.IGNORECASE,
)
"""A party whose name is not told: `and the company named in the Order Form (the “Licensee”)`. What stands
behind it is not of the party before."""
_TOGETHER = re.compile(r"\b(?:together|collectively|jointly)\b", re.IGNORECASE)
_COLLECTIVE = 8_000
"""Characters at the top in which several parties are given one name."""
_SHORTEST = 4
"""Letters by which a file's name is told to be a party's."""
_BARE = re.compile(r"(?:the\s)?([A-Z][\w.&'-]{1,25}(?:\s[A-Z][\w.&'-]{1,20}){0,2})")
_HEREINAFTER = re.compile(
    r"(?i:herein(?:after)?|hereafter)[^\"“()]{0,60}"
    r"((?:(?:the\s)?[\"“][^\"“”()\n]{1,60}[\"”'],?\s?(?:or\s)?){1,3})"
)
_OTHER_NAME = re.compile(
    r"(?i:\b(?P<former>f/k/a|fka|formerly(?:\sknown\sas)?|previously\sknown\sas)"
    r"|\b(?P<trade>d/b/a|dba|doing\sbusiness\sas|trading\sas|t/a|a/k/a|also\sknown\sas))"
    r"[\s:,]{1,2}(?:the\s)?[\"“]?(?=[^\W_])"
)


def plain(passage: Passage, start: int, end: int) -> Iterator[OtherName]:
    """The name from `start` to `end` of `passage` without its company form, if it has one."""
    start += 4 if passage.text[start : start + 4].lower() == "the " else 0
    name = passage.text[start:end]
    without = names.without_form(name)
    if 1 < len(without) < len(name.rstrip(" ,")):
        yield OtherName(one_line(without), OtherNameKind.PLAIN, passage.span(start, start + len(without)))


def find(passage: Passage, name: str, start: int, end: int) -> tuple[OtherName, ...]:
    """The other names that `passage` gives a party `name` from `start`, behind its name, to `end`."""
    found: dict[str, OtherName] = {}
    for other in (
        *_in_asides(passage, name, start, end),
        *_behind_hereinafter(passage, name, start, end),
        *_known_as(passage, start, end),
    ):
        if names.folded(other.text) not in ("", names.folded(name)):
            found.setdefault(names.folded(other.text), other)
    return tuple(sorted(found.values(), key=lambda other: other.span.start if other.span else 0))


def is_role(words: str) -> bool:
    """Whether words name what somebody does in an agreement, not who he is."""
    said = re.findall(r"[^\s.,]+", words.lower())
    return all(word in ROLES for word in said if word != "the")


def behind_role(text: str, start: int) -> int:
    """Where the words behind a role at `start` begin; `start` when none stands there."""
    word = _ROLE.match(text, start)
    return word.end() if word and word[1].lower() in ROLES and not names.is_body(word[1]) else start


def with_collective(passage: Passage, parties: tuple[Party, ...]) -> tuple[Party, ...]:
    """The parties with the names that several of them share: `(A and B together, “the Publishers”)`."""
    for aside in _ASIDE.finditer(passage.text, 0, _COLLECTIVE):
        for term in _QUOTED.finditer(passage.text, _shared_from(passage.text, aside), aside.end()):
            for other in _other_name(passage, "", term.start(1), term.end(1)):
                parties = tuple(_with_shared(party, other, aside[1]) for party in parties)
    return parties


def _with_shared(party: Party, other: OtherName, words: str) -> Party:
    return (
        replace(party, other_names=(*party.other_names, other)) if _mentions(words, party, other) else party
    )


def _mentions(words: str, party: Party, other: OtherName) -> bool:
    """Whether words speak of a party that does not have the other name yet."""
    said = [known.text for known in party.other_names if known.kind is not OtherNameKind.PLAIN]
    named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) for name in said)
    return named and other.text not in said


def in_file_name(file_name: str) -> str | None:
    """What a file's name begins with, such as `SLINGERBAGINC` of `SLINGERBAGINC_07_07_2020.txt`."""
    first = re.match(r"[A-Za-z][A-Za-z0-9&]{3,60}(?=[_.\s-])", file_name.rsplit("/", 1)[-1])
    return first[0] if first else None


def agrees(written: str, name: str) -> bool:
    """Whether a name run together in a file's name is a party's, or its first words, or begins with it."""
    given = _without_joined_form(names.folded(written))
    beginnings = list(accumulate(map(names.folded, names.without_form(name).split())))
    if len(given) < _SHORTEST or len(beginnings[-1]) < _SHORTEST:
        return False
    joined = given.startswith(beginnings[-1]) or beginnings[-1].startswith(given)
    return given in beginnings or (names_company(written) and joined)


def names_company(written: str) -> bool:
    """Whether a name run together says that it is a company's: `SLINGERBAGINC`."""
    return _without_joined_form(names.folded(written)) != names.folded(written)


def _without_joined_form(written: str) -> str:
    return re.sub(r"(?<=[a-z0-9]{3})(?:inc|corp|corporation|ltd|limited|llc|plc|lp|company)$", "", written)


def _in_asides(passage: Passage, name: str, start: int, end: int) -> Iterator[OtherName]:
    """The terms of the first aside that has any, and those of later ones that speak of the same party."""
    sure, behind = True, start
    for aside in _ASIDE.finditer(passage.text, start, end):
        if not sure and _LEFT_OUT.search(passage.text, behind, aside.start()):
            return
        behind = aside.end()
        terms = list(_QUOTED.finditer(passage.text, aside.start(1), aside.end()))
        if not terms and (bare := _BARE.fullmatch(passage.text, aside.start(1), aside.end(1))):
            terms, sure = [bare], False
        shared = _shared_from(passage.text, aside)
        for term in terms:
            for other in _other_name(passage, name, term.start(1), term.end(1)):
                if (sure and term.start() < shared) or _speaks_of(other, name):
                    yield other
        sure = sure and not any(term.start() < shared for term in terms)


def _shared_from(text: str, aside: re.Match[str]) -> int:
    """Where an aside begins to speak of several parties together; its end where it does not."""
    together = _TOGETHER.search(text, aside.start(), aside.end())
    return together.start() if together else aside.end()


def _speaks_of(other: OtherName, name: str) -> bool:
    """Whether an other name can only be that of the party `name`."""
    own, words = names.folded(name), (names.folded(word) for word in other.text.split())
    return other.kind is not OtherNameKind.DEFINED or any(len(word) > 2 and word in own for word in words)


def _behind_hereinafter(passage: Passage, name: str, start: int, end: int) -> Iterator[OtherName]:
    for said in _HEREINAFTER.finditer(passage.text, start, end):
        for term in _QUOTED.finditer(passage.text, said.start(1), said.end(1)):
            yield from _other_name(passage, name, term.start(1), term.end(1))


def _known_as(passage: Passage, start: int, end: int) -> Iterator[OtherName]:
    for known in _OTHER_NAME.finditer(passage.text, start, end):
        stop = names.name_end(passage.text, known.end()) or _word_end(passage.text, known.end())
        kind = OtherNameKind.FORMER if known["former"] else OtherNameKind.TRADE
        text = one_line(passage.text[known.end() : stop])
        yield OtherName(text, kind, passage.span(known.end(), stop))


def _word_end(text: str, start: int) -> int:
    word = re.compile(r"[\w.]*").match(text, start)
    return word.end() if word else start


def _other_name(passage: Passage, name: str, start: int, end: int) -> Iterator[OtherName]:
    term = passage.text[start:end]
    start += len(term) - len(term.lstrip(" ,-"))
    if term.lower().startswith("the "):
        start += 4
    text = one_line(passage.text[start:end])
    if not any(map(str.isalnum, text)) or _NOBODY.fullmatch(text):
        return
    yield OtherName(text, _kind(text, name), passage.span(start, end))


def _kind(text: str, name: str) -> OtherNameKind:
    if is_role(text) or re.fullmatch(r"(?i)party\s\w{1,3}", text):
        return OtherNameKind.ROLE
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", name)).lower()
    letters = names.folded(text)
    if text.isupper() and 1 < len(letters) <= 6 and letters in initials:
        return OtherNameKind.ABBREVIATION
    return OtherNameKind.DEFINED
