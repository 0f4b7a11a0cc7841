"""Finds what a clause says in the place of what the lint misses: `90 days` where a claim says `60 days`.

A finding of the lint alone says that words are missing; beside a clause that speaks of the same thing it is a
contradiction where the clause has something else there. Some findings are none once both sides are known: two
years are 24 months, and `on 30 days' notice` is a duty to give it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property

from services.answer.verification.lint import Finding, LintRule
from services.answer.verification.lint.conditions import conditions_of
from services.answer.verification.lint.polarity import Negation
from services.answer.verification.lint.quantities import Amount
from services.answer.verification.lint.reading import Text
from services.answer.verification.lint.relations import relations_of
from services.answer.verification.lint.tokens import Token
from services.answer.verification.lint.vocabulary import DENIALS, EXCEPTIONS, OPPOSITES, TIMES, Force
from services.answer.verification.lint.wording import acting_in, actors_of, stem_of, words_of

SAME = None
"""Stands for a finding that is none."""
_COUNTED = {"year": ("month", 12), "quarter": ("month", 3), "week": ("day", 7)}
"""Units of time to the unit and number that they are of."""
_TAKEN_SHARE = 0.6
"""Share of the words behind an exception that a claim must have to be about the exception itself."""
_ACTOR_REACH = 12
"""The lint looks so many tokens back for who does something."""
_IMPLIED = frozenset(
    ("late", "without", "missing", "unpaid", "absent", "free", "overdue", "unless", "only", "no")
)
"""May deny what a clause denies in other words, so that a denial which seems left out need not be."""
_ON_NOTICE = re.compile(r"\b(?:on|by|upon|giving|without)\b[^.;]{0,60}\bnotice\b")
_SUBORDINATING = frozenset(
    ["even", "if", "when", "where", "unless", "although", "while", "who", "which", "that"]
)
_SUBORDINATE_REACH = 5
"""Words between such a word and a negation."""
_GIVE, _NOTICE = stem_of("give"), stem_of("notice")
_ENDS = frozenset(".!?;")


@dataclass(frozen=True)
class Sides:
    """A claim, in the words of its clause where it has others for the same, and the clause."""

    claim: Text
    clause: Text
    around: Sequence[Token]
    """What stands around the clause: headings, and the text above a table."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the claim's content words."""
        return frozenset(stem_of(token.word) for token in words_of(self.claim.tokens))

    @cached_property
    def stated(self) -> frozenset[str]:
        """Stems of all words of the clause."""
        return frozenset(stem_of(token.word) for token in self.clause.tokens)

    @cached_property
    def times(self) -> frozenset[str]:
        """Units of time that stand around the clause."""
        return frozenset(TIMES[token.word] for token in self.around if token.word in TIMES)


def said_instead(finding: Finding, sides: Sides) -> str | None:
    """What the clause says in the place of a finding; empty where nothing, `SAME` where it says the same."""
    return _READ[finding.rule](finding, sides) if finding.rule in _READ else ""


def base(amount: Amount) -> tuple[object, str]:
    """A number and its unit, times in months or days: two years are 24 months."""
    name, times = _COUNTED.get(amount.unit.name, (amount.unit.name, 1)) if amount.unit else ("", 1)
    try:
        return Decimal(amount.value) * times, name
    except InvalidOperation:
        return amount.value, name


def _quantity(finding: Finding, sides: Sides) -> str | None:
    claim, clause = sides.claim, sides.clause
    if any(rate.text == finding.text and rate.unit in sides.times for rate in claim.rates):
        return SAME
    known = {base(amount) for amount in clause.amounts}
    if any(amount.text == finding.text and base(amount) in known for amount in claim.amounts):
        return SAME
    if any(base(amount) in known for amount in _bounded(finding, sides)):
        return SAME
    return _other_amount(finding, sides) or _other_bound(finding, sides)


def _bounded(finding: Finding, sides: Sides) -> Iterator[Amount]:
    """Amounts of a claim that a bound of it is of, where the clause has such a bound as well: `at least`."""
    relations = {bound.relation for bound in sides.clause.bounds}
    for bound in sides.claim.bounds:
        if f"{bound.text} {bound.of}".strip() == finding.text and bound.relation in relations:
            yield from (amount for amount in sides.claim.amounts if amount.value == bound.of)


def _other_amount(finding: Finding, sides: Sides) -> str:
    """An amount of the clause in the same unit that the claim does not have."""
    own = {base(amount) for amount in sides.claim.amounts}
    units = {base(amount)[1] for amount in sides.claim.amounts if amount.text in finding.text}
    others = (amount for amount in sides.clause.amounts if base(amount) not in own)
    return next((amount.text for amount in others if base(amount)[1] in units), "")


def _other_bound(finding: Finding, sides: Sides) -> str:
    """Another bound of the same number: `at most 30` for `at least 30`."""
    numbers = {bound.of for bound in sides.claim.bounds if f"{bound.text} {bound.of}".strip() == finding.text}
    return next((f"{bound.text} {bound.of}" for bound in sides.clause.bounds if bound.of in numbers), "")


