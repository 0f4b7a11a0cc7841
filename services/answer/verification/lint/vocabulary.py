"""Word lists of the lint, all case folded."""

from __future__ import annotations

from enum import StrEnum


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _numbered(words: str, first: int = 0) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split(), start=first)}


FUNCTION_WORDS = frozenset(
    _listed("""
    a about above accordance according after again against all also although am an and another any are as at
    be because been before being below between both but by can case circumstance circumstances could did do
    does done doing down during each either else event every few for from further had has have having he her
    here hereby herein hereof hereto hereunder hers him his how however i if in including into is it its
    itself just least less like many may me more most much must my need no nor not of off on once only or
    other others ought our ours out over own per same shall she should so some such than that the their
    theirs them then there thereby therein thereof thereto these they this those through thus to too toward
    under until up upon us use very was way we well were what whatever when where whereas whether which while
    who whom whose why will with within without would you your yours
""")
)
"""Words that say nothing by themselves."""

SMALL_NUMBERS = _numbered("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
""")
TENS = {
    word: 10 * value
    for word, value in _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 2).items()
}
HUNDRED = "hundred"
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {
    "thirtieth": 30,
    **_numbered(
        """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
""",
        1,
    ),
}
NUMBER_WORDS = frozenset((*SMALL_NUMBERS, *TENS, HUNDRED, *SCALES, *ORDINALS))

MONTHS = _numbered(
    """
    january february march april may june july august september october november december
""",
    1,
)
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}

CLAUSES = frozenset(
    _listed("""
    section sections sec clause clauses article articles art schedule schedules exhibit exhibits appendix
    appendices annex annexes paragraph paragraphs para rule rules part chapter attachment addendum §
""")
)
"""Words before the number of a clause."""

TIMES = {
    word: unit
    for unit in _listed("minute hour day week month quarter year")
    for word in (unit, f"{unit}s", f"{unit}'s")
} | {"seconds": "second"}
TIME_QUALIFIERS = frozenset(_listed("business trading working banking calendar"))
"""Make another unit of a day."""
TIME_ADJECTIVES = frozenset(_listed("consecutive full successive additional more prior continuous"))

CURRENCIES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_listed("$ dollar dollars"), ("$", "")),
    **dict.fromkeys(_listed("us$ u.s.$ usd"), ("$", "USD")),
    **dict.fromkeys(_listed("c$ ca$ cad"), ("$", "CAD")),
    **dict.fromkeys(_listed("a$ au$ aud"), ("$", "AUD")),
    **dict.fromkeys(_listed("nz$ nzd"), ("$", "NZD")),
    **dict.fromkeys(_listed("hk$ hkd"), ("$", "HKD")),
    **dict.fromkeys(_listed("s$ sgd"), ("$", "SGD")),
    **dict.fromkeys(_listed("€ eur euro euros"), ("€", "EUR")),
    **dict.fromkeys(_listed("£ pounds"), ("£", "")),
    **dict.fromkeys(_listed("¥ yen"), ("¥", "")),
    **dict.fromkeys(_listed("₹ inr"), ("₹", "INR")),
    "gbp": ("£", "GBP"),
    "jpy": ("¥", "JPY"),
    "cny": ("¥", "CNY"),
    "chf": ("CHF", "CHF"),
    "₩": ("₩", "KRW"),
    "₽": ("₽", "RUB"),
    **dict.fromkeys(_listed("¢ cents"), ("¢", "")),
    "pence": ("pence", ""),
}
"""Sign or word to the sign it shares and the currency that it certainly means."""

NEGATIONS = frozenset(
    _listed("""
    not cannot no none nobody nothing nowhere never neither nor without except excepting excluding unless non
""")
)
SOFT_NEGATIONS = frozenset(
    _listed("""
    prohibit prohibits prohibited prohibiting prohibition forbid forbids forbidden otherwise other
""")
)
"""Deny as well, in other words; they may stand for a negation, but their absence is no finding."""
DENIALS = frozenset(
    _listed("""
    deny denies denied denying denial disclaim disclaims disclaimed disclaiming disclaimer dispute disputes
    disputed disputing reject rejects rejected rejecting rejection refuse refuses refused refusing refusal
    contest contests contested contesting repudiate repudiates repudiated disavow disavows disavowed decline
    declines declined declining doubt doubts doubted fail fails failed failing failure refrain refrains
    refrained lack lacks lacked absence prevent prevents prevented unable exempt exempts exempted waive waives
    waived waiving
""")
)
"""Deny in other words as well; without them what they are about would be a fact."""
ASSERTIONS = frozenset(
    _listed("""
    allege alleges alleged alleging allegation allegedly assert asserts asserted asserting assertion contend
    contends contended contention claims claimed claiming believe believes believed belief argue argues argued
    suggest suggests suggested assume assumes assumed assumption suspect suspects suspected purports expect
    expects expected estimate estimates estimated
""")
)
"""What follows behind their `that` somebody says; whether it is so stays open."""
REPORTS = frozenset(_listed("says said states stated according"))
"""A statement with one of them gives somebody's word as that."""
DENIED_SUBJECTS = frozenset(_listed("no neither nor none nobody nothing never"))
"""Deny a verb from before it: `no person may`."""


class Force(StrEnum):
    """What a modal says."""

    DUTY = "duty"
    PERMISSION = "permission"
    ADVICE = "advice"
    BAN = "ban"
    EXEMPTION = "exemption"


MODALS = {
    **dict.fromkeys(_listed("must shall required obliged obligated mandatory"), Force.DUTY),
    **dict.fromkeys(
        _listed("may can cannot can't permitted allowed entitled authorised authorized optional"),
        Force.PERMISSION,
    ),
    **dict.fromkeys(_listed("should recommended advised encouraged ought"), Force.ADVICE),
    **dict.fromkeys(_listed("prohibited forbidden"), Force.BAN),
}
"""What a statement must have from its quotes."""
SUPPORTING_MODALS = {
    **dict.fromkeys(
        _listed("""
    will requires require requirement obligation obligations obliges agrees agree undertakes undertake
    covenants covenant responsible responsibility payable due duty necessary need needs liable subject
"""),
        Force.DUTY,
    ),
    **dict.fromkeys(
        _listed("""
    right rights option discretion able licence license licenses grants grant granted free eligible permits
    allows permission entitles authorises authorizes could might
"""),
        Force.PERMISSION,
    ),
    **dict.fromkeys(_listed("recommends advises encourages advisable"), Force.ADVICE),
    **dict.fromkeys(_listed("prohibits prohibition forbids"), Force.BAN),
}
"""Words of a quote that carry a duty or permission; by themselves they ask for none."""
AUXILIARIES = frozenset(_listed("must shall may can cannot can't will should could might"))
EXEMPTED = frozenset(
    _listed("required obliged obligated mandatory obligation obligations requirement duty need liable")
)
"""Denied, they say that there is no duty."""
LEADING_TO = frozenset((*MODALS, *EXEMPTED, *_listed("right rights option authority permission able free")))
"""Behind `shall be` and `shall have` they say what `shall` does not."""
EXCEPTIONS = frozenset(_listed("without except excepting excluding unless"))
CONDITIONS = frozenset(_listed("require requires required requirement only need needs subject"))
"""Say in one what a ban and its exception say in two: `not without consent`, `only with consent`."""
CONDITION_MARKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        _listed(
            "if unless provided only solely until except excepting excluding when whenever where once upon"
        ),
        (),
    ),
    "case": ("of", "that"),
    "subject": ("to",),
    "long": ("as",),
    "extent": (),
    "event": ("that", "of"),
    "condition": ("that",),
    **dict.fromkeys(_listed("conditional conditioned contingent"), ("on", "upon")),
    "save": ("for", "that", "as", "where", "to", "in"),
    "other": ("than",),
}
"""Words that say what holds only sometimes, to the words of which one must follow; none: any."""
CONSENTS = frozenset(_listed("consent approval permission authorisation authorization agreement"))
"""`With the prior consent of` is a condition as well."""
CONDITIONAL = frozenset(
    _listed("""
    if unless provided providing only solely until subject extent except when whenever where while once upon
    after before without depends depending conditional condition requires require required needs need
""")
)
"""A statement with one of them says that there is a condition."""
GENERIC = frozenset(
    _listed("party parties agreement contract section article clause schedule provision person persons")
)
"""Stand in most sentences of a contract, so that no negation or modal is known by them."""
REVERSING_PREFIXES = _listed("un in im ir il dis")
_OPPOSITES = """
    gross/net minimum/maximum minimal/maximal direct/indirect express/implied written/oral fixed/variable
    earlier/later first/last prior/subsequent arrears/advance previous/next former/latter
    higher/lower highest/lowest
    oldest/newest increase/decrease increases/decreases increased/decreased
    rise/fall rises/falls inclusive/exclusive include/exclude
    includes/excludes included/excluded including/excluding internal/external public/private
    buyer/seller buy/sell licensor/licensee lessor/lessee lender/borrower assignor/assignee
    employer/employee landlord/tenant disclosing/receiving begin/end begins/ends start/end starts/ends
    commence/expire commences/expires commencement/expiration renew/terminate renews/terminates
    renewal/termination accept/reject accepts/rejects permanent/temporary perpetual/temporary joint/several
    jointly/severally wholly/partly fully/partially always/never majority/minority senior/junior
    active/passive before/after above/below over/under assets/liabilities credit/debit credits/debits
    owe/receive owes/receives oral/written primary/secondary simple/compound
"""
OPPOSITES: dict[str, frozenset[str]] = {}
"""Words to those that say the opposite."""
for _pair in _listed(_OPPOSITES):
    _word, _other = _pair.split("/")
    OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | {_other}
    OPPOSITES[_other] = OPPOSITES.get(_other, frozenset()) | {_word}
