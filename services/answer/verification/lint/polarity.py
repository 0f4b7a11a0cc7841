"""Finds negations and modals, and what they are about.

A negation or modal is about the next content words of its sentence, the first of them its head: `not`
of `shall not redistribute the Data` is about redistributing data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.answer.verification.lint.tokens import Kind, Token
from services.answer.verification.lint.vocabulary import (
    AUXILIARIES,
    DENIALS,
    DENIED_SUBJECTS,
    EXEMPTED,
    GENERIC,
    LEADING_TO,
    MODALS,
    NEGATIONS,
    SOFT_NEGATIONS,
    SUPPORTING_MODALS,
    Force,
)
from services.answer.verification.lint.wording import is_content, stem_of

SCOPE = 5
"""Content words that a negation or modal is taken to be about."""
_REACH = 24
"""Tokens within which they are looked for."""
_LEAD_REACH, _LIST_REACH = 12, 200
"""Tokens from a negation to the colon of its list, and of that list."""
_SUBJECT_REACH = 8
"""Tokens between `no` of `no person may` and its modal."""
_SENTENCE_ENDS = frozenset(".!?;")
_CLAUSE_ENDS = frozenset(".!?;,:")
_LIMIT = ("limit",)
"""`Without limitation` and `not limited to` are about nothing else."""
_FORCE_WORDS = frozenset((*MODALS, *SUPPORTING_MODALS))


@dataclass(frozen=True, slots=True)
class Negation:
    """A word that denies, and the stems it is about; none where it stands alone."""

    word: str
    scope: tuple[str, ...]
    soft: bool
    """Whether it may be said in other words, see `SOFT_NEGATIONS` and `DENIALS`."""
    denial: bool
    """Whether it is one of `DENIALS`."""
    text: str
    listed: frozenset[str]
    """The stems of the list that it leads into: `shall not: (a) …; (b) …`; empty for most."""

    @property
    def head(self) -> str:
        """The first stem of its scope; empty where it stands alone."""
        return self.scope[0] if self.scope else ""


@dataclass(frozen=True, slots=True)
class Modal:
    """A duty, permission or advice, and the stems it is about."""

    force: Force
    scope: tuple[str, ...]
    asked: bool
    """Whether a statement that says it must have it from its quotes."""
    text: str

    @property
    def head(self) -> str:
        """The first stem of its scope; empty where it stands alone."""
        return self.scope[0] if self.scope else ""


def negations_of(tokens: Sequence[Token], skipped: frozenset[int]) -> Iterator[Negation]:
    """Every negation but those at the tokens `skipped`, in order."""
    for i, token in enumerate(tokens):
        denial = token.word in DENIALS
        soft = denial or token.word in SOFT_NEGATIONS
        if i in skipped or not (soft or _is_negation(token)) or _denies_nothing(tokens, i):
            continue
        word = "not" if token.word.endswith("n't") or token.word == "cannot" else token.word
        scope = _scope(tokens, i + 1, _CLAUSE_ENDS if denial else _SENTENCE_ENDS) or _before(tokens, i)
        if word == "non" or scope[:1] == _LIMIT:
            scope = scope[:1]
        text = " ".join(token.text for token in tokens[i : i + 4] if token.kind is not Kind.MARK)
        yield Negation(word, scope, soft, denial, text, _listed_behind(tokens, i))


def modals_of(tokens: Sequence[Token]) -> Iterator[Modal]:
    """Every modal, in order."""
    for i, token in enumerate(tokens):
        asked = token.word in MODALS
        force = MODALS.get(token.word) or SUPPORTING_MODALS.get(token.word)
        if force is None or (token.text == "May" and not token.starts):
            continue
        if token.word in AUXILIARIES and _leads_to_modal(tokens, i):
            # `shall not be required` is told by `required`.
            continue
        denied = _is_denied(tokens, i)
        if denied:
            force = _denied(force, token.word)
        yield Modal(force, _scope(tokens, i + 1), asked, token.text)


def _denied(force: Force, word: str) -> Force:
    """In contracts `may not` and `shall not` both forbid; `not required` lets off."""
    if force is Force.DUTY and word in EXEMPTED:
        return Force.EXEMPTION
    return Force.PERMISSION if force is Force.BAN else Force.BAN


def _is_denied(tokens: Sequence[Token], i: int) -> bool:
    """Whether a modal is denied: `may not`, `shall in no event`, `is not required`, `no person may`."""
    word = tokens[i].word
    if word in ("cannot", "can't"):
        return True
    if word not in AUXILIARIES:
        return any(_is_negation(token) for token in _clause_before(tokens, i, 4))
    behind = [token.word for token in tokens[i + 1 : i + 4]]
    if behind[:1] in (["not"], ["never"], ["neither"]) or behind[:2] == ["in", "no"]:
        return True
    return any(token.word in DENIED_SUBJECTS for token in _clause_before(tokens, i, _SUBJECT_REACH))


def _leads_to_modal(tokens: Sequence[Token], i: int) -> bool:
    """Whether another word says what the modal would: `shall be permitted`, `shall have no obligation`."""
    behind = [
        token.word for token in tokens[i + 1 : i + 5] if token.word not in ("not", "no", "in", "any", "the")
    ]
    return behind[:1] in (["be"], ["have"]) and len(behind) > 1 and behind[1] in LEADING_TO


def _clause_before(tokens: Sequence[Token], i: int, reach: int) -> Iterator[Token]:
    """Up to `reach` tokens before a modal, backwards, to the last comma or modal."""
    for at in range(i - 1, max(-1, i - 1 - reach), -1):
        if tokens[at].text in _CLAUSE_ENDS:
            return
        yield tokens[at]
        if tokens[at].word in AUXILIARIES:
            return


def _scope(tokens: Sequence[Token], i: int, ends: frozenset[str] = _SENTENCE_ENDS) -> tuple[str, ...]:
    """Stems and numbers from token `i` to the end of the sentence, or to one of `ends`."""
    found: list[str] = []
    for token in tokens[i : i + _REACH]:
        if token.text in ends or len(found) == SCOPE:
            break
        if token.kind in (Kind.NUMBER, Kind.CODE):
            found.append(token.word)
        elif is_content(token) and token.word not in _FORCE_WORDS and token.word not in GENERIC:
            found.append(stem_of(token.word))
    return tuple(found)


def _listed_behind(tokens: Sequence[Token], i: int) -> frozenset[str]:
    """Stems of the list that token `i` leads into, from its colon to the end of the sentence."""
    near = [token.text for token in tokens[i + 1 : i + 1 + _LEAD_REACH]]
    colon = next((at for at, text in enumerate(near) if text in _CLAUSE_ENDS), None)
    if colon is None or near[colon] != ":":
        return frozenset()
    start, stems = i + 2 + colon, set[str]()
    for token in tokens[start : start + _LIST_REACH]:
        if token.text in ".!?":
            break
        if is_content(token):
            stems.add(stem_of(token.word))
    return frozenset(stems)


def _before(tokens: Sequence[Token], i: int) -> tuple[str, ...]:
    """Stems before a negation that ends its sentence, the nearest first."""
    near = (tokens[at] for at in range(i - 1, max(-1, i - 1 - _REACH), -1))
    return tuple(stem_of(token.word) for token in near if is_content(token))[:SCOPE]


def _is_negation(token: Token) -> bool:
    return token.word in NEGATIONS or token.word.endswith("n't")


def _denies_nothing(tokens: Sequence[Token], i: int) -> bool:
    """Whether `No` stands for a number, as in `No. 5`, or begins a reply, which then says it all."""
    behind = tokens[i + 1 : i + 3]
    if tokens[i].word != "no" or len(behind) < 2 or behind[0].text not in (".", ","):
        return False
    return i == 0 or behind[1].kind in (Kind.NUMBER, Kind.CODE)