def _date(finding: Finding, sides: Sides) -> str:
    known = {dated.date for dated in sides.claim.dates}
    return next((dated.text for dated in sides.clause.dates if dated.date not in known), "")


def _negation(finding: Finding, sides: Sides) -> str | None:
    own = next((negation for negation in sides.claim.negations if negation.text == finding.text), None)
    word = finding.text.split()[0].casefold()
    if word == "non" and any(token.word == "non" for token in sides.around):
        return SAME
    if own:
        denies_fact = own.head in sides.stated and word not in EXCEPTIONS and not _is_subordinate(own, sides)
        return finding.text if denies_fact else ""
    left_out = next((negation for negation in sides.clause.negations if negation.text == finding.text), None)
    if word in EXCEPTIONS:
        return SAME if left_out and _is_taken(left_out, sides) else ""
    denied = any(token.word in _IMPLIED or token.word in DENIALS for token in sides.claim.tokens)
    # `Does not accept as` beside `do not create`: both deny, and people must see whether the same.
    return "" if denied or _denies_otherwise(sides) else finding.text


def _denies_otherwise(sides: Sides) -> bool:
    """Whether a claim denies something by another word than its clause does."""
    heads = {negation.head for negation in sides.clause.negations}
    return any(not negation.soft and negation.head not in heads for negation in sides.claim.negations)


def _is_subordinate(negation: Negation, sides: Sides) -> bool:
    """Whether a claim denies something in a clause of its own: `even when there was no use`."""
    words = " ".join(token.word for token in sides.claim.tokens)
    before = words.partition(negation.text.casefold())[0].split()[-_SUBORDINATE_REACH:]
    return not _SUBORDINATING.isdisjoint(before)


def _is_taken(negation: Negation, sides: Sides) -> bool:
    """Whether a claim is about the very exception: `except that Tarnholm may assign it`."""
    return sum(stem in sides.stems for stem in negation.scope) >= _TAKEN_SHARE * len(negation.scope)


def _modal(finding: Finding, sides: Sides) -> str | None:
    modal = next(modal for modal in sides.claim.modals if modal.text == finding.text)
    beside = [other for other in sides.clause.modals if other.head == modal.head]
    forces = {other.force for other in sides.clause.modals}
    if modal.force in forces and all(other.force is Force.ADVICE for other in beside):
        return SAME
    told = " ".join(token.word for token in sides.clause.tokens)
    notice = modal.head == _NOTICE or (modal.head == _GIVE and _NOTICE in modal.scope)
    if modal.force is Force.DUTY and notice and _ON_NOTICE.search(told):
        return SAME
    # What a clause makes a condition is a must: `is credited if the customer claims it in writing`.
    if modal.force is Force.DUTY and any(
        modal.head in condition.own for condition in conditions_of(sides.clause.tokens)
    ):
        return SAME
    return next((other.text for other in beside if other.force is not modal.force), "")


def _relation(finding: Finding, sides: Sides) -> str:
    opposites = OPPOSITES.get(finding.text.casefold(), frozenset())
    opposite = next((token.text for token in sides.clause.tokens if token.word in opposites), "")
    return opposite or next(
        (
            relation.text
            for relation in relations_of(sides.clause.tokens)
            if relation.behind in sides.stems
            and relation.text != finding.text
            and relation.of in _stems(finding)
        ),
        "",
    )


def _stems(finding: Finding) -> frozenset[str]:
    return frozenset(stem_of(word.casefold()) for word in re.findall(r"\w+", finding.text))


def _name(finding: Finding, sides: Sides) -> str | None:
    """Who does in the clause what the claim has somebody else do."""
    acting = acting_in(sides.clause.tokens)
    for actor, deed in actors_of(sides.claim.tokens):
        does, name = stem_of(deed.word), stem_of(actor.word)
        if actor.text == finding.text and name in sides.stated and does in acting:
            return SAME if _far_before(sides.clause.tokens, name, does) else _words(acting[does], sides)
    return ""


def _words(stems: set[str], sides: Sides) -> str:
    """Words of the clause with these stems, as it writes them."""
    return ", ".join(
        dict.fromkeys(token.text for token in sides.clause.tokens if stem_of(token.word) in stems)
    )


def _far_before(tokens: Sequence[Token], actor: str, deed: str) -> bool:
    """Whether an actor stands in the sentence of a deed, further before it than the lint looks."""
    sentence = list[str]()
    for token in tokens:
        sentence = [] if token.text in _ENDS else [*sentence, stem_of(token.word)]
        if sentence[-1:] == [deed] and actor in sentence[: -_ACTOR_REACH - 1]:
            return True
    return False


_READ: dict[LintRule, Callable[[Finding, Sides], str | None]] = {
    LintRule.NUMBER: _quantity,
    LintRule.CURRENCY: _quantity,
    LintRule.PERCENTAGE: _quantity,
    LintRule.DATE: _date,
    LintRule.NEGATION: _negation,
    LintRule.MODAL: _modal,
    LintRule.RELATION: _relation,
    LintRule.NAME: _name,
}
