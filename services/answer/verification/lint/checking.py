"""Holds a statement to its quotes: what it counts, denies, demands and names must stand in them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence

from services.answer.verification.lint import wording
from services.answer.verification.lint.conditions import Condition, conditions_of
from services.answer.verification.lint.factors import factors_of, values_in
from services.answer.verification.lint.findings import Finding, LintRule
from services.answer.verification.lint.governing import Governed, governed_in
from services.answer.verification.lint.numerals import trimmed
from services.answer.verification.lint.polarity import Negation
from services.answer.verification.lint.quantities import Amount
from services.answer.verification.lint.reading import Text
from services.answer.verification.lint.relations import exchanged, opposed
from services.answer.verification.lint.tokens import Kind, Token, tokens_of
from services.answer.verification.lint.vocabulary import (
    ASSERTIONS,
    CONDITIONAL,
    CONDITIONS,
    EXCEPTIONS,
    REPORTS,
    REVERSING_PREFIXES,
    Force,
)

SUPPORTED_SHARE = 0.5
"""Share of a statement's content words that must stand in its quotes or in the question."""
_SHORTEST_ROOT = 5
TAKEN_SHARE, MIN_TAKEN = 0.6, 2
"""Share and number of the words of a negation that a statement must have to be about the same."""
MIN_HELD = 3
"""Fewer words than these of what a condition is about may be about something else."""
WITHIN_SHARE = 0.8
"""Share of a statement's words that stand within one clause when the statement is taken from it."""


def lint(statement: str, quotes: Sequence[str], question: str = "") -> tuple[Finding, ...]:
    """What `statement` says beyond its quotes, each finding once, in order of rule; none when it may stand.

    The question may lend names and words, never numbers, links, negations or modals. Linear in all lengths.
    """
    claim, source, asked = Text(), Text(), tokens_of(question)
    claim.add(statement)
    for quote in quotes:
        source.add(quote)
    found = [
        *_quantities(claim, source),
        *_references(claim, source),
        *_swapped(claim, source),
        *_bounds(claim, source),
        *_factors(claim, source),
        *_negations(claim, source),
        *_modals(claim, source),
        *_names(claim, source, asked),
        *_words(claim, source, asked),
        *_conditions(claim, source),
        *_governed(claim, source),
        *_relations(claim, source),
    ]
    return tuple(dict.fromkeys(found))


def _quantities(claim: Text, source: Text) -> Iterator[Finding]:
    holds_amount = _amounts_of(source)
    for amount in claim.amounts:
        # `one` is more often a pronoun than a count.
        if amount.text.casefold() != "one" and not holds_amount(amount):
            yield Finding(amount.rule, amount.text)
    by_parts = {
        (dated.date.year, dated.date.month, dated.date.day, dated.date.spelling) for dated in source.dates
    }
    for dated in claim.dates:
        date = dated.date
        exact = (date.year, date.month, date.day, date.spelling) in by_parts
        if not exact and not any(known.date.holds(date) for known in source.dates):
            yield Finding(LintRule.DATE, dated.text)


def _references(claim: Text, source: Text) -> Iterator[Finding]:
    written = {token.word for token in source.tokens if token.kind in (Kind.NUMBER, Kind.CODE)}
    labels = {label.label for label in source.labels}
    for label in claim.labels:
        if not _holds_label(label.label, labels, written, source.tokens):
            yield Finding(LintRule.CLAUSE_NUMBER, label.text)
    codes = {code.value for code in source.codes} | labels
    for code in claim.codes:
        if code.value not in codes:
            yield Finding(LintRule.NUMBER, code.text)


def _swapped(claim: Text, source: Text) -> Iterator[Finding]:
    """Numbers of the quotes in another's place: `pay within 30 days` where 60 stands behind `pay within`.

    A number that is said more often than in the quotes, while another is said less often, has replaced it.
    """
    known: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for number in source.numbers:
        for context in number.contexts:
            known[context].add(number.value)
    left = Counter(number.value for number in source.numbers if not number.again)
    left.subtract(number.value for number in claim.numbers if not number.again)
    unsaid = any(count > 0 for count in left.values())
    for number in claim.numbers:
        replaced = any(context in known and number.value not in known[context] for context in number.contexts)
        if replaced or (unsaid and left[number.value] < 0 and number.text.casefold() != "one"):
            yield Finding(number.rule, number.text)


