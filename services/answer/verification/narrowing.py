"""Finds where a clause speaks of less than a claim: `an undisputed invoice` and no `any invoice`.

Every word of such a claim may stand in the clause; what it leaves out are the words that narrow it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from services.answer.verification.lint.findings import Finding, LintRule
from services.answer.verification.lint.quantities import written
from services.answer.verification.lint.tokens import Token
from services.answer.verification.lint.vocabulary import CURRENCIES
from services.answer.verification.lint.wording import is_content
from services.answer.verification.parties import is_party
from services.answer.verification.same_meaning import meaning_stem

_ADJECTIVE_WORDS = """
    academic accredited active actual additional affiliated approved audited authorised authorized certain
    certified commercial confidential current delayed direct domestic downstream eligible enrolled existing
    external final first foreign former fraudulent historical identifiable incomplete independent indirect
    initial intentional internal last late licensed local material monthly national natural negligent new
    outstanding overdue personal preferred previous prior private professional public qualified qualifying
    quarterly regional registered regulated retail substantial successive temporary wholesale wilful willful
    """
_ADJECTIVES = frozenset(_ADJECTIVE_WORDS.split())
"""Adjectives that leave out a part of what their noun means; `full`, `accurate` or `written` hardly do."""
_TURNING = re.compile(r"un(?!it)[a-z]{2,}(?:ed|able|ible|ful|fair|paid|known|sold|made|given)")
"""`Unpublished`, and no `under` or `unit`."""
_NON = "non"
_ANY = frozenset(
    ("any", "every", "each", "all", "whichever", "whatever", "no", "nobody", "anyone", "everyone")
)
_ANY_REACH = 3
"""Words between `any` and the word that it is about."""
_LINKS = frozenset(("or", "and", "by"))
_MEANT_AS_WELL = frozenset(("such", "relevant", "applicable", "respective", "said", "own"))
_RELATIVES = frozenset(("that", "which", "who", "whose", "whom"))
_BEHIND_PREPOSITIONS = frozenset(("which", "whom"))
_PREPOSITIONS = frozenset(("for", "in", "to", "of", "on", "by", "from", "under", "with", "at"))
_ONLY = frozenset(("only", "solely", "exclusively"))
_ENDS = frozenset(",.;:()!?")
_REACH = 24
"""Tokens of a relative clause, or before `only`, that are looked at."""
_TOLD_SHARE = 0.5
"""Share of the words of a relative clause that a claim must have to tell it."""
_MIN_NARROWING = 2
"""A relative clause of fewer words says little."""
_PARTICIPLE = re.compile(r"[a-z]{3,}ed")
_PARTICIPLES = frozenset(("made", "held", "sent", "sold", "paid", "kept", "shown"))
_SET_ELSEWHERE = frozenset(
    ("specified", "stated", "described", "listed", "referred", "required", "appointed")
)
"""Participles that only tell where something is set out."""


def narrowed(claim: Sequence[Token], clause: Sequence[Token]) -> Iterator[Finding]:
    """Words of a clause that narrow what it shares with a claim, which says it without them."""
    told = {meaning_stem(token.text) for token in claim}
    yield from _by_adjectives(claim, clause, told)
    yield from _by_relative_clauses(clause, told)
    yield from _by_participles(clause, told)
    yield from _by_only(clause, told)


def _by_adjectives(claim: Sequence[Token], clause: Sequence[Token], told: set[str]) -> Iterator[Finding]:
    places: dict[str, list[int]] = defaultdict(list)
    for i, token in enumerate(clause):
        if is_content(token):
            places[meaning_stem(token.text)].append(i)
    for i, token in enumerate(claim):
        held = places.get(meaning_stem(token.text), []) if is_content(token) else []
        held = [] if token.word in CURRENCIES else held
        of_any = any(before.word in _ANY for before in claim[max(0, i - _ANY_REACH) : i])
        starts = [_narrowed_from(clause, at, told, of_any) for at in held]
        if starts and None not in starts:
            yield Finding(LintRule.CONDITION, written(clause[starts[0] : held[0] + 1]))


def _narrowed_from(clause: Sequence[Token], at: int, told: set[str], of_any: bool) -> int | None:
    """Where the first of the words before token `at` stands that narrow it; None where none does."""
    first = None
    for i in range(at - 1, -1, -1):
        token = clause[i]
        if not (is_content(token) or token.word == _NON or token.text == "-"):
            break
        narrows = of_any and token.word not in _MEANT_AS_WELL
        if (narrows and is_content(token)) or _is_narrow(token.word):
            first = i if meaning_stem(token.text) not in told else first
    return first


def _is_narrow(word: str) -> bool:
    return word in _ADJECTIVES or word == _NON or _TURNING.fullmatch(word) is not None


def _by_relative_clauses(clause: Sequence[Token], told: set[str]) -> Iterator[Finding]:
    for i in range(1, len(clause)):
        # `Taxes for which the Customer is liable`.
        at = (
            i - 2 if clause[i].word in _BEHIND_PREPOSITIONS and clause[i - 1].word in _PREPOSITIONS else i - 1
        )
        if clause[i].word not in _RELATIVES or at < 0 or not is_content(clause[at]):
            continue
        body = list(takewhile(lambda token: token.text not in _ENDS, clause[i + 1 : i + _REACH]))
        elsewhere = {meaning_stem(word.text) for word in (*clause[:i], *clause[i + 1 + len(body) :])}
        said = [meaning_stem(word.text) for word in body if is_content(word)]
        if meaning_stem(clause[at].text) in told:
            said = [stem for stem in said if stem not in elsewhere]
        if len(said) >= _MIN_NARROWING and not _is_told(clause[at], said, told):
            yield Finding(LintRule.CONDITION, written(clause[at : i + 4]))


def _is_told(noun: Token, said: Sequence[str], told: set[str]) -> bool:
    """Whether a claim has enough of a relative clause, or nothing of what that is about."""
    held = sum(stem in told for stem in said)
    if meaning_stem(noun.text) in told:
        return said[0] in told or held >= _TOLD_SHARE * len(said)
    return held > 0 or not is_party(noun.word)


def _by_participles(clause: Sequence[Token], told: set[str]) -> Iterator[Finding]:
    """`Fees paid in error`, `users located abroad`."""
    for i in range(len(clause) - 2):
        noun, deed, behind = clause[i : i + 3]
        if (
            _is_participle(deed.word)
            and is_content(noun)
            and not (is_content(behind) or behind.text in _ENDS or behind.word in _LINKS)
            and meaning_stem(noun.text) in told
            and meaning_stem(deed.text) not in told
        ):
            yield Finding(LintRule.CONDITION, written(clause[i : i + 4]))


def _is_participle(word: str) -> bool:
    return word not in _SET_ELSEWHERE and (word in _PARTICIPLES or _PARTICIPLE.fullmatch(word) is not None)


def _by_only(clause: Sequence[Token], told: set[str]) -> Iterator[Finding]:
    """`For teaching and unpublished research only`: a claim must tell all of it."""
    for i, token in enumerate(clause):
        ends = i + 1 == len(clause) or clause[i + 1].text in _ENDS
        if token.word not in _ONLY or not ends:
            continue
        before = clause[max(0, i - _REACH) : i][::-1]
        limit = list(takewhile(lambda token: token.text not in _ENDS, before))[::-1]
        if any(is_content(word) and meaning_stem(word.text) not in told for word in limit):
            yield Finding(LintRule.CONDITION, written([*limit, token]))
