"""Recognises questions that ask for each of many documents: `Which of our leases allow subletting?`

Each document is asked the same of itself alone: `Does the lease allow subletting?` A question about a single
document may begin alike (`Which contracts must the Buyer take over?`), so that only those count in which the
documents say, do or have something, or are told one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NOUN = r"(?:agreement|contract|document|deal|lease|nda|msa|sow|amendment)"
_WORD = (
    r"(?!(?:other|such|said|following|third|underlying|related|ancillary|two|both|three)\b)[a-z][a-z-]{2,20}"
)
_OURS = r"(?:of\s)?(?:all\s)?(?:of\s)?(?:(?:our|my|these|those|the)\s)?"
_OF_OURS = r"(?:\sone)?(?:\sof)?(?:\s(?:our|my|these|those|the))?"
_KIND = rf"(?P<kind>(?:{_WORD}\s){{0,2}}?{_NOUN}s)"
_ONE_KIND = rf"(?P<kind>(?:{_WORD}\s){{0,2}}?{_NOUN}s?)"
_NAMED = r"(?:\swith\s[A-Z][\w&.,' -]{1,60}?)?"
_PLEASE = r"(?:please\s)?(?:(?:can|could)\syou\s)?(?:please\s)?"
_REST = r"\s(?P<rest>.+)"

_WHICH = rf"(?:which|how\smany|what(?=\s(?:of\s)?(?:our|my)\b))\s{_OURS}{_KIND}{_REST}"
_DO_ALL = rf"(?P<asks>do|does|are|is|can|may)\s(?:all|any|each|every){_OF_OURS}\s{_ONE_KIND}{_REST}"
_LISTED = rf"{_PLEASE}(?:list|show|find|give|name|identify|count)\s(?:me\s|us\s)?{_OURS}{_KIND}{_NAMED},?"
_LIST = rf"{_LISTED}\s(?:that|which){_REST}"
_LIST_WITH = rf"{_LISTED}\s(?:with|without|having|containing)\s(?P<having>.+)"
_LIST_WHERE = rf"{_LISTED}\s(?:where|in\swhich|under\swhich)\s(?P<asked>.+)"
_IN_WHICH = rf"(?:in|under)\s(?:which|what|how\smany)\s{_OURS}{_KIND}\s(?P<asked>.+)"
_COMPARE = (
    rf"{_PLEASE}(?:compare|contrast)\s(?P<asked>.+?)\s(?:across|between|among|in|of|for|over)\s{_OURS}{_KIND}"
)
_IN_EACH = rf"(?P<asked>.+?)\s(?:across|in|under|among|of)\s(?:all|each|every){_OF_OURS}\s{_ONE_KIND}"
_PATTERNS = (
    re.compile(_WHICH, re.IGNORECASE),
    re.compile(_DO_ALL, re.IGNORECASE),
    re.compile(_LIST, re.IGNORECASE),
    re.compile(_LIST_WITH, re.IGNORECASE),
    re.compile(_LIST_WHERE, re.IGNORECASE),
    re.compile(_IN_WHICH, re.IGNORECASE),
    re.compile(_COMPARE, re.IGNORECASE),
    re.compile(_IN_EACH, re.IGNORECASE),
)

_COMPARED = re.compile(
    rf"{_PLEASE}(?:compare|contrast|what(?:['’]s|\sis|\sare)\sthe\sdifferences?)\b"
    r"(?:\s(?:between|and|on|in|about|as\sto|regarding|concerning|of|(?:the\s)?(?:parties|company)))*\s(?P<asked>.+)"
    r"|how\s(?:do|does)\s(?P<differing>.+?)\s(?:differ|compare)",
    re.IGNORECASE,
)
_SAY = re.compile(
    r"(?:do(?:n['’]t)?\s)?(?:not\s|also\s|still\s)*(?P<says>(?:address|allow|automatically|ban|call\sfor|cap"
    r"|carry|contain|cover|define|demand|disclaim|end|exclude|expire|forbid|give|grant|guarantee|have(?!\sto\b|\sbeen\b)|impose"
    r"|include|lack|last|let|limit|mention|name|oblige|offer|permit|prohibit|protect|provide|refer\sto|renew"
    r"|require|restrict|run|say|set|specify|state|stipulate|terminate|use|waive)\b.*)",
    re.IGNORECASE,
)
"""What a document may do, not what somebody does with it."""
_ARE = re.compile(
    r"(?P<is>are|can|may)(?:n['’]t|['’]t|not|\snot)?\s(?P<being>(?:be\s)?(?:assignable|assigned"
    "|auto-renewing|cancelled|capped|ended|exclusive|extended|governed|limited|mutual|non-exclusive|perpetual"
    r"|renewed|silent|subject\sto|terminable|terminated|transferable|transferred)\b.*)",
    re.IGNORECASE,
)
"""What a document may be, or what may become of it."""
_VERBS = {"are": "is", "can": "can", "may": "may"}


@dataclass(frozen=True, slots=True)
class AskedOfEach:
    """What a question asks of each of many documents."""

    question: str
    """The same of one document."""
    kind: str
    """What the documents are called, in the singular and in small letters: `supply agreement`."""


def asked_of_each(question: str) -> AskedOfEach | None:
    """What a question asks of each document; None when it asks for something else."""
    return next(_readings(_plain(question)), None)


def compared(question: str) -> str:
    """What is asked of each of the documents that a question compares; any other question as it is.

    `Compare the notice periods` asks `The notice periods?`
    """
    match = _COMPARED.fullmatch(_plain(question))
    return _sentence(match["asked"] or match["differing"]) if match else question


def _plain(question: str) -> str:
    return " ".join(question.split()).rstrip(" ?.!")


def _sentence(asked: str) -> str:
    return f"{asked[0].upper()}{asked[1:]}?"


def _readings(plain: str) -> Iterator[AskedOfEach]:
    for pattern in _PATTERNS:
        if match := pattern.fullmatch(plain):
            said = match.groupdict()
            kind = said["kind"].lower().removesuffix("s")
            asked = said.get("asked") or _of_one(kind, said)
            if asked:
                yield AskedOfEach(_sentence(compared(asked).rstrip("?")), kind)


def _of_one(kind: str, said: dict[str, str]) -> str:
    """The question to one document of what is said of many; empty when it is not said of the documents."""
    if said.get("having"):
        return f"does the {kind} have {said['having']}"
    asks = said.get("asks", "").lower()
    begins = {"is": "are "}.get(asks, f"{asks} ") if asks not in ("", "do", "does") else ""
    for rest in _tails(said["rest"]):
        if match := _SAY.fullmatch(f"{begins}{rest}"):
            return f"does the {kind} {match['says']}"
        if match := _ARE.fullmatch(f"{begins}{rest}"):
            return f"{_VERBS[match['is'].lower()]} the {kind} {match['being']}"
    return ""


def _tails(rest: str) -> Iterator[str]:
    """What is said, behind a name of one to six words where it begins with `with`."""
    words = rest.split()
    if words[0].lower() != "with":
        yield rest
        return
    yield from (" ".join(words[start:]) for start in range(2, min(len(words), 8)))