def _amounts_of(source: Text) -> Callable[[Amount], bool]:
    """Tells whether the quotes hold an amount."""
    units: dict[str, set[object]] = defaultdict(set)
    bare = set[str]()
    for amount in source.amounts:
        units[amount.value].add(amount.unit)
        if amount.unit is None:
            bare.add(trimmed(amount.value))
    for dated in source.dates:
        if dated.date.year is not None:
            units[str(dated.date.year)].add(None)
    free = {amount.unit for amount in source.free}

    def holds(amount: Amount) -> bool:
        known = units.get(amount.value, set())
        if amount.unit is None:
            return any(unit is None or unit.name != "%" for unit in known)  # type: ignore[attr-defined]
        if any(unit is not None and unit.holds(amount.unit) for unit in known):  # type: ignore[attr-defined]
            return True
        # In a table the header has the unit, and `58.00` below `USD` is USD 58.
        return trimmed(amount.value) in bare and any(unit.holds(amount.unit) for unit in free)

    return holds


def _holds_label(label: str, labels: Collection[str], written: set[str], tokens: Sequence[Token]) -> bool:
    """A plain number is a clause number only where the quotes say so; `4.2` can be nothing else."""
    if label in labels or any(known.startswith(f"{label}(") for known in labels):
        return True
    if not label.isdigit() and not label.isalpha():
        return label in written
    return bool(tokens) and tokens[0].word == label


def _bounds(claim: Text, source: Text) -> Iterator[Finding]:
    bounds = {(bound.relation, bound.of) for bound in source.bounds}
    for bound in claim.bounds:
        if bound.asked and (bound.relation, bound.of) not in bounds:
            yield Finding(LintRule.NUMBER, f"{bound.text} {bound.of}".strip())
    rates = {rate.unit for rate in source.rates}
    for rate in claim.rates:
        if rate.asked and rate.unit not in rates:
            yield Finding(LintRule.NUMBER, rate.text)


def _negations(claim: Text, source: Text) -> Iterator[Finding]:
    left = _Pairing(source.negations)
    unmatched = list(claim.negations)
    for pairs in (left.same_word, left.same_head, left.same_scope):
        unmatched = [negation for negation in unmatched if not pairs(negation)]
    reach = {stem for negation in source.negations for stem in negation.scope}
    listed = {stem for negation in source.negations for stem in negation.listed}
    for negation in unmatched:
        if (
            not negation.soft
            and negation.head not in listed
            and not (negation.word == "nor" and negation.head in reach)
        ):
            yield Finding(LintRule.NEGATION, negation.text)
    yield from _dropped(claim, list(left.unused()))


def _dropped(claim: Text, unused: Sequence[Negation]) -> Iterator[Finding]:
    """Negations of the quotes that the statement leaves out of what it takes from them."""
    stems = {wording.stem_of(token.word) for token in wording.words_of(claim.tokens)}
    stems |= {token.word for token in claim.tokens if token.kind in (Kind.NUMBER, Kind.CODE)}
    denied = {stem for negation in claim.negations for stem in negation.scope}
    conditional = any(token.word in CONDITIONS for token in claim.tokens)
    for i, negation in enumerate(unused):
        pair = {other.word in EXCEPTIONS for other in unused[max(0, i - 1) : i + 2]}
        taken = sum(stem in stems for stem in negation.scope)
        if (
            negation.denial
            and negation.scope
            and taken >= max(min(MIN_TAKEN, len(negation.scope)), TAKEN_SHARE * len(negation.scope))
        ):
            yield Finding(LintRule.NEGATION, negation.text)
        if (
            negation.soft
            or (negation.word == "nor" and negation.head in denied)
            or (conditional and pair == {True, False})
        ):
            continue
        items = sum(stem in stems for stem in negation.listed)
        listed = not denied and items >= max(MIN_TAKEN, TAKEN_SHARE * len(stems))
        if listed or negation.head in stems or taken >= max(MIN_TAKEN, TAKEN_SHARE * len(negation.scope)):
            yield Finding(LintRule.NEGATION, negation.text)