RELATIONS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_listed("before until till preceding"), ("time", "before")),
    **dict.fromkeys(_listed("after following upon"), ("time", "after")),
    **dict.fromkeys(_listed("within during throughout"), ("time", "within")),
    "from": ("way", "from"),
    "to": ("way", "to"),
    "by": ("way", "by"),
    **dict.fromkeys(_listed("all every each"), ("share", "all")),
    **dict.fromkeys(_listed("some certain several few"), ("share", "some")),
    **dict.fromkeys(_listed("over above"), ("level", "above")),
    **dict.fromkeys(_listed("under below"), ("level", "below")),
}
"""Words that say how things stand to each other: a group, and what the word says within it."""
FACTORS = {
    **dict.fromkeys(_listed("half halves halve halved halving"), "1/2"),
    **dict.fromkeys(_listed("twice double doubles doubled doubling"), "2"),
    **dict.fromkeys(_listed("thrice triple triples tripled tripling treble trebled threefold"), "3"),
    **dict.fromkeys(_listed("quadruple quadruples quadrupled fourfold"), "4"),
    "twofold": "2",
    "tenfold": "10",
}
"""Words that multiply or divide what they stand before."""
PARTS = {
    **dict.fromkeys(_listed("third thirds"), 3),
    **dict.fromkeys(_listed("quarter quarters fourth fourths"), 4),
    **dict.fromkeys(_listed("fifth fifths"), 5),
    **dict.fromkeys(_listed("eighth eighths"), 8),
    **dict.fromkeys(_listed("tenth tenths"), 10),
}
"""Parts of a fraction: `two thirds`, `a quarter of`."""
