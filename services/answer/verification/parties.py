"""Who a claim and its clause are about: parties and roles, by the words for them and by where they act."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from services.answer.verification.lint.findings import Finding, LintRule
from services.answer.verification.lint.tokens import Token, tokens_of
from services.answer.verification.lint.vocabulary import AUXILIARIES
from services.answer.verification.lint.wording import is_content

_ROLE_WORDS = """
    licensor licensee sublicensee vendor customer client distributor redistributor subscriber supplier
    provider recipient discloser auditor user firm broker dealer exchange operator publisher company
    contractor subcontractor buyer seller purchaser landlord tenant lessor lessee lender borrower
    employer employee agent principal guarantor franchisor franchisee manufacturer receiver consultant
    affiliate regulator subsidiary owner holder member bank insurer insured reseller administrator
    executive shareholder investor advertiser
    """
_ROLES = frozenset(_ROLE_WORDS.split())
_BEFORE_OBJECTS = frozenset(
    ("to", "of", "with", "from", "for", "by", "against", "on", "upon", "between", "than")
)
_ARTICLES = frozenset(("the", "a", "an", "each", "every", "any", "such", "no", "its", "their", "another"))
_WHO = re.compile(r"(?:who|responsib\w*|by|party|parties|owner|actor|action)\b")
"""How the header of a column begins that says who does what the row is about."""
_VERBS = frozenset(("that", "who", "is", "are", "has", "have", "does", "do", "need", "needs", "ought"))
_CONVERSE_WORDS = """
    has have had get gets receive receives enjoy enjoys own owns bill bills charge charges invoice invoices
    cost costs
    """
_CONVERSE = frozenset(_CONVERSE_WORDS.split())
"""Verbs of the other side: who pays is charged, who is granted something has it."""
_BEING = frozenset(("be", "been", "is", "are", "was", "were"))
_VERB_REACH = 4
"""Tokens between a party and `be` of a passive: `the Licensee has not to be told`."""
_FINITE = re.compile(r"[a-z]+[^s]s")
_DONE = re.compile(r"[a-z]+(?:ed|en|wn|id|lt|pt|de|ld|nt)")
_BY = "by"


def is_party(word: str) -> bool:
    """Whether a word, case folded, is a role such as `licensee`."""
    return _name_of(word) in _ROLES


def other_subjects(
    claim: Sequence[Token], clause: Sequence[Token], names: Collection[str]
) -> Iterator[Finding]:
    """The parties that a claim has act and its clause does not; `names` are further parties."""
    acting = set(_acting(clause, names))
    for i in _subjects(claim, names):
        party = _name_of(claim[i].word)
        bound = claim[i + 1].word in AUXILIARIES
        if party not in acting and (acting or bound) and not _is_done_to(claim, i):
            yield Finding(LintRule.NAME, claim[i].text)


def other_party_of_row(claim: Sequence[Token], row: str, names: Collection[str]) -> tuple[str, str] | None:
    """The party that a claim has act, and who does by the row of a table: `Responsible Licensee`.

    `row` is what a row says, each cell behind its header.
    """
    responsible = [cell for cell in map(tokens_of, row.split("; ")) if cell and _WHO.match(cell[0].word)]
    doing = {
        _name_of(token.word): token.text for cell in responsible for token in cell if _party(token, names)
    }
    acting = [claim[i] for i in _subjects(claim, names)]
    if not doing or any(_name_of(token.word) in doing for token in acting):
        return None
    if acting:
        return acting[0].text, ", ".join(doing.values())
    named = [token for token in claim if _party(token, names)]
    others = named and all(_name_of(token.word) not in doing for token in named)
    return (named[0].text, ", ".join(doing.values())) if others else None


def _name_of(word: str) -> str:
    """A word without the endings of its plural and genitive; stems would make `custom` of a `customer`."""
    return word.removesuffix("'").removesuffix("'s").removesuffix("s")


def _party(token: Token, names: Collection[str]) -> bool:
    return is_content(token) and (is_party(token.word) or _name_of(token.word) in names)


def _subjects(tokens: Sequence[Token], names: Collection[str]) -> Iterator[int]:
    """Where parties stand right before a verb."""
    for i, token in enumerate(tokens[:-1]):
        behind = tokens[i + 1]
        acts = behind.word in AUXILIARIES or behind.word in _VERBS or _FINITE.fullmatch(behind.word)
        if acts and _party(token, names) and not _is_object(tokens, i) and not _possesses(token):
            yield i


def _acting(tokens: Sequence[Token], names: Collection[str]) -> Iterator[str]:
    """All parties that may act: those that are no objects, and those behind `by`."""
    for i, token in enumerate(tokens):
        if _party(token, names) and (not _is_object(tokens, i) or _preposition(tokens, i) == _BY):
            yield _name_of(token.word)


def _is_object(tokens: Sequence[Token], i: int) -> bool:
    return _preposition(tokens, i) in _BEFORE_OBJECTS


def _preposition(tokens: Sequence[Token], i: int) -> str:
    """The word before a party and its article."""
    before = [token.word for token in tokens[max(0, i - 2) : i]]
    while before and before[-1] in _ARTICLES:
        before.pop()
    return before[-1] if before else ""


def _possesses(token: Token) -> bool:
    return token.word.endswith(("'s", "s'"))


def _is_done_to(tokens: Sequence[Token], i: int) -> bool:
    """Whether something is done to the party at token `i`, or it only has something."""
    behind = tokens[i + 1 : i + 1 + _VERB_REACH]
    passive = any(
        token.word in _BEING and _DONE.fullmatch(after.word)
        for token, after in zip(behind, tokens[i + 2 :], strict=False)
    )
    return passive or behind[0].word in _CONVERSE