class _Pairing:
    """Pairs negations of a statement with those of its quotes, each with one."""

    def __init__(self, negations: Sequence[Negation]) -> None:
        self._negations = negations
        self._used: set[int] = set()
        self._by_word: dict[object, deque[int]] = defaultdict(deque)
        self._by_head: dict[object, deque[int]] = defaultdict(deque)
        self._by_stem: dict[object, deque[int]] = defaultdict(deque)
        for i, negation in enumerate(negations):
            self._by_word[negation.word, negation.head].append(i)
            self._by_head[negation.head].append(i)
            for stem in dict.fromkeys(negation.scope):
                self._by_stem[stem].append(i)

    def same_word(self, negation: Negation) -> bool:
        """Whether the same word with the same head was free."""
        return self._take(self._by_word[negation.word, negation.head])

    def same_head(self, negation: Negation) -> bool:
        """Whether another word with the same head was free."""
        return self._take(self._by_head[negation.head])

    def same_scope(self, negation: Negation) -> bool:
        """Whether one about some of the same words was free."""
        return any(self._take(self._by_stem[stem]) for stem in negation.scope)

    def unused(self) -> Iterator[Negation]:
        """Those that the statement does not have."""
        return (negation for i, negation in enumerate(self._negations) if i not in self._used)

    def _take(self, waiting: deque[int]) -> bool:
        while waiting:
            i = waiting.popleft()
            if i not in self._used:
                self._used.add(i)
                return True
        return False


def _modals(claim: Text, source: Text) -> Iterator[Finding]:
    """A modal must stand before the same word as in the quotes; other words may have any of theirs."""
    forces = {modal.force for modal in source.modals}
    by_head: dict[str, Counter[Force]] = defaultdict(Counter)
    for modal in sorted(source.modals, key=lambda modal: not modal.asked):
        if modal.asked or modal.head not in by_head:
            by_head[modal.head][modal.force] += 1
    for modal in claim.modals:
        if not modal.asked:
            continue
        own = by_head.get(modal.head)
        if own is None and modal.force in forces:
            continue
        if own is None or own[modal.force] <= 0:
            yield Finding(LintRule.MODAL, modal.text)
        else:
            own[modal.force] -= 1


def _names(claim: Text, source: Text, asked: Sequence[Token]) -> Iterator[Finding]:
    links = {token.word for token in wording.links_of(source.tokens)}
    for link in wording.links_of(claim.tokens):
        if link.word not in links:
            yield Finding(LintRule.NAME, link.text)
    known = _stems(source.tokens) | _stems(asked)
    for name in wording.names_of(claim.tokens):
        if wording.stem_of(name.word) not in known:
            yield Finding(LintRule.NAME, name.text)
    yield from _actors(claim, source, known)


def _actors(claim: Text, source: Text, known: Collection[str]) -> Iterator[Finding]:
    """Who does what somebody else does in the quotes; another deed may be a paraphrase."""
    stated, acting = _stems(source.tokens), wording.acting_in(source.tokens)
    for actor, deed in wording.actors_of(claim.tokens):
        name, does = wording.stem_of(actor.word), wording.stem_of(deed.word)
        others = acting.get(does, set())
        if does in stated and (name not in known or (others and name in stated and name not in others)):
            yield Finding(LintRule.NAME, actor.text)


def _words(claim: Text, source: Text, asked: Sequence[Token]) -> Iterator[Finding]:
    words = list(wording.words_of(claim.tokens))
    stated = _stems(source.tokens)
    known = stated | _stems(asked)
    missing = [token for token in words if wording.stem_of(token.word) not in known]
    if words and all(wording.stem_of(token.word) not in stated for token in words):
        # The question alone bears nothing out.
        yield Finding(LintRule.UNSUPPORTED_WORDS, wording.excerpt(words))
    elif len(words) - len(missing) < SUPPORTED_SHARE * len(words):
        yield Finding(LintRule.UNSUPPORTED_WORDS, wording.excerpt(missing))
    plain = {token.word for token in source.tokens}
    for token in missing:
        if token.word not in plain and any(other in plain for other in _opposites(token.word)):
            yield Finding(LintRule.NEGATION, token.text)


def _conditions(claim: Text, source: Text) -> Iterator[Finding]:
    """Conditions of the quotes that a statement leaves out of what holds only under them."""
    if _tells_other_condition(claim.tokens, source.tokens):
        return
    stems = {wording.stem_of(token.word) for token in wording.words_of(claim.tokens)}
    told = {(condition.mark, condition.own) for condition in conditions_of(claim.tokens)}
    for condition in conditions_of(source.tokens):
        tells = (
            any(stem in stems for stem in condition.own if stem not in condition.main)
            or (condition.mark, condition.own) in told
        )
        if not tells and _is_taken(condition, stems):
            yield Finding(LintRule.CONDITION, condition.text)


def _is_taken(condition: Condition, stems: Collection[str]) -> bool:
    """Whether a statement of these words is taken from what holds only under a condition."""
    taken = sum(stem in stems for stem in condition.held)
    inside = sum(stem in condition.main for stem in stems)
    near = len(condition.held) > 1 and taken >= max(
        min(MIN_HELD, len(condition.held)), TAKEN_SHARE * len(condition.held)
    )
    return near or (inside >= MIN_TAKEN and inside >= WITHIN_SHARE * len(stems))


def _tells_other_condition(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether a statement has a condition in words that the quotes do not have: it may be theirs."""
    known = {(token.word, after.word) for token, after in _followed(source)}
    return any(
        token.word in CONDITIONAL and (token.word, after.word) not in known
        for token, after in _followed(claim)
    )


def _followed(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Each token with the next content word, else the last token."""
    after = tokens[-1] if tokens else None
    for token in reversed(tokens):
        if after is not None:
            yield token, after
        after = token if wording.is_content(token) else after


def _governed(claim: Text, source: Text) -> Iterator[Finding]:
    """Clauses of the quotes that a statement gives as a fact, though they are denied or somebody's word."""
    stems = frozenset(wording.stem_of(token.word) for token in wording.words_of(claim.tokens))
    denied = {stem for negation in claim.negations for stem in negation.scope}
    asserted = any(token.word in ASSERTIONS or token.word in REPORTS for token in claim.tokens)
    for governed in governed_in(source.tokens):
        said = governed.by in stems or (
            not denied.isdisjoint(governed.stems) if governed.denied else asserted
        )
        if not said and _gives(stems, governed):
            yield Finding(LintRule.DENIED, governed.text)


def _gives(stems: frozenset[str], governed: Governed) -> bool:
    shared = len(stems & governed.stems)
    return shared >= MIN_TAKEN and shared >= WITHIN_SHARE * min(len(stems), len(governed.stems))


def _factors(claim: Text, source: Text) -> Iterator[Finding]:
    """Factors that the quotes do not have, or that are left out of what is taken from them."""
    stated, said = list(factors_of(source.tokens)), list(factors_of(claim.tokens))
    values = Counter(factor.value for factor in stated)
    for factor in said:
        if values[factor.value] <= 0:
            yield Finding(LintRule.NUMBER, factor.text)
    plain = Counter(values_in(source.tokens))
    plain.subtract(factor.of for factor in stated)
    named = set(values_in(claim.tokens))
    for factor in stated:
        # What stands without its factor elsewhere may be meant without it.
        if factor.of in named and plain[factor.of] <= 0 and factor.value not in {own.value for own in said}:
            yield Finding(LintRule.NUMBER, factor.text)


def _relations(claim: Text, source: Text) -> Iterator[Finding]:
    for text in (*exchanged(claim.tokens, source.tokens), *opposed(claim.tokens, source.tokens)):
        yield Finding(LintRule.RELATION, text)


def _opposites(word: str) -> Iterator[str]:
    """The word with a prefix that turns it round, or without: `limited` and `unlimited`."""
    for prefix in REVERSING_PREFIXES:
        if len(word) >= _SHORTEST_ROOT:
            yield f"{prefix}{word}"
        if word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST_ROOT:
            yield word.removeprefix(prefix)


def _stems(tokens: Sequence[Token]) -> set[str]:
    return {wording.stem_of(token.word) for token in tokens if token.kind is Kind.WORD}
